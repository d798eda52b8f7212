"""The page of a monitor: what it says at this moment, and the curves of all it has seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.percent import percent
from pacboost.numerics.same_bits import log
from pacboost.reports.page.charts import (
    Frame,
    Markup,
    Section,
    figure,
    key,
    paragraphs,
    table,
    tag,
    together,
)
from pacboost.reports.page.document import Sentence, shell
from pacboost.sources.optional import atomic_write

LOG_10 = math.log(10)
Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Watched:
    """What a monitor knows, in plain values."""

    sentences: Sequence[str]
    alarm: bool
    error: float
    """The error that is certified."""
    delta: float
    run_length: int
    mistakes: Mapping[str, Sequence[float]]
    """Curves over labelled rows: row, error, lower, upper, log_capital, detector."""
    drift: Sequence[Sequence[float]] | None = None
    """Pairs of a row and the logarithm of the capital of drift, if rows are watched."""
    columns: Mapping[str, float] = field(default_factory=dict)
    rules: Sequence[str] = ()


def write_watch_page(watched: Watched, path: str | Path, title: str | None = None) -> Path:
    """Write the page whole or not at all; give the path of the file."""
    path, title = Path(path), title or "A model in use"
    word = "ALARM" if watched.alarm else "No alarm"
    alarms = [own.removeprefix("ALARM: ") for own in watched.sentences if own.startswith("ALARM")]
    first = alarms[0] if alarms else "Nothing that was seen speaks against the certificate."
    said = Sentence("", word, f": {first[:1].lower()}{first[1:]}" if alarms else f". {first}")
    others = tag("ul", (tag("li", own) for own in watched.sentences), class_="marks")
    hero = together(
        tag("p", title, class_="tag"),
        tag("h1", tag("strong", said.strong), said.after),
        others,
    )
    parts = [_mistakes(watched), _bets(watched), _drift(watched)]
    found = [part for part in parts if part is not None]
    with atomic_write(path) as part:
        text = shell("watch", title, said, hero, found)
        part.write_text(text, encoding="utf-8", newline="\n")
    return path


def _mistakes(watched: Watched) -> Section | None:
    curves = {name: np.array(own, dtype=np.float64) for name, own in watched.mistakes.items()}
    rows = curves["row"]
    if rows.size < 2:
        return None
    top = min(1.0, max(3 * watched.error, 1.2 * float(curves["error"].max())))

    frame = Frame.of((0, float(rows[-1])), (0, top), height=240)
    drawing = frame.svg(
        "The mean error so far",
        "the error with its interval, and the certified error as a dashed line",
        frame.axes("labelled rows →"),
        frame.area(rows, curves["lower"], np.minimum(curves["upper"], top)),
        frame.line(rows, curves["error"], "curve"),
        frame.line([0, rows[-1]], [watched.error, watched.error], "curve bound"),
    )
    legend = key([("", "mean error so far, with its interval"), ("bound", "certified: at most")])
    lead = paragraphs(
        "The mean error of all rows so far lies in the band at all moments at once, with "
        "confidence, whatever made it change."
    )
    return Section("error", "The error", lead, figure(drawing, key=legend))


def _bets(watched: Watched) -> Section | None:
    rows = np.array(watched.mistakes["row"], dtype=np.float64)
    if rows.size < 2:
        return None
    capital = np.array(watched.mistakes["log_capital"]) / LOG_10
    detector = log(np.maximum(np.array(watched.mistakes["detector"]), 1e-3)) / LOG_10
    lead = paragraphs(
        "Capital is bet against the certificate; while that holds, it ever reaches the dashed line "
        f"with probability {watched.delta:g} at most.",
        "The detector looks at what came lately. While the error stays within the certified one, "
        f"it reaches its dashed line after {watched.run_length:,} rows on average, or later, and "
        "then begins again.",
    )
    body = together(
        tag("h3", "Capital against the certificate"),
        _log_curve(rows, capital, -math.log10(watched.delta), "labelled rows →"),
        tag("h3", "The change detector"),
        _log_curve(rows, detector, math.log10(watched.run_length), "labelled rows →"),
    )
    return Section("bets", "Is the certificate refuted?", lead, body)


def _drift(watched: Watched) -> Section | None:
    if watched.drift is None or len(watched.drift) < 2:
        return None
    rows, capital = np.array(watched.drift, dtype=np.float64).reshape(-1, 2).T
    lead = paragraphs(
        "Rules that are boosted to tell new rows from old ones bet on the next row. If both are "
        "alike, the capital ever reaches the dashed line with probability "
        f"{watched.delta:g} at most."
    )
    drawn = _log_curve(rows, capital / LOG_10, -math.log10(watched.delta), "rows →")
    shares = [(name, percent(share)) for name, share in list(watched.columns.items())[:10]]
    named = table(["column", "share of what bets have won"], shares,
                  caption="Columns that differ") if shares else None  # fmt: skip
    rules = tag("ul", (tag("li", own) for own in watched.rules), class_="quiet")
    return Section("drift", "Do new rows look like old ones?", lead, together(drawn, named, rules))


def _log_curve(rows: Doubles, values: Doubles, goal: float, across: str) -> Markup:
    low = float(max(-6.0, min(values.min(), 0.0)))
    high = float(max(goal, min(values.max(), 12.0))) + 0.4

    frame = Frame.of((0, float(rows[-1])), (low, high), height=240, top=26)
    drawing = frame.svg(
        "Capital", f"it ends at 10 to the power {values[-1]:.2g}; {goal:.2g} is the goal",
        frame.axes(across, shares=False),
        tag("text", "power of ten ↑", x=2, y=12, class_="label"),
        frame.line(rows, values, "curve"),
        frame.line([0, rows[-1]], [goal, goal], "curve bound"),
    )  # fmt: skip
    return figure(drawing)
