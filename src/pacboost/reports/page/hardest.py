"""The hardest examples: outliers, and labels that may be wrong."""

from __future__ import annotations

from collections.abc import Sequence

from pacboost.ledgers.hard import HardRow
from pacboost.numerics.percent import percent
from pacboost.reports.page.drawing import meter
from pacboost.reports.page.evidence import TRAINED, Evidence, Numbers, Shown
from pacboost.reports.page.markup import Markup, tag, together
from pacboost.reports.page.section import Section, paragraphs
from pacboost.reports.page.subject import Subject

MOST_ROWS = 12
LEAD = (
    "The rows with the smallest margins. Look at these first: they are outliers, exceptions, and "
    "often rows with wrong labels."
)


def hardest(subject: Subject, rows: Evidence | Numbers | None) -> Section | None:
    """Show the rows with the smallest margins."""
    shown = () if rows is None else rows.shown
    fitted: Sequence[HardRow] = () if subject.ledger is None else subject.ledger.hard[:MOST_ROWS]
    if not shown and not fitted:
        return None
    numbers = isinstance(rows, Numbers)
    lead = paragraphs("The rows with the largest errors." if numbers else LEAD)
    parts = []
    if shown:
        cards = (_card(entry, numbers) for entry in shown)
        parts.append(tag("h3", "Among the rows given for this report"))
        if rows is not None and rows.seen:
            parts.append(tag("p", TRAINED, class_="remark"))
        parts.append(tag("div", cards, class_="cases"))
    if fitted:
        parts += [tag("h3", "Among the training rows"), _fitted(fitted)]
    return Section("hardest", "Hardest examples", lead, together(parts))


def _card(entry: Shown, numbers: bool) -> Markup:
    text = [value for name, value in entry.cells if not name]
    named = [(name, value) for name, value in entry.cells if name]
    how = "error" if numbers else "margin"
    facts = tag("dl", (tag("div", tag("dt", n), tag("dd", v)) for n, v in named)) if named else None
    return tag(
        "article",
        tag("p", f"row {entry.row:,} · {how} {entry.margin:+.3g}".replace("-", "−"), class_="tag"),
        tag("blockquote", text[0]) if text else None,
        tag(
            "p",
            "is ",
            tag("b", entry.label),
            ", predicted as ",
            tag("b", entry.said),
            class_="verdict",
        )
        if entry.label != entry.said
        else tag("p", "is ", tag("b", entry.label), ", predicted correctly", class_="verdict"),
        facts,
    )


def _fitted(rows: Sequence[HardRow]) -> Markup:
    lines = (
        tag("tr", tag("td", f"{own.row:,}", class_="number"),
            tag("th", own.label, scope="row", class_="words"),
            tag("td", meter(own.wrong, "wrong"), class_="bar"),
            tag("td", percent(own.wrong), class_="number"),
            tag("td", f"{own.margin:+.3f}".replace("-", "−"), class_="number"))
        for own in rows
    )  # fmt: skip
    head = tag("tr", (tag("th", name, scope="col", class_=kind) for name, kind in (
        ("row", "number"), ("label", "words"), ("votes against the label", "words"), ("", "number"),
        ("margin", "number"))))  # fmt: skip
    caption = tag("caption", "Rows are numbered from 0, in the order given to fit")
    return tag("table", caption, tag("thead", head), tag("tbody", lines), class_="bars")
