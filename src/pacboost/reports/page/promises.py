"""What you may count on: every certified number with its sentence, its rows and its confidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pacboost.bounds import measures
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.family import Family
from pacboost.bounds.label_sets import SetRule
from pacboost.bounds.rounding import confidence
from pacboost.numerics.percent import percent_above
from pacboost.reports.page.markup import Markup, table, tag, together
from pacboost.reports.page.section import Section, paragraphs
from pacboost.reports.page.subject import Subject
from pacboost.reports.page.threshold import answered_curve, threshold_curves

HEAD = ["what you may count on", "certified", "rows", "confidence"]


def promises(subject: Subject) -> Section | None:
    """List every claim about new examples, and draw what a threshold guarantees."""
    parts = [part for part in _parts(subject) if part[1]]
    if not parts:
        return None
    lead = paragraphs(
        "Every number here is proved for new examples like those it was counted on, with the "
        "confidence that stands beside it. “Rows” are those that the number was counted on.",
        "Claims in one table share their confidence: they hold together. Different tables are "
        "different claims.",
    )
    tables = [_table(title, certificates, note) for title, certificates, note in parts]
    return Section(
        "promises",
        "What you may count on",
        lead,
        together(tables, threshold_curves(subject.decision), answered_curve(subject.answering)),
    )


Part = tuple[str, Sequence[Certificate], str]


def _parts(subject: Subject) -> Iterator[Part]:
    """Give a title, certificates that belong together, and a note."""
    decision, answering, covers = subject.decision, subject.answering, subject.coverage
    if decision is not None:
        at = f"At the threshold {decision.threshold:.4g} for class “{decision.positive}”"
        yield at, [decision.certificate], "This is what the threshold was chosen for."
        yield "What it costs on the other side", list(decision.others), ""
    else:
        yield "All predictions", [own for own in subject.certificates if own.delta > 0], ""
    if answering is not None and answering.chosen is not None:
        yield "Answers that are given", [answering.certificate], answering.answers()
    if covers is not None:
        sets = isinstance(covers, SetRule)
        mean = covers.mean_size if isinstance(covers, SetRule) else covers.mean_width
        unit = "classes on average" if sets else "wide on average"
        note = f"On the calibration rows they are {mean:.4g} {unit} (an estimate)."
        note = note.replace("they are", "they hold") if sets else note
        title = "Prediction sets" if sets else "Prediction intervals"
        yield title, covers.certificates, note
    for own in subject.certified:
        if isinstance(own, Certificate):
            yield "Certified by further rows", [own], ""
        else:
            yield "Certified by further rows, all at once", own.certificates, _worst(own)


def _worst(family: Family) -> str:
    """Name the worst group, if there are groups of one measure."""
    groups = [own for own in family if "group" in own.details]
    if not groups or len({(own.of_what, own.details.get("class")) for own in family}) > 1:
        return ""
    return f"Worst group: {family.worst_group}. {family.worst.claim}"


def _table(title: str, certificates: Sequence[Certificate], note: str) -> Markup:
    rows = [
        (own.claim, number(own), f"{own.size:,}", f"{confidence(own.delta)}")
        for own in certificates
    ]
    made = table(HEAD, rows, caption=title, class_="promises")
    return tag("div", made, tag("p", note, class_="remark") if note else None)


def number(certificate: Certificate) -> str:
    """Write the certified number with its direction, so that the claim is not made stronger."""
    if certificate.vacuous:
        return "nothing"
    sign = "≥" if measures.is_lower(certificate) else "≤"
    if certificate.of_what not in measures.KINDS:
        return f"{sign} {percent_above(certificate.value, 2)}"
    kind = measures.KINDS[certificate.of_what]
    return f"{sign} {measures.number_of(certificate, kind.rate)}"
