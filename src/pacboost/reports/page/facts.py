"""Facts about the data and the run."""

from __future__ import annotations

import math

import numpy as np

from pacboost.ledgers.ledger import Ledger
from pacboost.models.file.parts import own_version
from pacboost.numerics.same_bits import mean
from pacboost.reports.page.evidence import Evidence, Numbers
from pacboost.reports.page.markup import Markup, tag, together
from pacboost.reports.page.section import Section, paragraphs
from pacboost.reports.page.subject import Subject, mixed
from pacboost.reports.text import listed

MOST_NAMED = 24

Fact = tuple[str, str]


def tiles(subject: Subject) -> Markup:
    """The most important numbers."""
    ledger, found = subject.ledger, list[Fact]()
    if ledger is not None and ledger.rows:
        found.append((f"{ledger.rows:,}", "rows drawn" if ledger.refills else "training rows"))
    found.append((f"{len(subject.names):,}", _columns(subject)))
    if subject.classes:
        labels = "labels" if ledger is not None and ledger.several_labels else "classes"
        found.append((f"{len(subject.classes):,}", labels))
    unit = "trees" if ledger is None else subject.unit
    found.append((f"{subject.members:,}", unit))
    return tag("ul", (tag("li", tag("b", number), tag("span", what)) for number, what in found),
               class_="tiles")  # fmt: skip


def facts(subject: Subject, rows: Evidence | Numbers | None) -> Section:
    """List what is known about the data and the run."""
    known = [("Method", subject.kind), *_run(subject.ledger), *_data(subject)]
    if rows is not None:
        seen = "; many of them are training rows" if rows.seen else ""
        known.append(("Rows given for this report", f"{rows.rows:,}{seen}"))
    known.append(("Written by", f"pacboost {own_version()}"))
    body = tag("dl", (tag("div", tag("dt", n), tag("dd", v)) for n, v in known), class_="facts")
    lead = paragraphs("The data and the settings. The fingerprint identifies the record of "
                      "the rounds: equal runs have equal fingerprints.")  # fmt: skip
    return Section("facts", "Data and run", lead, together(body))


def _columns(subject: Subject) -> str:
    if subject.model is None or not subject.text:
        return "columns"
    return "words and conditions" if mixed(subject.model) else "words and n-grams"


def _run(ledger: Ledger | None) -> list[Fact]:
    if ledger is None:
        return []
    found = []
    if ledger.rounds:
        edges = np.array([entry.edge for entry in ledger.rounds])
        found.append(("Rounds", f"{len(ledger):,}"))
        if np.isfinite(edges).all() and not ledger.regression:
            said = f"{mean(edges):.3f} on average, {edges[-1]:.3f} in the last round"
            found.append(("Edge of the rules", said))
        last = ledger.rounds[-1].effective_size
        if math.isfinite(last) and ledger.classes == 1 and not ledger.refills:
            found.append(("Effective size at the end", f"{last:,.0f} of {ledger.rows:,} rows"))
        seconds = math.fsum(entry.seconds for entry in ledger.rounds)
        found.append(
            ("Time of the rounds", f"{seconds:.2f} s" if seconds >= 0.01 else "below 10 ms")
        )
    if ledger.stopped:
        found.append(("Why it stopped", ledger.stopped))
    if ledger.multiclass:
        found.append(("Multiclass method", ledger.multiclass))
    if ledger.weighted:
        found.append(("Weights", "the rows were weighted"))
    return [*found, ("Fingerprint", ledger.digest()[:32])]


def _data(subject: Subject) -> list[Fact]:
    found = []
    if subject.classes:
        found.append(("Classes", listed(subject.classes, MOST_NAMED)))
    if not subject.text:
        found.append(("Columns", listed(subject.names, MOST_NAMED)))
    model = subject.model
    if model is None:
        return found
    if model.text is not None:
        options = ", ".join(f"{key} {value}" for key, value in model.text.parameters().items()
                            if isinstance(value, str | int | bool | list | tuple))  # fmt: skip
        found.append(("How texts are read", options))
    if model.calibration is not None:
        found.append(("Probabilities", f"calibrated ({model.calibration.method})"))
    return found
