"""Notes beside a claim: the error of a constant answer, rare classes, and what to do next.

The number in a claim is proved. The numbers here were counted on the certifying rows and are called
estimates, unless they state a confidence: the share missed of rare classes has a separate bound,
valid because the labels alone decide which classes are rare (docs/proofs/rates.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pacboost.bounds import wording
from pacboost.bounds.certified_number import CertifiedNumber
from pacboost.bounds.held_out import HeldOut, named
from pacboost.bounds.registry import Bound, bound_of
from pacboost.bounds.rounding import confidence
from pacboost.bounds.search import expected_mistakes
from pacboost.bounds.wording import Statement
from pacboost.numerics.percent import percent, percent_above

MAX_CLASSES_NAMED = 3
MAX_USEFUL_BOUND = 0.9
"""A larger bound on the share missed says less than the share observed on these rows."""


@dataclass(frozen=True)
class MissedClass:
    """A rare class by its number: its rows, how many were missed, and a bound on their share."""

    number: int
    rows: int
    missed: int
    bound: float


def missed_classes(
    certificate: CertifiedNumber, held_out: HeldOut, classes: int
) -> tuple[MissedClass, ...]:
    """Bound the missed share of each of the rarest classes, for all of them at once."""
    # Only the certificate's number of mistakes is sure to count ties. Mistakes that the confusion
    # matrix does not show could be rows of any class, so they count as missed in each.
    inputs = certificate.inputs
    bound = _of_mistakes(certificate)
    counted = bound is not None and inputs.get("n") == held_out.rows
    if bound is None or not counted or certificate.of_what != wording.NEW_EXAMPLES:
        return ()
    right = int(held_out.count[held_out.own == held_out.said].sum())
    hidden = int(inputs["k"]) - (held_out.rows - right)
    if hidden < 0:
        return ()
    rare = held_out.rare(classes)[:MAX_CLASSES_NAMED]
    models = int(inputs.get("models", 1)) * max(1, len(rare))
    look = int(inputs.get("look", 0))
    bounded = []
    for number, rows, right_rows in rare:
        missed = min(rows, rows - right_rows + hidden)
        most = bound.compute(missed, rows, certificate.delta, models, look)
        bounded.append(MissedClass(number, rows, missed, most))
    return tuple(bounded)


def _of_mistakes(certificate: CertifiedNumber) -> Bound | None:
    """Return the bound if it counts mistakes on independent rows, so that it holds for parts."""
    bound = bound_of(certificate.bound)
    # answered rows, and rows of a pool, are described by their bound; those of a period depend
    independent = certificate.of_what != wording.PERIOD and bound is not None and not bound.sample
    return bound if bound is not None and bound.held_out and independent else None


def missed_in_words(certificate: CertifiedNumber, held_out: HeldOut, names: Sequence[str]) -> str:
    """State the useful bounds on rare classes in a sentence; "" if there are none."""
    missed = missed_classes(certificate, held_out, len(names))
    if all(each.bound >= MAX_USEFUL_BOUND for each in missed):
        return ""
    sure, answered = confidence(certificate.delta), wording.answered_rows_of(certificate)
    if len(missed) == 1:
        start = "It misses" if certificate.rows_checked else "If these rows are new, it misses"
        [only] = missed
        counted = f"{only.missed:,} of {only.rows:,} rows missed"
        return (
            f"{start} at most {percent_above(only.bound)} of the {answered}rare class "
            f"'{names[only.number]}' ({sure} confidence for this by itself; {counted})."
        )
    listed = [
        f"{percent_above(each.bound)} of '{names[each.number]}' ({each.missed:,} of {each.rows:,})"
        for each in missed
    ]
    where = "Rare classes" if certificate.rows_checked else "Rare classes, if these rows are new"
    start = f"{where}, of their answered rows:" if answered else f"{where}:"
    n_unnamed = len(held_out.rare(len(names))) - len(missed)
    rest = f"; {n_unnamed:,} more {'are' if n_unnamed > 1 else 'is'} rare" if n_unnamed else ""
    return (
        f"{start} at most {', '.join(listed)} missed; {sure} confidence for "
        f"{'both' if len(listed) == 2 else 'all of these'}{rest}."
    )


LOOSE_FACTOR = 1.5
"""A bound of at least this multiple of the observed error is loose because rows are few."""
ROWS_FACTOR = 3
"""The advice for a loose bound is to certify on this multiple of the rows."""
BETTER_MODEL = "Next: label more rows, or add columns that say more about the label."
TRAINED_ONLY = (
    "Next: certify it on rows that it was not trained on: hold some out when it is fitted, or take "
    "new ones afterwards."
)
ONE_ANSWER = (
    "It gives the same answer on every row. Next: fit with "
    "balanced class weights, or choose a threshold by what mistakes cost."
)
ANSWER_MORE = (
    "Next: to answer more examples, allow a larger target error, or certify on more new rows."
)
ABSTAIN = (
    "Next: for a smaller error, label more rows, or choose a threshold below which it abstains."
)


def in_full(
    certificate: CertifiedNumber,
    held_out: HeldOut | None = None,
    names: Sequence[str] = (),
    delta: float | None = None,
) -> tuple[Statement, str]:
    """Return a claim, and a note with estimates and a next step."""
    sentences = [*beside(certificate, held_out, names), next_step(certificate, held_out)]
    return wording.sentence(certificate, delta), " ".join(part for part in sentences if part)


def in_words(
    certificate: CertifiedNumber, held_out: HeldOut | None = None, names: Sequence[object] = ()
) -> str:
    """Return a claim with its estimates and next step, as one text for readers."""
    claim, note = in_full(certificate, held_out, [str(name) for name in names])
    return f"{claim} {note}" if note else str(claim)


def beside(
    certificate: CertifiedNumber, held_out: HeldOut | None, names: Sequence[str] = ()
) -> list[str]:
    """Return the sentences about a constant answer, several labels and rare classes."""
    if held_out is None:
        return []
    answer, wrong = named(held_out, names), f"{percent(held_out.baseline)} wrong on these rows"
    if useless(certificate, held_out):
        # a bound is compared with an estimate: that it is no smaller shows nothing of the errors
        shown = f"{held_out.rows:,} rows do not show that it is better than always saying {answer}"
        sentences = [f"{shown}: {wrong} (an estimate)."]
    else:
        sentences = [f"Always saying {answer} would be {wrong} (an estimate)."]
    if held_out.labels:
        sentences.append(f"A row is wrong if any of its {held_out.labels:,} labels is.")
    rare = missed_in_words(certificate, held_out, names) or _rare(
        held_out, names, wording.answered_rows_of(certificate)
    )
    return [*sentences, rare] if rare else sentences


def useless(certificate: CertifiedNumber, held_out: HeldOut | None) -> bool:
    """Check whether the bound is no smaller than the estimated error of a constant answer."""
    comparable = (wording.NEW_EXAMPLES, wording.PERIOD, wording.ANSWERED, *wording.SOURCES)
    rows = certificate.of_what in comparable
    baseline = held_out is not None and rows and certificate.value >= held_out.baseline
    return wording.says_nothing(certificate) or baseline


def next_step(certificate: CertifiedNumber, held_out: HeldOut | None = None) -> str:
    """Return advice on how to lower the bound; "" if there is none."""
    if certificate.of_what in wording.OF_TRAINING:
        return TRAINED_ONLY
    if held_out is not None:
        n_labels, n_predicted = len(np.unique(held_out.own)), len(np.unique(held_out.said))
        if n_predicted == 1 < n_labels:
            return ONE_ANSWER
    if certificate.of_what == wording.ANSWERED:
        return BETTER_MODEL if useless(certificate, held_out) else ANSWER_MORE
    bound = _of_mistakes(certificate)
    counted = {"k", "n"} <= {*certificate.inputs}
    if bound is None or not counted or "ratio_bound" in certificate.details:
        return ""
    k, n = int(certificate.inputs["k"]), int(certificate.inputs["n"])
    share = certificate.delta / int(certificate.inputs.get("models", 1))
    # the bound falls towards k/n with 1/√n, so three times the rows take off two fifths of what is
    # above it
    rows = ROWS_FACTOR * n
    later = bound.compute(expected_mistakes(k / n, rows), rows, share)
    baseline = 1.0 if held_out is None else held_out.baseline
    if certificate.value >= LOOSE_FACTOR * k / n and later < baseline:
        return (
            f"Next: certify it on about {rows:,} new rows; if mistakes stay "
            f"as rare, this lowers it to {percent_above(later)}."
        )
    return BETTER_MODEL if useless(certificate, held_out) else ABSTAIN


def _rare(held_out: HeldOut, names: Sequence[str], answered: str) -> str:
    rare = held_out.rare(len(names))
    if not rare:
        return ""
    shown = [
        (percent(right / rows), names[k], f"{rows:,} row{'s' if rows > 1 else ''}")
        for k, rows, right in rare[:MAX_CLASSES_NAMED]
    ]
    if len(shown) == 1:
        [(share, name, counted)] = shown
        return (
            f"It finds {share} of the {answered}rare class '{name}' (an estimate from {counted})."
        )
    n_unnamed = len(rare) - len(shown)
    rest = f", and {n_unnamed:,} more {'are' if n_unnamed > 1 else 'is'} rare" if n_unnamed else ""
    listed = ", ".join(f"{share} of '{name}' ({counted})" for share, name, counted in shown)
    of = f"the {answered}" if answered else ""
    return f"Of {of}rare classes it finds, as estimated on these rows, {listed}{rest}."
