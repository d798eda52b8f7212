"""What is said beside a claim: how wrong a constant answer would be, rare classes, what to do next.

The number in a claim is proved. What stands here was counted on the certifying rows and is called
an estimate, unless it says its confidence: the share that is missed of rare classes is bounded by
itself, with classes that the labels alone have chosen (docs/proofs/rates.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pacboost.bounds import holdout, wording
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut, named
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.rounding import confidence
from pacboost.bounds.search import expected_mistakes
from pacboost.bounds.wording import Statement
from pacboost.numerics.percent import percent, percent_above

# Only the number of mistakes in the certificate is sure to count ties. Mistakes that the table of
# classes does not show could be rows of any class, so they count as missed in each.

CLASSES_NAMED = 3
USEFUL = 0.9
"""A bound from here on says less than the share that was found on these rows."""


@dataclass(frozen=True)
class MissedClass:
    """A rare class by its number, with its rows, those missed, and the bound on their share."""

    number: int
    rows: int
    missed: int
    bound: float


def missed_classes(
    certificate: Certificate, held_out: HeldOut, classes: int
) -> tuple[MissedClass, ...]:
    """Bound the share that is missed of each of the rarest classes, for all of them at once.

    Nothing is bounded if the certificate does not count mistakes on these same rows.

    >>> import numpy as np
    >>> from pacboost.bounds import holdout
    >>> labels = np.repeat([0, 1], [20, 180])
    >>> seen = HeldOut.of(labels, np.where(np.arange(200) < 5, 1, labels), np.arange(2))
    >>> [found] = missed_classes(holdout.certificate(5, 200, 0.05), seen, 2)
    >>> found.rows, found.missed, round(found.bound, 3)
    (20, 5, 0.456)
    """
    inputs = certificate.inputs
    counted = certificate.bound == "holdout.clopper_pearson" and inputs.get("n") == held_out.rows
    if not counted or certificate.of_what != wording.NEW_EXAMPLES:
        return ()
    right = int(held_out.count[held_out.own == held_out.said].sum())
    hidden = int(inputs["k"]) - (held_out.rows - right)
    if hidden < 0:
        return ()
    named = held_out.rare(classes)[:CLASSES_NAMED]
    models = int(inputs.get("models", 1)) * max(1, len(named))
    look = int(inputs.get("look", 0))
    found = []
    for number, rows, own in named:
        missed = min(rows, rows - own + hidden)
        bound = clopper_pearson(missed, rows, certificate.delta, models, look)
        found.append(MissedClass(number, rows, missed, bound))
    return tuple(found)


def missed_in_words(certificate: Certificate, held_out: HeldOut, names: Sequence[str]) -> str:
    """State the bounds that are of use, in a sentence; "" if there is none.

    >>> import numpy as np
    >>> from pacboost.bounds import holdout
    >>> labels = np.repeat([0, 1], [20, 180])
    >>> seen = HeldOut.of(labels, np.where(np.arange(200) < 5, 1, labels), np.arange(2))
    >>> print(missed_in_words(holdout.certificate(5, 200, 0.05), seen, ["ill", "well"]))
    It misses at most 45.6 % of the rare class 'ill' (95 % confidence for this by itself; 5 of 20 \
rows missed).
    """
    found = missed_classes(certificate, held_out, len(names))
    if all(each.bound >= USEFUL for each in found):
        return ""
    sure = confidence(certificate.delta)
    start = "It misses" if certificate.rows_checked else "If these rows are new, it misses"
    if len(found) == 1:
        [only] = found
        counted = f"{only.missed:,} of {only.rows:,} rows missed"
        return (
            f"{start} at most {percent_above(only.bound)} of the rare class "
            f"'{names[only.number]}' ({sure} confidence for this by itself; {counted})."
        )
    listed = [
        f"{percent_above(each.bound)} of '{names[each.number]}' ({each.missed:,} of {each.rows:,} "
        f"row{'s' if each.rows > 1 else ''})"
        for each in found
    ]
    more = len(held_out.rare(len(names))) - len(found)
    rest = f"; {more:,} more {'are' if more > 1 else 'is'} rare" if more else ""
    return (
        f"{start} at most {', '.join(listed[:-1])} and {listed[-1]} of its rare classes ({sure} "
        f"confidence for these together, by themselves{rest})."
    )


LOOSE = 1.5
"""A bound that exceeds the share of mistakes by this factor is mostly for want of rows."""
TIMES_MORE = 3
BETTER_MODEL = "Next: train on more rows, or add columns that say more about the label."
TRAINED_ONLY = (
    "Nothing is proved about new examples yet. Next: certify it on rows that it was not trained "
    "on: hold some out when it is fitted, or take new ones afterwards."
)
ONE_ANSWER = (
    "It never says anything else on these rows, so it is worth no more than that. Next: fit with "
    'class_weight="balanced", or choose a threshold by what mistakes cost (choose_threshold).'
)
ANSWER_MORE = (
    "Next: to answer more examples, allow a larger target error, or certify on more new rows."
)
ABSTAIN = (
    "Next: for a smaller error, train on more rows, or choose a threshold below which it abstains."
)


def in_full(
    certificate: Certificate,
    held_out: HeldOut | None = None,
    names: Sequence[str] = (),
    delta: float | None = None,
) -> tuple[Statement, str]:
    """Return a claim, and what is known beside it with a next step.

    >>> import numpy as np
    >>> labels = np.repeat(["0", "1"], [20, 180])
    >>> seen = HeldOut.of(labels, np.where(np.arange(200) < 5, "1", labels), np.array(["0", "1"]))
    >>> claim, note = in_full(holdout.certificate(5, 200, 0.05), seen, ["0", "1"])
    >>> print(claim)
    At most 5.2 % wrong on future examples like these (95 % confidence; 200 held-out rows, 5 wrong).
    >>> for said in note.split(". "):
    ...     print(said)
    Always saying '1' would be 10.0 % wrong on these rows (an estimate)
    It misses at most 45.6 % of the rare class '0' (95 % confidence for this by itself; 5 of 20 \
rows missed)
    Next: certify it on about 600 new rows; if mistakes stay as rare, this lowers it to 3.9 %.
    """
    said = [*beside(certificate, held_out, names), next_step(certificate, held_out)]
    return wording.sentence(certificate, delta), " ".join(part for part in said if part)


def in_words(
    certificate: Certificate, held_out: HeldOut | None = None, names: Sequence[object] = ()
) -> str:
    """Return a claim and everything that is said beside it, as one text for readers.

    >>> print(in_words(holdout.certificate(0, 20, 0.05)))
    At most 14 % wrong on future examples like these (95 % confidence; 20 held-out rows, 0 wrong). \
