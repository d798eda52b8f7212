"""How much of its rare classes a model misses at most: a statement beside the bound on its error.

Fix the labels of the certifying rows. They decide which classes are rare and how many rows each
has, and what the model says of these rows is still random: of m rows of a class, the number missed
is binomial, so Clopper and Pearson's bound holds (docs/proofs/rates.md). The classes that are named
share delta. The bound on the error keeps the whole of its own delta: these statements have their
confidence by themselves, and say so.

Only the number of mistakes in the certificate is sure to count ties. Mistakes that the table of
classes does not show could be rows of any class, so they count as missed in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pacboost.bounds import wording
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.rounding import confidence
from pacboost.numerics.percent import percent_above

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


def in_words(certificate: Certificate, held_out: HeldOut, names: Sequence[str]) -> str:
    """State the bounds that are of use, in a sentence; "" if there is none.

    >>> import numpy as np
    >>> from pacboost.bounds import holdout
    >>> labels = np.repeat([0, 1], [20, 180])
    >>> seen = HeldOut.of(labels, np.where(np.arange(200) < 5, 1, labels), np.arange(2))
    >>> print(in_words(holdout.certificate(5, 200, 0.05), seen, ["ill", "well"]))
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
