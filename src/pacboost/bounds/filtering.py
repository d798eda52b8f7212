"""The certified stop of boosting by filtering: mean weight and mistakes of fresh draws.

Rows that are drawn after a vote was fixed have weights in [0, 1] with mean μ, and error ≤ factor·μ;
their mistakes bound the error directly. Each has half of the delta of the test, the smaller bound
counts, and all tests of a run share delta (docs/proofs/filtering.md).
"""

from __future__ import annotations

import math

from pacboost.boosters.registry import BOOSTERS
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import outward
from pacboost.bounds.wording import NEW_EXAMPLES
from pacboost.errors import NotCertified, ParameterError
from pacboost.ledgers.ledger import Ledger, Refill
from pacboost.numerics.checks import plain_numbers, probability, whole
from pacboost.numerics.growth import majority_error
from pacboost.numerics.sequences import kt_upper

ROUNDING = 1 + 1e-12
"""A mean times a count is the total up to rounding, and so is the bound: both are rounded up."""


@plain_numbers
def error_by_weight(mean: float, draws: int, delta: float, factor: float) -> float:
    """Bound the error by the mean weight of fresh draws, times the ``factor`` of the booster.

    Rows on which its vote errs weigh at least 1/factor, and no row weighs more than 1.
    """
    if not (math.isfinite(factor) and factor >= 1):
        raise ParameterError(
            f"factor is {factor}; it must be a number of at least 1, since weights are at most 1"
        )
    _check(mean, draws, delta)
    total = min(float(draws), mean * draws * ROUNDING)
    return min(1.0, factor * kt_upper(total, draws, delta) * ROUNDING)


def _again(stored: Certificate, ledger: Ledger) -> Certificate:
    """Recompute the certificate of the last refill; all tests of the run share delta."""
    last = ledger.refills[-1]
    if last.rounds != len(ledger):
        raise ValueError("rounds came after the draws that were tested")
    if math.fsum(refill.delta for refill in ledger.refills) > stored.delta:
        raise ValueError(f"the tests together may fail with a probability above {stored.delta}")
    booster = BOOSTERS.get(ledger.booster)
    # a file may come from a stranger: the factor of a known booster is taken from its class, not
    # from there
    if booster is not None:
        factor = booster.error_factor
    else:  # the factor of a user-defined booster cannot be checked
        factor = 0.0 if ledger.potential == "projected" else float(stored.inputs["factor"])
    of = "" if stored.of_what == NEW_EXAMPLES else stored.of_what
    return certificate(last, stored.delta, factor, stored.assumptions[0], of=of)


@bound(
    "filtering.error_by_draws",
    reference="Bradley and Schapire 2007; Krichevsky and Trofimov 1981; Ville 1939",
    subject="the vote",
    size="draws",
    independent_of="all rounds before, whatever the weak learner did in them",
    valid_after_looking=True,
    again=_again,
)
def error_by_draws(mean: float, mistakes: int, draws: int, delta: float, factor: float) -> float:
    """Bound the error by mean weight and mistakes of fresh draws, half of delta for each.

    ``factor`` is 0 if the weights do not bound the error; then only mistakes count.

    >>> round(error_by_draws(0.12, 550, 10_000, delta=0.01, factor=2.0), 4)
    0.0659
    """
    if not 0 <= mistakes <= draws:
        raise ParameterError(f"mistakes is {mistakes}; it must lie between 0 and draws ({draws})")
    _check(mean, draws, delta)
    # the smaller of two bounds is no bound at delta: each has half of it, so that choosing costs
    # nothing
    by_mistakes = min(1.0, kt_upper(float(mistakes), draws, delta / 2) * ROUNDING)
    return (
        min(by_mistakes, error_by_weight(mean, draws, delta / 2, factor)) if factor else by_mistakes
    )


def _check(mean: float, draws: int, delta: float) -> None:
    probability("delta", delta)
    if draws < 1:
        raise ParameterError(f"draws is {draws}; at least one draw is needed")
    if not 0 <= mean <= 1:
        raise ParameterError(f"mean is {mean}; weights and their mean lie between 0 and 1")


@plain_numbers
def certificate(
    refill: Refill, delta: float, factor: float, assumes: str, *, of: str = ""
) -> Certificate:
    """Certify the vote that filtered a refill; all tests of the run share ``delta``.

    ``of`` names the source of draws that have been seen before; else the draws have to be fresh.
    """
    # a row that came before may have been learned from; of a source that is read again only claims
    # about that source are made
    draws = refill.draws if of else refill.fresh
    if draws == 0:
        raise NotCertified("no example was drawn after the last round, so nothing was tested")
    if of and refill.again < refill.draws:
        raise NotCertified("some of the examples are new and others are not; a test needs one kind")
    inputs = {"mean": refill.mean, "mistakes": refill.mistakes, "draws": draws}
    inputs |= {"delta": refill.delta, "factor": factor}
    theorem = "error ≤ upper end of a confidence sequence for their mistakes, at delta/2"
    if factor:
        theorem += f", and ≤ factor {factor:g} times that for their mean weight, at delta/2"
    return Certificate.by(
        "filtering.error_by_draws",
        inputs,
        delta=delta,
        theorem=theorem,
        sample={"rows": "later_pass" if of else "fresh"},
        assumptions=(assumes,),
        of_what=of or NEW_EXAMPLES,
        details={"rounds": refill.rounds},
    )


MAX_LEVELS = 2000
"""Further levels do not change a float, and omitting them never lowers the bound."""


@bound(
    "three_way.recursive_error",
    theorem="error ≤ g(g(… g(α) …)) once a level, α of tested weak rules, g(x) = 3x² - 2x³",
    reference="Schapire 1990; Krichevsky and Trofimov 1981; Ville 1939",
    subject="the majority",
    sample="examples drawn for the tests, each of them once; rules that say nothing are wrong",
    independent_of="the rule that is tested: every test has draws of its own",
    valid_after_looking=True,
    again=lambda stored, _: recursive_certificate(  # type: ignore[has-type]
        **stored.inputs, delta=stored.delta, draws=stored.size, assumes=stored.assumptions[0]
    ),
)
def recursive_error(part: float, levels: int) -> float:
    """Apply g(x) = 3x² - 2x³ ``levels`` times to the error of weak rules (Schapire's recursion).

    The rules were tested to have an error of at most ``part``, each under the distribution of its
    test (docs/proofs/three_way.md).

    >>> [round(recursive_error(0.4, levels), 4) for levels in (1, 2, 3, 4, 5, 6, 7)]
    [0.352, 0.2845, 0.1967, 0.1009, 0.0285, 0.0024, 0.0]
    """
    if not 0 <= part < 0.5:
        raise NotCertified(
            f"the error of weak rules is at most {part:g}; a majority of three is better than its "
            "parts only below 1/2"
        )
    for _ in range(min(whole("levels", levels), MAX_LEVELS)):
        part = majority_error(part)
    return outward(part)


@plain_numbers
def recursive_certificate(
    part: float, levels: int, delta: float, draws: int, assumes: str
) -> Certificate:
    """Certify the result of the recursion."""
    return Certificate.by(
        "three_way.recursive_error",
        {"part": part, "levels": levels},
        delta=delta,
        size=draws,
        assumptions=(assumes,),
    )
