"""Anytime bounds on a mean, which hold at every step at once.

Numbers X_1, X_2, … in [0, 1] (mistakes of one fixed classifier on fresh rows) have mean μ. With
probability 1-δ the bounds hold for all t at once, so one may stop at any time
(docs/proofs/sequences.md). The bound for a fixed n, computed at every step at δ = 0.05, failed in
about one run in eight. To follow the vote of round T as T grows, use δ/(T(T+1)) for each T.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.registry import bound
from pacboost.errors import ParameterError
from pacboost.numerics.checks import plain_numbers, positive_whole
from pacboost.numerics.sequences import Betting, EmpiricalBernstein, kt_kl_upper, kt_upper

WATCHED: Any = {
    "sample": "fresh rows in the order they came",
    "size": "t",
    "independent_of": "the classifier, which stayed the same all the time",
    "assumptions": ("each row is drawn afresh", "numbers lie between 0 and 1"),
    "valid_after_looking": True,
    "end": ", whenever watching stopped",
}
"""The description that all bounds here share."""
# These two need every answer in order; the others need two counts.
MAX_STEPS = 10_000_000
"""Maximum length of a sequence that is processed answer by answer."""


@bound(
    "sequence.mixture_bound",
    theorem="confidence sequence of the Beta(½, ½) mixture",
    reference="Ville 1939; Robbins 1970; Krichevsky and Trofimov 1981",
    **WATCHED,
)
def mixture_bound(total: float, t: int, delta: float) -> float:
    """Upper end of the Beta(½, ½) mixture sequence after t numbers that sum to ``total``."""
    return kt_upper(total, t, delta)


@bound(
    "sequence.anytime_kl_bound",
    theorem="kl(mean‖μ) ≤ ln(2√t/δ)/t for all t at once",
    reference="Ville 1939; Krichevsky and Trofimov 1981",
    **WATCHED,
)
def anytime_kl_bound(total: float, t: int, delta: float) -> float:
    """Upper end in closed form: kl(mean‖μ) ≤ ln(2√t/δ)/t for all t at once."""
    return kt_kl_upper(total, t, delta)


@bound(
    "sequence.bernstein_bound",
    theorem="empirical Bernstein confidence sequence",
    reference="Waudby-Smith and Ramdas 2024",
    **WATCHED,
)
def bernstein_bound(mistakes_at: Sequence[int], t: int, delta: float) -> float:
    """Upper end of the empirical Bernstein sequence for t answers, wrong at the places, from 1."""
    sequence = EmpiricalBernstein(delta)
    for x in _outcomes(mistakes_at, t):
        sequence.add(x)
    return min(1.0, max(0.0, sequence.interval()[1]))


@bound(
    "sequence.betting_bound",
    theorem="confidence sequence by betting",
    reference="Waudby-Smith and Ramdas 2024",
    **WATCHED,
)
def betting_bound(mistakes_at: Sequence[int], t: int, delta: float) -> float:
    """Upper end from betting against each mean, for t answers, wrong at the listed places.

    >>> round(betting_bound([10 * i + 1 for i in range(100)], 1000, 0.05), 2)
    0.13
    """
    sequence = Betting(delta)
    for x in _outcomes(mistakes_at, t):
        sequence.add(x)
    return sequence.upper()


@plain_numbers
def certificate(bound: str = "mixture_bound", **inputs: float | Sequence[int]) -> Certificate:
    """Certify a classifier on fresh rows by one of the four bounds, named by its function.

    >>> print(certificate(total=0, t=1000, delta=0.05).claim)
    The classifier is wrong on at most 0.70 % of new examples, whenever watching stopped.
    """
    return Certificate.by(f"sequence.{bound}", inputs)


def _outcomes(mistakes_at: Sequence[int], t: int) -> list[float]:
    if positive_whole("t", t) > MAX_STEPS:
        raise ParameterError(
            f"t is {t}; this bound takes at most {MAX_STEPS:,} answers. Use mixture_bound, which "
            "needs only the numbers of answers and mistakes"
        )
    outcomes = [0.0] * t
    for place in mistakes_at:
        if type(place) is not int or not 1 <= place <= t:
            raise ParameterError(f"mistakes_at has {place!r}; places are whole numbers, 1 to {t}")
        outcomes[place - 1] = 1.0
    return outcomes
