"""Calibration: whether predictions with a confidence of 80 % are right 80 times in a hundred."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.holdout import clopper_pearson, clopper_pearson_lower
from pacboost.models.calibration.calibrators import calibration_error
from pacboost.numerics.percent import percent
from pacboost.numerics.same_bits import mean, total
from pacboost.reports.page.charts import (
    Frame,
    Markup,
    Section,
    figure,
    key,
    numbers,
    paragraphs,
    table,
    tag,
)
from pacboost.reports.page.subject import TRAINED, Evidence, Numbers

PARTS = 10
DELTA = 0.05

Part = tuple[float, int, int]
"""The mean confidence of some predictions, how many of them were right, and their number."""


def calibration(rows: Evidence) -> Section | None:
    """Draw how often predictions are right against their confidence."""
    if rows.probabilities.shape[1] < 2:
        return None
    sure, right = _pairs(rows)
    parts = equal_parts(sure, right)
    if len(parts) < 2:
        return None
    what = "Labels" if rows.several else "Predictions"
    sentences = [f"{what} are divided into {len(parts)} groups by their confidence. On the "
                 "diagonal, the share of correct ones equals the confidence."]  # fmt: skip
    if not rows.several:
        off = calibration_error(rows.probabilities, rows.own)
        sentences.append(f"The calibration error is {percent(off)}.")
    gap = sum(own * mean - hits for mean, hits, own in parts) / sum(p[2] for p in parts)
    if abs(gap) > 0.01 and not rows.several:
        way = "overconfident" if gap > 0 else "underconfident"
        sentences.append(f"Overall the model is {way}.")
    if rows.seen:
        sentences.append(TRAINED)
    return Section("calibration", "Can its confidence be trusted?", paragraphs(*sentences),
                   _figure(parts, rows.several))  # fmt: skip


def _pairs(rows: Evidence) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    if rows.several:
        return rows.probabilities.ravel(), rows.own.ravel() > 0
    named = rows.probabilities.argmax(axis=1)
    return rows.probabilities.max(axis=1), named == rows.own


def equal_parts(sure: NDArray[np.float64], right: NDArray[np.bool_]) -> list[Part]:
    """Cut rows, sorted by confidence, into parts of about equal size; equal ones stay together.

    >>> equal_parts(np.array([0.9, 0.6, 0.9, 0.6]), np.array([True, False, True, True]))
    [(0.6, 1, 2), (0.9, 2, 2)]
    """
    order = np.lexsort((right, sure))
    sure, right = sure[order], right[order]
    wanted = np.unique(np.linspace(0, sure.size, PARTS + 1).astype(np.intp))
    ends = np.unique(np.searchsorted(sure, sure[np.maximum(wanted[1:] - 1, 0)], side="right"))
    starts = np.concatenate([[0], ends[:-1]])
    return [
        (mean(sure[a:b]), int(right[a:b].sum()), int(b - a))
        for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
    ]


def _figure(parts: list[Part], several: bool) -> Markup:
    low = 0.0 if several or parts[0][0] < 0.4 else 0.5
    low = min(low, np.floor(10 * min(hits / own for _, hits, own in parts)) / 10)
    first, last = parts[0], parts[-1]
    text = (
        f"at a confidence of {percent(first[0])}, {percent(first[1] / first[2])} are right; at "
        f"{percent(last[0])}, {percent(last[1] / last[2])} are right"
    )

    def draw(width: int) -> Markup:
        frame = Frame.of(width, 320 if width > 500 else 280, (low, 1), (low, 1), left=54, right=14)
        marks = [frame.line([low, 1], [low, 1], "diagonal")]
        for centre, hits, own in parts:
            x = float(frame.x.at(centre))
            top, bottom = frame.y.at([clopper_pearson(hits, own, DELTA / 2),
                                      clopper_pearson_lower(hits, own, DELTA / 2)])  # fmt: skip
            marks.append(tag("line", x1=x, x2=x, y1=float(top), y2=float(bottom), class_="spread"))
            marks.append(tag("circle", cx=x, cy=float(frame.y.at(hits / own)), r=5, class_="one"))
        line = frame.line([p[0] for p in parts], [p[1] / p[2] for p in parts], "curve one")
        return frame.svg("Confidence and accuracy", text,
                         frame.axes("confidence", x_shares=True), line, marks)  # fmt: skip

    said = [(percent(mean), percent(hits / own), f"{own:,}") for mean, hits, own in parts]
    names = ["mean confidence", "right", "labels" if several else "rows"]
    return figure(
        draw,
        numbers("The numbers", table(names, said, caption="Groups by confidence", words=())),
        key=key([("one", "measured, with 95 % intervals"), ("bound", "perfect calibration")]),
    )


# Predicted against true numbers, for regressors.

MOST_POINTS = 500
"""If there are more rows, this many are drawn, evenly spaced in the order of true values."""


def predicted(rows: Numbers) -> Section:
    """Draw predicted against true numbers."""
    order = np.argsort(rows.own, kind="stable")
    kept = order[np.unique(np.linspace(0, order.size - 1, MOST_POINTS).round().astype(np.intp))]
    both = np.concatenate([rows.own, rows.said])
    low, high = float(both.min()), float(both.max())
    room = 0.03 * (high - low) or 1.0
    off = rows.said - rows.own
    spread = total((rows.own - mean(rows.own)) ** 2)
    explained = 1 - total(off**2) / spread if spread else 0.0

    def draw(width: int) -> Markup:
        ends = (low - room, high + room)
        frame = Frame.of(width, 340 if width > 500 else 290, ends, ends, left=54, right=14)
        xs, ys = frame.x.at(rows.own[kept]), frame.y.at(rows.said[kept])
        points = (
            tag("circle", cx=float(a), cy=float(b), r=3, class_="point")
            for a, b in zip(xs, ys, strict=True)
        )
        text = f"{kept.size} rows; predictions on the diagonal are exact"
        return frame.svg("Predicted against true", text, frame.axes("true", shares=False),
                         frame.line(ends, ends, "diagonal"), points)  # fmt: skip

    said = [
        ("mean absolute error", f"{mean(np.abs(off)):.4g}"),
        ("median absolute error", f"{np.median(np.abs(off)):.4g}"),
        ("root mean squared error", f"{math.sqrt(mean(off**2)):.4g}"),
        ("explained (R²)", percent(explained) if explained > 0 else f"{explained:.3g}"),
    ]
    made = figure(draw, numbers("The numbers", table(["measure", "value"], said, caption="Errors")))
    lead = paragraphs(f"{rows.rows:,} rows; the closer to the diagonal, the better.",
                      f"R² is {said[3][1]}.", TRAINED if rows.seen else None)  # fmt: skip
    return Section("predicted", "Predicted and true", lead, made)
