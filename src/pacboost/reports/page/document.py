"""Pages of models, answers and monitors, each a single HTML file that loads nothing."""

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
from pacboost.models.model import Model, without_rounds
from pacboost.numerics.percent import percent, percent_above, percent_digits
from pacboost.numerics.same_bits import log, mean
from pacboost.reports.page import charts
from pacboost.reports.page.calibration import calibration, margins, predicted
from pacboost.reports.page.charts import Markup, Section, tag, together
from pacboost.reports.page.confusion import confusion, ranking
from pacboost.reports.page.promises import certificates, facts, promises, tiles
from pacboost.reports.page.rules import hardest, rounds, rules
from pacboost.reports.page.shapes import shapes
from pacboost.reports.page.subject import Evidence, Numbers, Rows, Subject, uncertified
from pacboost.sources.optional import atomic_write

ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Crect width='16' height='16' rx='4' fill='%231f5fa8'/%3E"
    "%3Cpath d='M3 11h3V8h3V5h4' fill='none' stroke='white' stroke-width='1.8'/%3E%3C/svg%3E"
)


SECTIONS: tuple[Callable[[Subject, Rows], Section | None], ...] = (
    promises, certificates, rounds, margins, calibration, confusion, ranking, predicted, rules,
    shapes, hardest, facts,
)  # fmt: skip
"""The sections of a page in order; each function returns None if it has nothing to show."""


@dataclass(frozen=True, repr=False)
class Page:
    """A page that a notebook shows in a frame."""

    text: str

    def __repr__(self) -> str:
        return f"Page of {len(self.text):,} characters; a notebook shows it"

    def _repr_html_(self) -> str:
        style = "width:100%;height:45em;border:0"
        return tag("iframe", srcdoc=self.text, style=style, title="report")


def written(text: str, path: str | Path | None) -> Any:
    """Write a page atomically and return its path; without a path, return the page."""
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
    claim: Sentence | None = None,
) -> str:
    """Return the page of a model as HTML."""
    claim = claim or sentence(subject, rows)
    title = title or subject.kind
    hero = _hero(subject, rows, title, claim, tiles(subject))
    return shell("report", title, claim, hero, [make(subject, rows) for make in SECTIONS])


def shell(
    what: str, title: str, claim: Sentence, hero: Markup, parts: Sequence[Section | None]
) -> str:
    """Return a page: head, first section, navigation and other sections."""
    sections = [part for part in parts if part is not None]
    links = (tag("a", part.name.capitalize(), href=f"#{part.name}") for part in sections)
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
        tag("main", (part.markup(k) for k, part in enumerate(sections, start=1)), id="sections"),
        tag("footer", tag("p", "This page works offline: it loads nothing and sends nothing.")),
        tag("script", Markup(_asset("script.js"))),
    )
    return f"<!doctype html>\n{tag('html', _head(title, claim), body, lang='en')}\n"


def _head(title: str, claim: Sentence) -> Markup:
    """Return the head, with a security policy that allows only this file."""
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
        tag("meta", name_="description", content=str(claim)),
        tag("title", f"{title}: {claim}"),
        tag("link", rel="icon", href=ICON),
        tag("style", Markup(style)),
    )


def _hero(
    subject: Subject, rows: Rows, title: str, claim: Sentence, facts: Markup | None = None
) -> Markup:
    heading = tag("h1", claim.before, tag("strong", claim.strong), claim.after)
    warning = None
    if rows is not None and rows.has_training_rows:
        seen = "Many of the rows given for this report are training rows. "
        warning = tag("p", f"{seen}Their results are too optimistic.", class_="warning")
    note = tag("p", claim.note, class_="note") if claim.note else None
    return together(
        tag("p", title, class_="tag"), heading, note, warning, line(subject, rows), facts
    )


