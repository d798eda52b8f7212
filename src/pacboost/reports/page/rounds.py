"""The error and its bound, round by round."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.ledgers.ledger import Ledger
from pacboost.ledgers.validation import ValidationCurve
from pacboost.numerics.exact import wrong_margins
from pacboost.numerics.percent import percent
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
    together,
)
from pacboost.reports.page.subject import TRAINED, Evidence, Subject

Doubles = NDArray[np.float64]

MOST_POINTS = 240
"""If there are more rounds, this many are drawn, most of them early ones."""
MOST_LINES = 24
LOG_FROM = 30


@dataclass(frozen=True, eq=False)
class Line:
    """One curve; shares have a common scale."""

    name: str
    kind: str
    values: Doubles


def rounds(subject: Subject) -> Section | None:
    """Draw the record of the rounds; None if there is none."""
    ledger = subject.ledger
    if ledger is None or not (len(ledger) > 1 or ledger.refills):
        return None
    if ledger.refills:
        return _refills(ledger)
    columns = ledger.columns()
    numbers_ = np.array(columns["number"], dtype=np.float64)
    if not subject.classes:
        return _losses(ledger, numbers_)
    lines = [Line("error on training rows", "one", np.array(columns["training_error"]))]
    if ledger.multiclass != "samme":
        lines.append(Line("bound of the theorem", "bound", np.array(columns["bound"])))
    watched = np.array(columns["validation"], dtype=np.float64)
    if (ledger.metric or "error") == "error" and not np.isnan(watched).all():
        lines.append(Line("error on validation rows", "two", watched))
    body = curves(lines, numbers_, "round", "Error by round")
    if ledger.metric not in ("", "error") and not np.isnan(watched).all():
        name = ledger.metric.replace("_", " ")
        own = [Line(f"{name} on validation rows", "two", watched)]
        body = together(body, curves(own, numbers_, "round", f"{name} by round", shares=False))
    watched_before = None if subject.model is None else subject.model.validation
    if watched_before is not None:
        body = together(body, _validation(watched_before))
    last = ledger.rounds[-1]
    lead = paragraphs(
        f"After {len(ledger):,} rounds the vote is wrong on {percent(last.training_error)} of the "
        "training rows.",
        "The bound is the product of the normalisers of all rounds; the error is never above it."
        if len(lines) > 1
        else None,
        f"Why it stopped: {ledger.stopped}." if ledger.stopped else None,
    )
    return Section("rounds", "Round by round", lead, body)


def _validation(curve: ValidationCurve) -> Markup:
    """Draw the errors on validation rows that were learned from in the end."""
    name = f"error on {curve.rows:,} validation rows"
    at = np.arange(1, curve.errors.size + 1, dtype=np.float64)
    said = (
        "The number of rounds was chosen by these rows, so the smallest error on them is too "
        "optimistic. Afterwards, the model was trained on all rows, these included."
    )
    drawn = curves([Line(name, "two", curve.errors)], at, "round", "Validation error by round")
    return together(drawn, tag("p", said, class_="remark"))


def _losses(ledger: Ledger, numbers_: Doubles) -> Section:
    """The mean loss of a regression, which its record has in the place of an error."""
    columns = ledger.columns()
    lines = [Line("mean loss on training rows", "one", np.array(columns["training_error"]))]
    watched = np.array(columns["validation"], dtype=np.float64)
    if not np.isnan(watched).all():
        lines.append(Line("on validation rows", "two", watched))
    body = curves(lines, numbers_, "round", "Mean loss by round", shares=False)
    return Section("rounds", "Round by round", paragraphs("The mean loss after every round."), body)


def _refills(ledger: Ledger) -> Section:
    """Errors on rows before they were learned from, against how many were drawn."""
    draws = np.cumsum([refill.draws for refill in ledger.refills]).astype(np.float64)
    error = np.array([refill.error for refill in ledger.refills])
    upper = np.array([refill.error_upper for refill in ledger.refills])
    kept = np.array([refill.acceptance for refill in ledger.refills])
    lines = [
        Line("error on new rows", "one", error),
        Line("upper bound", "bound", upper),
        Line("share of rows kept", "two", kept),
    ]
    lead = paragraphs(
        f"{int(draws[-1]):,} rows were drawn and scored by the vote at that time; the hard ones "
        "were kept for training.",
        f"Why it stopped: {ledger.stopped}." if ledger.stopped else None,
    )
    body = curves(lines, draws, "rows drawn", "Error while rows are drawn")
    return Section("rounds", "Draw by draw", lead, body)


def curves(
    lines: list[Line], at: Doubles, x_label: str, title: str, *, shares: bool = True
) -> Markup:
    """Draw curves over rounds, with a reading line for the pointer and a table of numbers."""
    kept = chosen(at.size, MOST_POINTS)
    at = at[kept]
    drawn = [Line(own.name, own.kind, own.values[kept]) for own in lines]
    top = 1.0 if shares else np.inf
    values = np.concatenate([np.minimum(own.values, top) for own in drawn])
    positive = values[values > 0]
    log = bool(positive.size and np.nanmax(positive) >= LOG_FROM * np.nanmin(positive))
    low = float(np.nanmin(positive)) * 0.8 if log else 0.0
    high = float(np.nanmax(values)) * (1.25 if log else 1.06) or 1.0
    ends = (float(at[0]), float(at[-1])) if at.size > 1 else (0.0, float(at[-1]) + 1)
    zeros = " Points at the lower edge stand for 0." if log and (values == 0).any() else ""
    text = "; ".join(f"{own.name} ends at {_said(own.values[-1], shares)}" for own in drawn)

    def draw(width: int) -> Markup:
        frame = Frame.of(width, 300 if width > 500 else 250, ends, (low, high), log=log, left=54)
        paths = [frame.line(at, np.maximum(own.values, low), f"curve {own.kind}") for own in drawn]
        reader = tag("line", x1=0, x2=0, y1=frame.y.start, y2=frame.y.end, class_="reader")
        places = [round(float(x), 1) for x in frame.x.at(at)]
        return frame.svg(title, text + zeros, frame.axes(x_label, shares=shares, whole=True),
                         paths, reader, data_places=json.dumps(places))  # fmt: skip

    lines_shown = chosen(at.size, MOST_LINES)
    rows = [
        [f"{int(at[k]):,}", *(_said(own.values[k], shares) for own in drawn)] for k in lines_shown
    ]
    names = [own.name for own in drawn]
    data = {
        "x": [int(v) for v in at],
        "unit": x_label,
        "names": names,
        "values": [[_said(v, shares) for v in own.values] for own in drawn],
    }
    return figure(
        draw,
        tag("script", _json(data), type="application/json"),
        tag("p", zeros.strip(), class_="remark") if zeros else None,
        numbers("The numbers", table([x_label, *names], rows, caption=title)),
        key=together(key([(own.kind, own.name) for own in drawn]), tag("output", class_="reading")),
        class_="curves",
    )


def chosen(count: int, most: int) -> NDArray[np.intp]:
    """Choose places among so many: all, or some that lie closest at the beginning.

    >>> chosen(5, 10).tolist(), chosen(1000, 6).tolist()
    ([0, 1, 2, 3, 4], [0, 3, 15, 62, 250, 999])
    """
    if count <= most:
        return np.arange(count)
    return np.unique(np.geomspace(1, count, most).round().astype(np.intp)) - 1


def _said(value: float, shares: bool) -> str:
    if np.isnan(value):
        return "–"
    return percent(float(value)) if shares else f"{value:.4g}"


def _json(data: object) -> Markup:
    """Write data for the script; no text in it can end the element that holds it."""
    return Markup(json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"))


# The distribution of margins, with a slider over the rounds.

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
    """Return the share of rows in each of the bars from -reach to reach; 0 counts as wrong.

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
