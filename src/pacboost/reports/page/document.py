"""The page as a whole: head, sentence, sections; one file that fetches nothing."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import estimates, wording
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.family import Family
from pacboost.bounds.held_out import HeldOut, named
from pacboost.bounds.rounding import confidence
from pacboost.ledgers.ledger import Ledger
from pacboost.models.model import Model
from pacboost.numerics.percent import percent, percent_above, percent_digits
from pacboost.numerics.same_bits import log, mean
from pacboost.reports.page.calibration import calibration, margins, predicted
from pacboost.reports.page.charts import (
    Frame,
    Markup,
    Section,
    figure,
    key,
    paragraphs,
    round_numbers,
    table,
    tag,
    together,
)
from pacboost.reports.page.confusion import confusion, ranking
from pacboost.reports.page.promises import certificates, facts, promises, tiles
from pacboost.reports.page.rules import hardest, rounds, rules
from pacboost.reports.page.shapes import shapes
from pacboost.reports.page.subject import Evidence, Numbers, Rows, Subject
from pacboost.sources.optional import atomic_write

NO_RUN = ("", "none", "", 0, 0, False, False)
"""The record of a loop that never ran."""
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Crect width='16' height='16' rx='4' fill='%231f5fa8'/%3E"
    "%3Cpath d='M3 11h3V8h3V5h4' fill='none' stroke='white' stroke-width='1.8'/%3E%3C/svg%3E"
)


SECTIONS: tuple[Callable[[Subject, Rows], Section | None], ...] = (
    promises, certificates, rounds, margins, calibration, confusion, ranking, predicted, rules,
    shapes, hardest, facts,
)  # fmt: skip
"""The parts of a page in their order; each is None where there is nothing to show."""


@dataclass(frozen=True, repr=False)
class Page:
    """A page that a notebook shows in a frame of its own."""

    text: str

    def _repr_html_(self) -> str:
        style = "width:100%;height:45em;border:0"
        return tag("iframe", srcdoc=self.text, style=style, title="report")


def written(text: str, path: str | Path | None) -> Any:
    """Write a page whole or not at all, and return its path; without one, return the page."""
    if path is None:
        return Page(text)
    path = Path(path)
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
    return path


def page(
    subject: Subject,
    rows: Rows = None,
    title: str | None = None,
    said: Sentence | None = None,
) -> str:
    """Return the whole page as text."""
    said = said or sentence(subject, rows)
    title = title or subject.kind
    parts = [part for make in SECTIONS if (part := make(subject, rows)) is not None]
    return shell("report", title, said, _hero(subject, rows, title, said, tiles(subject)), parts)


def shell(what: str, title: str, said: Sentence, hero: Markup, found: list[Section]) -> str:
    """Put head, navigation and sections around what a page begins with; ``what`` names its kind."""
    links = (tag("a", part.name.capitalize(), href=f"#{part.name}") for part in found)
    bar = tag(
        "div",
        tag("a", tag("b", "pacboost"), tag("span", what), href="#top", class_="brand"),
        tag("button", tag("span", "Theme"), type="button", class_="theme", hidden=True,
            aria_label="Change between light and dark"),
        class_="top",
    )  # fmt: skip
    body = tag(
        "body",
        tag("a", "Skip to the content", href="#sections", class_="skip"),
        bar,
        tag("header", hero, class_="hero", id="top"),
        tag("nav", tag("div", links), aria_label="Sections"),
        tag("main", (part.markup(k) for k, part in enumerate(found, start=1)), id="sections"),
        tag("footer", tag("p", "This page works offline: it loads nothing and sends nothing.")),
        tag("script", Markup(_asset("script.js"))),
    )
    return f"<!doctype html>\n{tag('html', _head(title, said), body, lang='en')}\n"


def _head(title: str, said: Sentence) -> Markup:
    """The head; its security policy allows only what is in this file."""
    style, script = _asset("style.css"), _asset("script.js")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name_="color-scheme", content="light dark"),
        tag("meta", name_="description", content=str(said)),
        tag("title", f"{title}: {said}"),
        tag("link", rel="icon", href=ICON),
        tag("style", Markup(style)),
    )


def _hero(
    subject: Subject, rows: Rows, title: str, said: Sentence, more: Markup | None = None
) -> Markup:
    claim = tag("h1", said.before, tag("strong", said.strong), said.after)
    seen = None
    if rows is not None and rows.seen:
        seen = tag(
            "p",
            "Many of the rows given for this report are training rows. What they show is too "
            "optimistic.",
            class_="warning",
        )
    return together(
        tag("p", title, class_="tag"),
        claim,
        tag("p", said.note, class_="note") if said.note else None,
        seen,
        line(subject, rows),
        more,
    )


def _asset(name: str) -> str:
    return files("pacboost.reports.page").joinpath(name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


# The sentence that a page begins with, and a line of what was seen and what is proved.

UNSEEN = (
    'That takes rows that the model was not trained on: fit with certify="holdout", or pass such '
    "rows to pacboost.certify."
)


@dataclass(frozen=True)
class Sentence:
    """A claim in three parts; ``strong`` is the number, printed in bold."""

    before: str
    strong: str
    after: str
    note: str = ""

    def __str__(self) -> str:
        return f"{self.before}{self.strong}{self.after}"


def sentence(subject: Subject, rows: Rows = None) -> Sentence:
    """State the strongest claim that is proved, or that there is none and why."""
    if not subject.classes and subject.coverage is None:
        return _of_numbers(rows)
    best = next((c for c in subject.certificates if c.delta > 0), None)
    if best is None and subject.beside is not None:
        return Sentence(*wording.sentence(subject.beside))
    if best is None:
        trained = next(iter(subject.certificates), None)
        if trained is not None and not trained.vacuous:
            claim, note = estimates.in_full(trained)
            return Sentence(*claim, note)
        return Sentence("Nothing is certified about this model yet.", "", "", UNSEEN)
    claim, note = estimates.in_full(best, subject.held_out, subject.classes)
    return Sentence(*claim, note)


def _of_numbers(rows: Rows) -> Sentence:
    why = (
        "A fit certifies nothing for regression, because a number is rarely exactly right. "
        "Intervals are certified by new rows: pacboost.intervals."
    )
    if not isinstance(rows, Numbers):
        return Sentence("It predicts ", "a number", ".", why)
    off = mean(abs(rows.own - rows.said))
    return Sentence(
        "On the rows given for this report, the mean absolute error is ", f"{off:.4g}", ".", why
    )


def line(subject: Subject, rows: Rows) -> Markup | None:
    """Draw the measured and the proved errors on one line that starts at 0."""
    best = next((c for c in subject.certificates if not c.vacuous), None)
    marks: list[tuple[str, float, str, str]] = []
    if best is not None:
        seen = _seen(best)
        if seen is not None:
            marks.append(("seen", *seen))
        said = "the training rows, with certainty"
        if best.delta:
            said = f"{best.of_what}, with {confidence(best.delta)} confidence"
        marks.append(("proved", best.value, percent_above(best.value), f"proved for {said}"))
    if isinstance(rows, Evidence):
        labels = rows.several and best is not None and best.delta == 0  # it counts labels too
        error = float((rows.own != rows.said).mean()) if labels else rows.error
        what = "labels of the" if labels else "" if not rows.several else "sets of labels of the"
        said = f"measured on the {what} {rows.rows:,} rows given for this report"
        marks.append(("given", error, percent(error), said.replace("  ", " ")))
        if not rows.several and subject.classes:
            number, error = rows.commonest
            name = subject.classes[number]
            marks.append(("naive", error, percent(error), f"if “{name}” were always predicted"))
    held_out = subject.held_out
    if rows is None and held_out is not None:
        said = f"if {named(held_out, subject.classes)} were always predicted, on held-out rows"
        marks.append(("naive", held_out.baseline, percent(held_out.baseline), said))
    if not marks:
        return None
    high = round_numbers(0, 1.15 * max(m[1] for m in marks) or 0.01, 6)
    top = high[-1] + (high[1] - high[0] if len(high) > 1 else high[-1])

    frame = Frame.of((0, min(1.0, top)), (0, 1), height=66, left=8, bottom=24, top=8)
    drawing = frame.svg("Errors on one line", "; ".join(f"{m[3]}: {m[2]}" for m in marks),
                        _track(frame, marks), class_="gauge")  # fmt: skip
    words = (
        tag("li", tag("i", class_=f"mark {kind}"), tag("b", said), " ", text)
        for kind, _, said, text in marks
    )
    return figure(drawing, tag("ul", words, class_="marks"), class_="line")


def _track(frame: Frame, marks: list[tuple[str, float, str, str]]) -> Markup:
    """The line with a tick at round numbers, the stretch that is allowed, and all marks."""
    middle, x = 22.0, frame.x
    ends = [("track", x.end)]
    ends += [("allowed", float(x.at(value))) for kind, value, *_ in marks if kind == "proved"]
    parts = [
        tag("line", x1=x.start, x2=end, y1=middle, y2=middle, class_=kind) for kind, end in ends
    ]
    for value in x.ticks(8):
        anchor = "start" if value == 0 else "middle"
        parts.append(tag("text", percent_digits(value), x=float(x.at(value)), y=56,
                         text_anchor=anchor, class_="tick"))  # fmt: skip
    for kind, value, *_ in marks:
        at = float(x.at(value))
        if kind == "proved":
            parts.append(
                tag("rect", x=at - 2.5, y=middle - 15, width=5, height=30, rx=2.5, class_=kind)
            )
        else:
            parts.append(tag("circle", cx=at, cy=middle, r=7, class_=kind))
    return together(parts)


def _seen(certificate: Certificate) -> tuple[float, str, str] | None:
    """Return the error that was measured on the rows of a certificate, if it is known."""
    inputs = certificate.inputs
    mistakes, rows = inputs.get("k", inputs.get("mistakes")), inputs.get("n")
    if isinstance(mistakes, int) and isinstance(rows, int) and rows > 0:
        kind = "held-out" if "k" in inputs else "training"
        kind = f"{wording.distinct(certificate)}{kind}"
        return (
            mistakes / rows,
            percent(mistakes / rows),
            f"measured: {mistakes:,} of {rows:,} {kind} rows are wrong",
        )
    measured = inputs.get("measured")
    if isinstance(measured, float):
        return measured, percent(measured), f"measured on the {certificate.size:,} training rows"
    return None


def answers_page(
    names: Sequence[str],
    held_out: HeldOut | None,
    certified: Sequence[Certificate | Family],
    title: str | None = None,
) -> str:
    """Return the whole page about answers that were given: what is certified, and confusion."""
    known = SimpleNamespace(label_names=names, coverage=None, ledger=Ledger(*NO_RUN))
    every = [c for own in certified for c in ([own] if isinstance(own, Certificate) else own)]
    first = tuple(own for own in certified if own in every and own.of_what == wording.NEW_EXAMPLES)
    subject = Subject(
        cast(Model, known), "Answers", first[:1], "", np.empty(0), held_out=held_out,
        certified=tuple(own for own in certified if own not in first[:1]),
    )  # fmt: skip
    claim, note = estimates.in_full(every[0], held_out, list(names))
    said, title = Sentence(*claim, note), title or "Answers"
    parts = [
        promises(subject, None), certificates(replace(subject, certificates=tuple(every)), None),
        confusion(subject, None), ranking(subject, None),
    ]  # fmt: skip
    hero = _hero(subject, None, title, said)
    return shell("report", title, said, hero, [part for part in parts if part is not None])


# The page of a monitor: what it says at this moment, and the curves of all it has seen.

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


def watch_page(watched: Watched, title: str | None = None) -> str:
    """Return the whole page of a monitor as text."""
    title = title or "A model in use"
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
    return shell("watch", title, said, hero, found)


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
