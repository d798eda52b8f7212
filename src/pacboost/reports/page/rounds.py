"""The error and its bound, round by round."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.ledgers.ledger import Ledger
from pacboost.ledgers.validation import ValidationCurve
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
from pacboost.reports.page.subject import Rows, Subject

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


def rounds(subject: Subject, rows: Rows) -> Section | None:
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

    frame = Frame.of(ends, (low, high), log=log)
    paths = [frame.line(at, np.maximum(own.values, low), f"curve {own.kind}") for own in drawn]
    places = json.dumps([round(float(x), 1) for x in frame.x.at(at)])
    drawing = frame.svg(title, text + zeros, frame.axes(x_label, shares=shares, whole=True), paths,
                        frame.upright(ends[0], "reader"), data_places=places)  # fmt: skip
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
        drawing,
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
