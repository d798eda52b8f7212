"""The page as a whole: head, sentence, sections; one file that fetches nothing."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path

from pacboost.reports.page.calibration import calibration, predicted
from pacboost.reports.page.charts import Markup, Section, tag, together
from pacboost.reports.page.confusion import confusion, held_out_confusion, held_out_ranking, ranking
from pacboost.reports.page.grounds import certificates, facts, tiles
from pacboost.reports.page.promises import promises
from pacboost.reports.page.rounds import margins, rounds
from pacboost.reports.page.rules import hardest, rules
from pacboost.reports.page.sentence import Sentence, line, sentence
from pacboost.reports.page.shapes import shapes
from pacboost.reports.page.subject import Evidence, Numbers, Subject
from pacboost.sources.optional import atomic_write

ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Crect width='16' height='16' rx='4' fill='%231f5fa8'/%3E"
    "%3Cpath d='M3 11h3V8h3V5h4' fill='none' stroke='white' stroke-width='1.8'/%3E%3C/svg%3E"
)


def write_report(
    subject: Subject,
    path: str | Path,
    rows: Evidence | Numbers | None = None,
    title: str | None = None,
    said: Sentence | None = None,
) -> Path:
    """Write the page of a subject whole or not at all; give the path of the file."""
    path = Path(path)
    with atomic_write(path) as part:
        part.write_text(page(subject, rows, title, said), encoding="utf-8", newline="\n")
    return path


def page(
    subject: Subject,
    rows: Evidence | Numbers | None = None,
    title: str | None = None,
    said: Sentence | None = None,
) -> str:
    """Return the whole page as text."""
    said = said or sentence(subject, rows)
    title = title or subject.kind
    return shell("report", title, said, _hero(subject, rows, title, said), _sections(subject, rows))


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


def _hero(subject: Subject, rows: Evidence | Numbers | None, title: str, said: Sentence) -> Markup:
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
        tiles(subject),
    )


def _sections(subject: Subject, rows: Evidence | Numbers | None) -> list[Section]:
    found = [promises(subject), certificates(subject) if subject.classes else None]
    found.append(rounds(subject))
    if rows is None:
        found += [held_out_confusion(subject), held_out_ranking(subject)]
    if isinstance(rows, Evidence):
        found += [margins(rows), calibration(rows), confusion(subject, rows)]
        found.append(ranking(subject, rows))
    if isinstance(rows, Numbers):
        found.append(predicted(rows))
    found += [rules(subject), shapes(subject), hardest(subject, rows), facts(subject, rows)]
    return [part for part in found if part is not None]


def _asset(name: str) -> str:
    return files("pacboost.reports.page").joinpath(name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