Next: certify it on about 60 new rows; if mistakes stay as rare, this lowers it to 4.9 %.
    """
    claim, note = in_full(certificate, held_out, [str(name) for name in names])
    return f"{claim} {note}" if note else str(claim)


def beside(
    certificate: Certificate, held_out: HeldOut | None, names: Sequence[str] = ()
) -> list[str]:
    """Return the sentences about a constant answer, several labels and rare classes."""
    if held_out is None:
        return []
    answer, wrong = named(held_out, names), f"{percent(held_out.baseline)} wrong on these rows"
    if useless(certificate, held_out):
        found = [f"This is not better than always saying {answer}: {wrong} (an estimate)."]
    else:
        found = [f"Always saying {answer} would be {wrong} (an estimate)."]
    if held_out.labels:
        found.append(f"A row is wrong if any of its {held_out.labels:,} labels is.")
    rare = missed_in_words(certificate, held_out, names) or _rare(held_out, names)
    return [*found, rare] if rare else found


def useless(certificate: Certificate, held_out: HeldOut | None) -> bool:
    """Whether the bound is not below the error of a constant answer, as estimated."""
    comparable = (wording.NEW_EXAMPLES, wording.PERIOD, wording.ANSWERED, *wording.SOURCES)
    rows = certificate.of_what in comparable
    baseline = held_out is not None and rows and certificate.value >= held_out.baseline
    return certificate.vacuous or baseline


def next_step(certificate: Certificate, held_out: HeldOut | None = None) -> str:
    """Return what would help most, in a sentence or two; "" where nothing is known to help."""
    if certificate.of_what in (wording.TRAINING_ROWS, wording.TRAINING_LABELS):
        return TRAINED_ONLY
    if held_out is not None:
        own, said = (len(set(part.tolist())) for part in (held_out.own, held_out.said))
        if said == 1 < own:
            return ONE_ANSWER
    if certificate.of_what == wording.ANSWERED:
        return BETTER_MODEL if useless(certificate, held_out) else ANSWER_MORE
    if certificate.bound != "holdout.clopper_pearson":
        return ""
    k, n = int(certificate.inputs["k"]), int(certificate.inputs["n"])
    share = certificate.delta / int(certificate.inputs.get("models", 1))
    later = holdout.clopper_pearson(expected_mistakes(k / n, TIMES_MORE * n), TIMES_MORE * n, share)
    baseline = 1.0 if held_out is None else held_out.baseline
    if certificate.value >= LOOSE * k / n and later < baseline:
        return (
            f"Next: certify it on about {TIMES_MORE * n:,} new rows; if mistakes stay "
            f"as rare, this lowers it to {percent_above(later)}."
        )
    return BETTER_MODEL if useless(certificate, held_out) else ABSTAIN


def _rare(held_out: HeldOut, names: Sequence[str]) -> str:
    """Name the rare classes and the share of their rows that was found."""
    found = held_out.rare(len(names))
    shown = [
        f"{percent(right / rows)} of {{}}'{names[k]}' ({{}}{rows:,} row{'s' if rows > 1 else ''})"
        for k, rows, right in found[:CLASSES_NAMED]
    ]
    if len(shown) == 1:
        return f"It finds {shown[0].format('the rare class ', 'an estimate from ')}."
    if not shown:
        return ""
    more = len(found) - len(shown)
    rest = f", and {more:,} more {'are' if more > 1 else 'is'} rare" if more else ""
    listed = ", ".join(part.format("", "") for part in shown)
    return f"Of rare classes it finds, as estimated on these rows, {listed}{rest}."
