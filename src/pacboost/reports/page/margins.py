"""The distribution of margins, with a slider over the rounds."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.mistakes import wrong_margins
from pacboost.numerics.percent import percent
from pacboost.reports.page.drawing import Frame, figure, key
from pacboost.reports.page.evidence import TRAINED, Evidence
from pacboost.reports.page.markup import Markup, numbers, table, tag, together
from pacboost.reports.page.section import Section, paragraphs

Doubles = NDArray[np.float64]

BARS = 40
"""An even number, so that 0 lies between two bars."""
REACHES = (0.05, 0.1, 0.2, 0.5)
BEYOND = "The outermost bars include all values beyond."


def margins(rows: Evidence) -> Section | None:
    """Draw the distribution of the margins of the given rows, after some of the rounds."""
    if not rows.margins:
        return None
    stages = sorted(rows.margins)
    reach = _reach(rows.margins)
    shares = {stage: histogram(rows.margins[stage], reach) for stage in stages}
    last = rows.margins[stages[-1]]
    lead = paragraphs(
        "The margin of a row is 1 if all votes for it are right, and below 0 if the prediction is "
        "wrong.",
        f"Of {last.size:,} {'labels of rows' if rows.several else 'rows'} "
        f"{percent(float(wrong_margins(last).mean()))} lie at or below 0.",
        "Move the slider: boosting first raises the smallest margins, often at the cost of the "
        "largest."
        if len(stages) > 1
        else None,
        TRAINED if rows.seen else None,
    )
    return Section("margins", "Margins", lead, _figure(rows.margins, shares, rows.stages, reach))


def _reach(margins: Mapping[int, Doubles]) -> float:
    """How far the axis has to reach; where all rows are near 0, they are looked at closely."""
    widest = np.median([np.quantile(np.abs(own), 0.995) for own in margins.values()])
    return next((reach for reach in REACHES if 1.25 * widest <= reach), 1.0)


def histogram(values: Doubles, reach: float = 1.0) -> Doubles:
    """Give the share of rows in each of the bars from -reach to reach; 0 counts as wrong.

    >>> histogram(np.array([-1.0, 0.0, 0.01, 1.0])).nonzero()[0].tolist()
    [0, 19, 20, 39]
    """
    inside = np.clip(values / reach, -1, 1)
    places = np.ceil((inside + 1) * (BARS / 2) - 1e-12).astype(np.int64) - 1
    return np.bincount(np.clip(places, 0, BARS - 1), minlength=BARS) / values.size


def _figure(
    margins: Mapping[int, Doubles], shares: dict[int, Doubles], unit: str, reach: float
) -> Markup:
    stages = sorted(shares)
    final = shares[stages[-1]]
    widest = max(float(np.quantile([own.max() for own in shares.values()], 0.8)), final.max())
    top = min(1.0, 1.08 * widest)
    text = "; ".join(
        f"{percent(float(np.mean(margins[stages[-1]] <= at)))} of rows at or below {at:g}"
        for at in (0.0, 0.1, 0.5)
    )

    def draw(width: int) -> Markup:
        high = 290 if width > 500 else 240
        frame = Frame.of(width, high, (-reach, reach), (0, top), left=46)
        edges = frame.x.at(np.linspace(-reach, reach, BARS + 1))
        return frame.svg(
            "Distribution of margins", text, frame.axes("margin"),
            _bars(frame, edges, final), _outline(frame, edges, final),
            tag("line", x1=float(frame.x.at(0)), x2=float(frame.x.at(0)), y1=frame.y.start,
                y2=frame.y.end, class_="zero"),
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
    few = [states[k] for k in np.unique(np.linspace(0, len(states) - 1, 12).round().astype(int))]
    names = [unit, "at or below 0", "10 % are below", "50 % are below"]
    rows = [[f"{s['stage']:,}", str(s["wrong"]), str(s["tenth"]), str(s["middle"])] for s in few]
    data = Markup(json.dumps({"unit": unit, "stages": states}))
    return figure(
        draw,
        _slider(states, unit) if len(states) > 1 else None,
        tag("script", data, type="application/json"),
        tag("p", BEYOND if reach < 1 else "", class_="remark"),
        numbers("The numbers", table(names, rows, caption="Margins after some rounds")),
        key=key([("right", "right"), ("wrong", "wrong or tied"), ("final", "after the last round")]
                if len(states) > 1 else [("right", "right"), ("wrong", "wrong or tied")]),
        class_="margins",
    )  # fmt: skip


def _bars(frame: Frame, edges: Doubles, shares: Doubles) -> Markup:
    base = frame.y.start
    tops = frame.y.at(shares)
    return together(
        tag(
            "rect",
            x=float(edges[k] + 0.7),
            width=float(edges[k + 1] - edges[k] - 1.4),
            y=float(tops[k]),
            height=float(base - tops[k]),
            class_="bar wrong" if k < BARS // 2 else "bar right",
        )
        for k in range(BARS)
    )


def _outline(frame: Frame, edges: Doubles, shares: Doubles) -> Markup:
    """The last state as a line above the bars, to compare earlier ones with."""
    tops = frame.y.at(shares)
    points = [f"M{edges[0]:.1f} {frame.y.start:g}"]
    points += [f"V{tops[k]:.1f}H{edges[k + 1]:.1f}" for k in range(BARS)]
    return tag("path", d="".join(points), class_="outline")


def _slider(states: list[dict[str, object]], unit: str) -> Markup:
    last = states[-1]
    return tag(
        "div",
        tag("button", "Play", type="button", class_="play"),
        tag(
            "label",
            tag("span", f"After {unit} "),
            tag("output", f"{last['stage']:,}", class_="stage"),
            tag("input", type="range", min="0", max=str(len(states) - 1),
                value=str(len(states) - 1), step="1",
                aria_label=f"After which {unit}", aria_valuetext=f"{last['stage']}"),
        ),
        tag(
            "p",
            tag("b", str(last["wrong"]), class_="wrong-share"), " at or below 0, median ",
            tag("b", str(last["middle"]), class_="middle"), ", 10 % are below ",
            tag("b", str(last["tenth"]), class_="tenth"), ".",
            class_="state", aria_live="polite",
        ),
        class_="slider",
        hidden=True,
    )  # fmt: skip


def _signed(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")
