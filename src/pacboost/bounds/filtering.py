"""The certified stop of boosting by filtering: the error is at most a multiple of the mean weight.

Rows that come to a vote which is fixed are fresh draws to it. Their weights lie in [0, 1] with mean
μ, and rows it errs or ties on weigh at least 1/factor; so error ≤ factor·μ, whatever the learner
did. A confidence sequence bounds μ for as many draws as one cares to make, and the tests of a run
share delta/2: test k = 0, 1, … has delta/2/((k+1)(k+2)). Which of them is the last depends on what
they found, so the bound that a run ends with may fail if any of them does: its failure probability
is what all of them share. See docs/proofs/filtering.md.
"""

from __future__ import annotations

import math

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.wording import NEW_EXAMPLES
from pacboost.errors import NotCertified, ParameterError
from pacboost.ledgers.refill import Refill
from pacboost.numerics.plain import plain_numbers
from pacboost.numerics.sequences import kt_upper

ROUNDING = 1 + 1e-12
"""A mean times a count is the total up to rounding, and so is the bound: both are rounded up."""


@plain_numbers
def error_by_weight(mean: float, draws: int, delta: float, factor: float) -> float:
    """Bound the error by the mean weight of so many fresh draws.

    >>> round(error_by_weight(0.01, 10_000, delta=0.01, factor=1.0), 5)
    0.01496
    """
    if not 0 < factor < math.inf:
        raise ParameterError(f"factor is {factor!r}; it must be above 0, and finite")
    total = min(float(draws), mean * draws * ROUNDING)
    return min(1.0, factor * kt_upper(total, draws, delta) * ROUNDING)


@plain_numbers
def certificate(
    refill: Refill, delta: float, factor: float, assumes: str, *, of: str = ""
) -> Certificate:
    """Certify the vote that filtered a refill.

    ``delta`` is what all tests of the run share. ``factor`` is that of the booster; 0 where weights
    say nothing of the error, and the draws' own mistakes are counted instead. ``of`` names the
    source that draws which came before speak of; without it the draws have to be fresh.
    """
    draws = refill.draws if of else refill.fresh
    if draws == 0:
        raise NotCertified("no example was drawn after the last round, so nothing was tested")
    if of and refill.again < refill.draws:
        raise NotCertified("some of the examples were new: only all of one kind can be tested")
    mean = refill.mean if factor else refill.error
    value = error_by_weight(mean, draws, refill.delta, factor or 1.0)
    told = f"factor {factor:g} times their mean weight" if factor else "their mistakes"
    return Certificate(
        value=value,
        delta=delta,
        theorem=f"error ≤ upper end of a confidence sequence for {told}",
        reference="Bradley and Schapire 2007; Krichevsky and Trofimov 1981; Ville 1939",
        sample=f"rows of {of} drawn after the last of these rounds, which had come before"
        if of
        else "examples drawn after the last of these rounds, and never looked at before",
        size=draws,
        independent_of="all rounds before, whatever the weak learner did in them",
        assumptions=(assumes,),
        valid_after_looking=True,
        inputs={"mean": mean, "draws": draws, "delta": refill.delta, "factor": factor or 1.0},
        bound="filtering.error_by_weight",
        of_what=of or NEW_EXAMPLES,
        details={"rounds": refill.rounds},
    )