def _asset(name: str) -> str:
    return files("pacboost.reports.page").joinpath(name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


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
    """Return the strongest proved claim, or say that there is none and why."""
    if not subject.classes and subject.model.coverage is None:
        return _of_numbers(rows)
    fresh = [one for one in subject.certified if isinstance(one, Certificate)]
    best = next((c for c in (*subject.certificates, *fresh) if c.delta > 0), None)
    if best is None and subject.beside is not None:
        return Sentence(*wording.sentence(subject.beside))
    if best is None:
        fitted, nothing, call = uncertified(subject.model.ledger)
        return Sentence(fitted, nothing, ".", f"Rows that it has not seen certify it: {call}.")
    counted = best.beside or (subject.held_out, subject.classes)
    claim, note = estimates.in_full(best, *counted)
    return Sentence(*claim, note)


def _of_numbers(rows: Rows) -> Sentence:
    why = (
        "A fit certifies nothing for regression, because a number is rarely exactly right. "
        "Intervals are certified by new rows: pacboost.intervals."
    )
    if not isinstance(rows, Numbers):
        return Sentence("It predicts ", "a number", ".", why)
    off = mean(abs(rows.labels - rows.predictions))
    return Sentence(
        "On the rows given for this report, the mean absolute error is ", f"{off:.4g}", ".", why
    )


def line(subject: Subject, rows: Rows) -> Markup | None:
    """Draw the measured and the proved errors on one line that starts at 0."""
    best = next((c for c in subject.certificates if c.delta > 0 and not c.vacuous), None)
    marks: list[tuple[str, float, str, str]] = []
    if best is not None:
        mistakes, count = best.inputs.get("k"), best.inputs.get("n")
        if isinstance(mistakes, int) and isinstance(count, int) and count > 0:
            kind = f"{wording.distinct(best)}held-out"
            text = f"measured: {mistakes:,} of {count:,} {kind} rows are wrong"
            marks.append(("seen", mistakes / count, percent(mistakes / count), text))
        text = f"proved for {best.of_what}, with {confidence(best.delta)} confidence"
        marks.append(("proved", best.value, percent_above(best.value), text))
    if isinstance(rows, Evidence):
        what = "sets of labels of the " if rows.several else ""
        text = f"measured on the {what}{rows.rows:,} rows given for this report"
        marks.append(("given", rows.error, percent(rows.error), text))
        if not rows.several and subject.classes:
            number, error = rows.commonest
            name = subject.classes[number]
            marks.append(("naive", error, percent(error), f"if “{name}” were always predicted"))
    held_out = subject.held_out
    if rows is None and held_out is not None:
        text = f"if {named(held_out, subject.classes)} were always predicted, on held-out rows"
        marks.append(("naive", held_out.baseline, percent(held_out.baseline), text))
    if not marks:
        return None
    high = charts.round_numbers(0, 1.15 * max(m[1] for m in marks) or 0.01, 6)
    top = high[-1] + (high[1] - high[0] if len(high) > 1 else high[-1])

    frame = charts.Frame.of((0, min(1.0, top)), (0, 1), height=66, left=8, bottom=24, top=8)
    drawing = frame.svg("Errors on one line", "; ".join(f"{m[3]}: {m[2]}" for m in marks),
                        _track(frame, marks), class_="gauge")  # fmt: skip
    words = (
        tag("li", tag("i", class_=f"mark {kind}"), tag("b", number), " ", text)
        for kind, _, number, text in marks
    )
    return charts.figure(drawing, tag("ul", words, class_="marks"), class_="line")


def _track(frame: charts.Frame, marks: list[tuple[str, float, str, str]]) -> Markup:
    """Draw the line with ticks, the proved range, and all marks."""
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


def answers_page(
    names: Sequence[str],
    held_out: HeldOut | None,
    certified: Sequence[Certificate | Family],
    title: str | None = None,
) -> str:
    """Return the page of answers as HTML: certificates and confusion."""
    model = SimpleNamespace(label_names=names, coverage=None, ledger=without_rounds(""))
    families = [(one,) if isinstance(one, Certificate) else tuple(one) for one in certified]
    every = [certificate for family in families for certificate in family]
    alone = [one for one in certified if isinstance(one, Certificate)]
    first = tuple(one for one in alone if one.of_what == wording.NEW_EXAMPLES)[:1]
    subject = Subject(
        cast(Model, model), "Answers", first, "", np.empty(0), held_out=held_out,
        certified=tuple(entry for entry in certified if entry not in first),
    )  # fmt: skip
    claim, note = estimates.in_full(every[0], held_out, list(names))
    heading, title = Sentence(*claim, note), title or "Answers"
    parts = [
        promises(subject, None), certificates(replace(subject, certificates=tuple(every)), None),
        confusion(subject, None), ranking(subject, None),
    ]  # fmt: skip
    return shell("report", title, heading, _hero(subject, None, title, heading), parts)


LOG_10 = math.log(10)
Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Watched:
    """The state of a monitor."""

    sentences: Sequence[str]
    alarms: Sequence[str]
    """The sentences that report an alarm, without the word ALARM."""
    error: float
    delta: float
    run_length: int
    mistakes: Mapping[str, Sequence[float]]
    """Curves over labelled rows: row, error, lower, upper, log_capital, detector."""
    drift: Sequence[Sequence[float]] | None = None
    """Pairs of a row and the logarithm of the drift capital, if rows are monitored."""
    columns: Mapping[str, float] = field(default_factory=dict)
    rules: Sequence[str] = ()


def watch_page(watched: Watched, title: str | None = None) -> str:
    """Return the page of a monitor as HTML."""
    title = title or "A model in use"
    claim = Sentence("", "No alarm", ". The rows so far do not contradict the certificate.")
    if watched.alarms:
        first = watched.alarms[0]
        claim = Sentence("", "ALARM", f": {first[:1].lower()}{first[1:]}")
    others = tag("ul", (tag("li", text) for text in watched.sentences), class_="marks")
    heading = tag("h1", tag("strong", claim.strong), claim.after)
    hero = together(tag("p", title, class_="tag"), heading, others)
    parts = [_mistakes(watched), _bets(watched), _drift(watched)]
    return shell("watch", title, claim, hero, parts)


def _mistakes(watched: Watched) -> Section | None:
    curves = {name: np.array(values, dtype=np.float64) for name, values in watched.mistakes.items()}
    rows = curves["row"]
    if rows.size < 2:
        return None
    top = min(1.0, max(3 * watched.error, 1.2 * float(curves["error"].max())))

    frame = charts.Frame.of((0, float(rows[-1])), (0, top), height=240)
    drawing = frame.svg(
        "The mean error so far",
        "the error with its interval, and the certified error as a dashed line",
        frame.axes("labelled rows →"),
        frame.area(rows, curves["lower"], np.minimum(curves["upper"], top)),
        frame.line(rows, curves["error"], "curve"),
        frame.line([0, rows[-1]], [watched.error, watched.error], "curve bound"),
    )
    legend = charts.key(
        [("", "mean error so far, with its interval"), ("bound", "certified: at most")]
    )
    lead = [
        "With confidence, the mean error of all rows so far lies in the band at every moment at "
        "once, for every kind of change."
    ]
    return Section("error", "The error", lead, charts.figure(drawing, key=legend))


def _bets(watched: Watched) -> Section | None:
    rows = np.array(watched.mistakes["row"], dtype=np.float64)
    if rows.size < 2:
        return None
    capital = np.array(watched.mistakes["log_capital"]) / LOG_10
    detector = log(np.maximum(np.array(watched.mistakes["detector"]), 1e-3)) / LOG_10
    lead = [
        "Capital is bet against the certificate. If that is true, the chance that the capital ever "
        f"reaches the dashed line is at most {percent(watched.delta)}.",
        "The detector uses recent rows. While the error stays within the certified one, "
        f"it reaches its dashed line after {watched.run_length:,} rows on average, or later, and "
        "then begins again.",
    ]
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
    lead = [
        "Boosted rules that separate new rows from old ones bet on the next row. If both have the "
        "same distribution, the chance that the capital ever reaches the dashed line is at most "
        f"{percent(watched.delta)}."
    ]
    drawn = _log_curve(rows, capital / LOG_10, -math.log10(watched.delta), "rows →")
    shares = [(name, percent(share)) for name, share in list(watched.columns.items())[:10]]
    named = charts.table(["column", "share of the evidence"], shares,
                  caption="Columns that changed") if shares else None  # fmt: skip
    rules = tag("ul", (tag("li", rule) for rule in watched.rules), class_="quiet")
    return Section("drift", "Do new rows look like old ones?", lead, together(drawn, named, rules))


def _log_curve(rows: Doubles, values: Doubles, goal: float, across: str) -> Markup:
    low = float(max(-6.0, min(values.min(), 0.0)))
    high = float(max(goal, min(values.max(), 12.0))) + 0.4

    frame = charts.Frame.of((0, float(rows[-1])), (low, high), height=240, top=26)
    drawing = frame.svg(
        "Capital", f"it ends at 10 to the power {values[-1]:.2g}; {goal:.2g} is the goal",
        frame.axes(across, shares=False),
        tag("text", "power of ten ↑", x=2, y=12, class_="label"),
        frame.line(rows, values, "curve"),
        frame.line([0, rows[-1]], [goal, goal], "curve bound"),
    )  # fmt: skip
    return charts.figure(drawing)
