"""Bounds for finite classes of hypotheses and for priors over them.

The class H, or the prior P over it, is fixed before the examples are seen. ``log_size`` is ln|H|,
so that even all Boolean functions of n variables can be written down. With probability 1 - delta

    consistent   R ≤ 1 - (delta/|H|)^(1/n) ≤ (ln|H| + ln(1/delta))/n     for every h without mistake
    agnostic     R ≤ BinInv(k, n, delta/|H|)                             for every h
    Occam        R ≤ BinInv(k, n, delta·P(h))                            for every h

all h at once, so h may be chosen by any search on the same examples (docs/proofs/finite.md).
"""

from __future__ import annotations

import math
from fractions import Fraction

from pacboost.bounds.certificate import certified
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import outward
from pacboost.errors import invalid
from pacboost.numerics.binomial import binomial_upper
from pacboost.numerics.checks import counts, plain_numbers, positive_whole, probability


@plain_numbers
def consistent(n: int, delta: float, log_size: float) -> float:
    """Bound the risk of every hypothesis of H that fits all n examples.

    R ≤ 1 - (delta/|H|)^(1/n) (Blumer, Ehrenfeucht, Haussler and Warmuth 1987).
    """
    positive_whole("n", n)
    return outward(-math.expm1(-_nats(delta, log_size) / n))


@plain_numbers
def agnostic(k: int, n: int, delta: float, log_size: float) -> float:
    """Bound the risk of every hypothesis of H by its k mistakes on the n examples.

    R ≤ BinInv(k, n, delta/|H|) (Langford 2005 with a uniform prior).
    """
    counts(k, n)
    return binomial_upper(k, n, _nats(delta, log_size))


@bound(
    "finite.occam",
    theorem="R ≤ BinInv(k, n, delta·P(h)) for all h at once",
    reference="Langford 2005",
    subject="the hypothesis",
    sample="the training rows",
    independent_of="nothing but the class and its prior, which were fixed before",
    assumptions=(
        "rows are drawn independently from the distribution of new examples",
        "the class and the prior were fixed before the rows were seen",
    ),
    valid_after_looking=True,
)
def occam(k: int, n: int, delta: float, log_inverse_prior: float) -> float:
    """Bound the risk of every hypothesis by its mistakes and its prior, ln(1/P(h)).

    R ≤ BinInv(k, n, delta·P(h)), where P sums to at most 1 (Langford 2005).

    >>> round(occam(0, 1000, delta=0.05, log_inverse_prior=math.log(1000)), 7)
    0.0098546
    """
    counts(k, n)
    return binomial_upper(k, n, _nats(delta, log_inverse_prior, "log_inverse_prior"))


@plain_numbers
def agnostic_deviation(n: int, delta: float, log_size: float) -> float:
    """Bound |R - k/n| for every hypothesis of H at once, both ways.

    |R - k/n| ≤ √((ln|H| + ln(2/delta))/(2n)) (Hoeffding 1963, union over H and both sides).
    """
    positive_whole("n", n)
    return outward(math.sqrt((_nats(delta, log_size) + math.log(2)) / (2 * n)))


@plain_numbers
def examples_for_consistent(epsilon: float, delta: float, log_size: float) -> int:
    """Return the examples after which every consistent hypothesis has risk at most epsilon.

    The smallest n with |H|(1 - epsilon)^n ≤ delta.
    """
    exact = _nats(delta, log_size) / -math.log1p(-probability("epsilon", epsilon))
    low, high = (max(1, math.ceil(exact * factor)) for factor in (1 - 1e-12, 1 + 1e-12))
    if low == high or low > 10**6 or log_size > 30:
        return high
    size = round(math.exp(log_size))  # too close for logarithms: in whole numbers
    enough = math.log(size) == log_size and size * (1 - Fraction(epsilon)) ** low <= delta
    return low if enough else high


certificate = certified(occam)
"""Certify a hypothesis chosen on the same examples, from a class or prior fixed before.

For a finite class without a prior, ``log_inverse_prior`` is ln|H|.
"""


def _nats(delta: float, log_size: float, name: str = "log_size") -> float:
    """ln(|H|/delta), rounded up."""
    if isinstance(log_size, bool) or not 0 <= log_size < math.inf:
        raise invalid(name, log_size, "must be finite and at least 0")
    return (log_size - math.log(probability("delta", delta))) * (1 + 1e-15)
