"""Calibration of classifiers, predictions of regressors, and the distribution of margins."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.holdout import clopper_pearson, clopper_pearson_lower
from pacboost.models.calibration import calibration_error
from pacboost.numerics.exact import wrong_margins
from pacboost.numerics.percent import percent
from pacboost.numerics.same_bits import mean, total
from pacboost.reports.page import charts
from pacboost.reports.page.charts import Markup, Section, tag, together
from pacboost.reports.page.subject import TRAINED, Evidence, Numbers, Rows, Subject

Doubles = NDArray[np.float64]
MAX_PARTS = 10
DELTA = 0.05

Part = tuple[float, int, int]
"""The mean confidence of some predictions, the number of right ones, and their number."""


def calibration(subject: Subject, rows: Rows) -> Section | None:
    """Draw the share of right predictions against their confidence."""
    if not isinstance(rows, Evidence) or rows.probabilities.shape[1] < 2:
        return None
    sure, right = rows.probabilities.ravel(), rows.labels.ravel() > 0
    if not rows.several:
        sure = rows.probabilities.max(axis=1)
        right = rows.probabilities.argmax(axis=1) == rows.labels
    parts = equal_parts(sure, right)
    if len(parts) < 2:
        return None
    what = "Labels" if rows.several else "Predictions"
    sentences = [f"{what} are divided into {len(parts)} groups by their confidence. On the "
                 "diagonal, the share of correct ones equals the confidence."]  # fmt: skip
    if not rows.several:
        off = calibration_error(rows.probabilities, rows.labels)
        sentences.append(f"The calibration error is {percent(off)}.")
    gap = sum(count * mean - hits for mean, hits, count in parts) / sum(p[2] for p in parts)
    if abs(gap) > 0.01 and not rows.several:
        way = "overconfident" if gap > 0 else "underconfident"
        sentences.append(f"Overall the model is {way}.")
    if rows.has_training_rows:
        sentences.append(TRAINED)
    return Section("calibration", "Can its confidence be trusted?", sentences,
                   _figure(parts, rows.several))  # fmt: skip


def equal_parts(sure: NDArray[np.float64], right: NDArray[np.bool_]) -> list[Part]:
    """Divide rows by confidence into parts of about equal size; equal values stay together."""
    # among equal confidences wrong rows come first, so that the order of the rows has no say
    order = np.lexsort((right, sure))
    sure, right = sure[order], right[order]
    cuts = np.unique(np.linspace(0, sure.size, MAX_PARTS + 1).astype(np.intp))
    # rows of one confidence stay together: what they differ in is chance
    ends = np.unique(np.searchsorted(sure, sure[np.maximum(cuts[1:] - 1, 0)], side="right"))
    starts = np.concatenate([[0], ends[:-1]])
    return [
        (mean(sure[a:b]), int(right[a:b].sum()), int(b - a))
        for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
    ]


def _figure(parts: list[Part], several: bool) -> Markup:
    low = 0.0 if several or parts[0][0] < 0.4 else 0.5
    low = min(low, np.floor(10 * min(hits / count for _, hits, count in parts)) / 10)
    first, last = parts[0], parts[-1]
    text = (
        f"at a confidence of {percent(first[0])}, {percent(first[1] / first[2])} are right; at "
        f"{percent(last[0])}, {percent(last[1] / last[2])} are right"
    )

    frame = charts.Frame.of((low, 1), (low, 1))
    marks = [frame.line([low, 1], [low, 1], "diagonal")]
    for centre, hits, count in parts:
        # each end has half of delta: an interval fails with 5 % at most
        limits = [clopper_pearson(hits, count, DELTA / 2),
                  clopper_pearson_lower(hits, count, DELTA / 2)]  # fmt: skip
        marks.append(frame.line([centre, centre], limits, "spread"))
        marks.append(frame.point(centre, hits / count, "one", 5))
    line = frame.line([p[0] for p in parts], [p[1] / p[2] for p in parts], "curve one")
    drawing = frame.svg("Confidence and accuracy", text,
                        frame.axes("confidence", x_shares=True), line, marks)  # fmt: skip
    lines = [(percent(mean), percent(hits / count), f"{count:,}") for mean, hits, count in parts]
    names = ["mean confidence", "right", "labels" if several else "rows"]
    return charts.figure(
        drawing,
        charts.numbers_table(names, lines, "Groups by confidence", words=()),
        key=charts.key(
            [("one", "measured, with 95 % intervals"), ("bound", "perfect calibration")]
        ),
    )


MAX_POINTS = 500


def predicted(subject: Subject, rows: Rows) -> Section | None:
    """Draw predicted against true numbers."""
    if not isinstance(rows, Numbers):
        return None
    order = np.argsort(rows.labels, kind="stable")
    drawn = order[np.unique(np.linspace(0, order.size - 1, MAX_POINTS).round().astype(np.intp))]
    both = np.concatenate([rows.labels, rows.predictions])
    low, high = float(both.min()), float(both.max())
    room = 0.03 * (high - low) or 1.0
    off = rows.predictions - rows.labels
    spread = total((rows.labels - mean(rows.labels)) ** 2)
    explained = 1 - total(off**2) / spread if spread else 0.0

    ends = (low - room, high + room)
    frame = charts.Frame.of(ends, ends, height=340)
    points = (frame.point(rows.labels[k], rows.predictions[k], "point", 3) for k in drawn)
    text = f"{drawn.size} rows; predictions on the diagonal are exact"
    drawing = frame.svg("Predicted against true", text, frame.axes("true", shares=False),
                        frame.line(ends, ends, "diagonal"), points)  # fmt: skip
    measures = [
        ("mean absolute error", f"{mean(np.abs(off)):.4g}"),
        ("median absolute error", f"{np.median(np.abs(off)):.4g}"),
        ("root mean squared error", f"{math.sqrt(mean(off**2)):.4g}"),
        ("explained (R²)", percent(explained) if explained > 0 else f"{explained:.3g}"),
    ]
    details = charts.numbers_table(["measure", "value"], measures, "Errors")
    lead = [
        f"{rows.rows:,} rows; the closer to the diagonal, the better.",
        f"R² is {measures[3][1]}.",
        TRAINED if rows.has_training_rows else None,
    ]
    return Section("predicted", "Predicted and true", lead,
                   charts.figure(drawing, details))  # fmt: skip


BARS = 40
"""An even number, so that 0 lies between two bars."""
REACHES = (0.05, 0.1, 0.2, 0.5)
"""Possible ends of the axis: a short axis shows margins near 0."""
BEYOND = "The outermost bars include all values beyond them."


def margins(subject: Subject, rows: Rows) -> Section | None:
    """Draw the distribution of the margins of rows after some rounds."""
    if not isinstance(rows, Evidence) or not rows.margins:
        return None
    stages = sorted(rows.margins)
    # after the first round all margins are -1 or 1, which must not set the axis
    widest = np.median([np.quantile(np.abs(values), 0.995) for values in rows.margins.values()])
    reach = next((reach for reach in REACHES if 1.25 * widest <= reach), 1.0)
    shares = {stage: histogram(rows.margins[stage], reach) for stage in stages}
    last = rows.margins[stages[-1]]
    lead = [
        "The margin of a row is 1 if all votes for it are right, and below 0 if the prediction is "
        "wrong.",
        f"Of {last.size:,} {'labels of rows' if rows.several else 'rows'} "
        f"{percent(float(wrong_margins(last).mean()))} lie at or below 0.",
        "Move the slider: boosting first raises the smallest margins, often at the cost of the "
        "largest."
        if len(stages) > 1
        else None,
        TRAINED if rows.has_training_rows else None,
    ]
    return Section(
        "margins", "Margins", lead, _margins_figure(rows.margins, shares, rows.stages, reach)
    )


def histogram(values: Doubles, reach: float = 1.0) -> Doubles:
    """Return the share of rows in each of the bars from -reach to reach; 0 counts as wrong.

    >>> histogram(np.array([-1.0, 0.0, 0.01, 1.0])).nonzero()[0].tolist()
    [0, 19, 20, 39]
    """
    inside = np.clip(values / reach, -1, 1)
    # 0 falls into the bar on its left, since ties are mistakes
    places = np.ceil((inside + 1) * (BARS / 2) - 1e-12).astype(np.int64) - 1
    return np.bincount(np.clip(places, 0, BARS - 1), minlength=BARS) / values.size


def _margins_figure(
    margins: Mapping[int, Doubles], shares: dict[int, Doubles], unit: str, reach: float
) -> Markup:
    stages = sorted(shares)
    final = shares[stages[-1]]
    # stages with a single tall bar, such as the first, would flatten all others
    widest = max(float(np.quantile([bars.max() for bars in shares.values()], 0.8)), final.max())
    top = min(1.0, 1.08 * widest)
    text = "; ".join(
        f"{percent(float(np.mean(margins[stages[-1]] <= at)))} of rows at or below {at:g}"
        for at in (0.0, 0.1, 0.5)
    )

    frame = charts.Frame.of((-reach, reach), (0, top), left=46)
    edges = frame.x.at(np.linspace(-reach, reach, BARS + 1))
    drawing = frame.svg(
        "Distribution of margins", text, frame.axes("margin"),
        _bars(frame, edges, final), _outline(frame, edges, final), frame.upright(0.0),
        data_top=f"{top:.6f}", data_base=f"{frame.y.start:g}",
        data_high=f"{frame.y.start - frame.y.end:g}",
    )  # fmt: skip
    states = [
        {
            "stage": stage,
            "bars": [round(float(share), 5) for share in shares[stage]],
            "wrong": percent(float(wrong_margins(margins[stage]).mean())),
            "tenth": _signed(float(np.quantile(margins[stage], 0.1))),
            "middle": _signed(float(np.median(margins[stage]))),
        }
        for stage in stages
    ]
    listed = [states[k] for k in np.unique(np.linspace(0, len(states) - 1, 12).round().astype(int))]
    names = [unit, "at or below 0", "10 % are below", "50 % are below"]
    rows = [[f"{s['stage']:,}", str(s["wrong"]), str(s["tenth"]), str(s["middle"])] for s in listed]
    data = Markup(json.dumps({"unit": unit, "stages": states}))
    marks = [("right", "right"), ("wrong", "wrong or tied")]
    marks += [("final", "after the last round")] if len(states) > 1 else []
    return charts.figure(
        drawing,
        _slider(states, unit) if len(states) > 1 else None,
        tag("script", data, type="application/json"),
        charts.remark(BEYOND if reach < 1 else ""),
        charts.numbers_table(names, rows, "Margins after some rounds"),
        key=charts.key(marks),
        class_="margins",
    )  # fmt: skip


def _bars(frame: charts.Frame, edges: Doubles, shares: Doubles) -> Markup:
    base = frame.y.start
    tops = frame.y.at(shares)
    return together(
        tag("rect", x=float(edges[k] + 0.7), width=float(edges[k + 1] - edges[k] - 1.4),
            y=float(tops[k]), height=float(base - tops[k]),
            class_="bar wrong" if k < BARS // 2 else "bar right")
        for k in range(BARS)
    )  # fmt: skip


def _outline(frame: charts.Frame, edges: Doubles, shares: Doubles) -> Markup:
    """Draw the last state as a line above the bars, to compare earlier ones."""
    tops = frame.y.at(shares)
    points = [f"M{edges[0]:.1f} {frame.y.start:g}"]
    points += [f"V{tops[k]:.1f}H{edges[k + 1]:.1f}" for k in range(BARS)]
    return tag("path", d="".join(points), class_="outline")


def _slider(states: list[dict[str, object]], unit: str) -> Markup:
    last, end = states[-1], str(len(states) - 1)
    knob = tag("input", type="range", min="0", max=end, value=end, step="1",
               aria_label=f"After which {unit}", aria_valuetext=f"{last['stage']}")  # fmt: skip
    stage = tag("output", f"{last['stage']:,}", class_="stage")
    state = tag(
        "p", tag("b", str(last["wrong"]), class_="wrong-share"), " at or below 0, median ",
        tag("b", str(last["middle"]), class_="middle"), ", 10 % are below ",
        tag("b", str(last["tenth"]), class_="tenth"), ".", class_="state", aria_live="polite",
    )  # fmt: skip
    play = tag("button", "Play", type="button", class_="play")
    label = tag("label", tag("span", f"After {unit} "), stage, knob)
    return tag("div", play, label, state, class_="slider", hidden=True)


def _signed(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")
