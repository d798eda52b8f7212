"""The certified stop of boosting by filtering: the error is at most a multiple of the mean weight.

Rows that come to a vote which is fixed are fresh draws to it. Their weights lie in [0, 1] with mean
μ, and rows it errs or ties on weigh at least 1/factor; so error ≤ factor·μ, whatever the learner
did. A confidence sequence bounds μ for as many draws as one cares to make, and the tests of a run
share delta/2: test k = 0, 1, … has delta/2/((k+1)(k+2)). See docs/proofs/filtering.md.
"""

from __future__ import annotations

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.rounding import percent
from pacboost.errors import NotCertified
from pacboost.ledgers.refill import Refill
from pacboost.numerics.sequences import kt_upper

ROUNDING = 1 + 1e-12
"""A mean times a count is the total up to rounding; the bound is rounded up for it."""


def error_by_weight(mean: float, draws: int, delta: float, factor: float) -> float:
    """Bound the error by the mean weight of so many fresh draws.

    >>> round(error_by_weight(0.01, 10_000, delta=0.01, factor=1.0), 5)
    0.01464
    """
    total = min(float(draws), mean * draws * ROUNDING)
    return min(1.0, factor * kt_upper(total, draws, delta))


def certificate(refill: Refill, factor: float, assumes: str, *, fresh: bool = True) -> Certificate:
    """Certify the vote that filtered a refill.

    ``factor`` is that of the booster; 0 where weights say nothing of the error, and the draws'
    own mistakes are counted instead.
    """
    draws = refill.fresh if fresh else refill.draws
    if draws == 0:
        raise NotCertified("no example was drawn after the last round, so nothing was tested")
    mean = refill.mean if factor else refill.error
    value = error_by_weight(mean, draws, refill.delta, factor or 1.0)
    where = "of new examples" if fresh else "of the rows of this source"
    told = f"factor {factor:g} times their mean weight" if factor else "their mistakes"
    return Certificate(
        claim=f"The vote of the first {refill.rounds} rounds errs on at most {percent(value)} "
        f"{where}.",
        value=value,
        delta=refill.delta,
        theorem=f"error ≤ upper end of a confidence sequence for {told}",
        reference="Bradley and Schapire 2007; Krichevsky and Trofimov 1981; Ville 1939",
        sample="examples drawn after the last of these rounds, and not learned from before",
        size=draws,
        independent_of="all rounds before, whatever the weak learner did in them",
        assumptions=(assumes,),
        valid_after_looking=True,
        inputs={"mean": mean, "draws": draws, "delta": refill.delta, "factor": factor or 1.0},
        bound="filtering.error_by_weight",
    )
