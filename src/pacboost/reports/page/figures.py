"""Predicted against true numbers, for regressors."""

from __future__ import annotations

import math

import numpy as np

from pacboost.numerics.percent import percent
from pacboost.numerics.same_bits import mean, total
from pacboost.reports.page.drawing import Frame, figure
from pacboost.reports.page.evidence import TRAINED, Numbers
from pacboost.reports.page.markup import Markup, numbers, table, tag
from pacboost.reports.page.section import Section, paragraphs

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
