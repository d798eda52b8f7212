"""Infinite classes: what the number of labelings Π(m) of m points certifies.

All hold for every hypothesis of the class at once, with probability at least 1 - delta, so the
hypothesis may be chosen on the same n examples (docs/proofs/growth.md). With k mistakes and r =
k/n:

    relative deviation   R ≤ r + 2e(1 + √(1 + r/e)),   e = (ln Π(2n) + ln(4/delta))/n
    pessimistic          R ≤ (k + 1)/n + √e
    realizable           R ≤ (2/n)(log₂ Π(2n) + log₂(2/delta))                     for k = 0
    hypergeometric       R ≤ max(1, HypInv(k, n, delta/(4Π(n + g)), n + g) - 1 - k)/g

The last is the tightest. It imagines g further examples; g must be fixed before the mistakes are
counted. ``log_growth`` is a function m ↦ ln Π(m), or the number at 2n (at n + g for the last).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import outward
from pacboost.errors import ParameterError
from pacboost.numerics.checks import counts, plain_numbers, positive_whole, probability
from pacboost.numerics.growth import log_binomial, log_cover, log_sauer
from pacboost.numerics.hypergeometric import hypergeometric_inverse

Growth = Callable[[int], float]


@plain_numbers
def relative_deviation(k: int, n: int, delta: float, log_growth: Growth | float) -> float:
    """R ≤ r + 2e(1 + √(1 + r/e)), e = (ln Π(2n) + ln(4/delta))/n (Vapnik 1998)."""
    counts(k, n)
    r, e = k / n, _nats(delta, 4, log_growth, 2 * n) / n
    return outward(r + 2 * e * (1 + math.sqrt(1 + r / e)))


@plain_numbers
def pessimistic(k: int, n: int, delta: float, log_growth: Growth | float) -> float:
    """R ≤ (k + 1)/n + √((ln Π(2n) + ln(4/delta))/n), by absolute deviations (Vapnik 1998)."""
    counts(k, n)
    return outward((k + 1) / n + math.sqrt(_nats(delta, 4, log_growth, 2 * n) / n))


@plain_numbers
def realizable(n: int, delta: float, log_growth: Growth | float) -> float:
    """Bound the risk of every hypothesis that fits all n examples.

    R ≤ (2/n)(log₂ Π(2n) + log₂(2/delta)) (Blumer et al. 1989).
    """
    positive_whole("n", n)
    return outward(2 / n * _nats(delta, 2, log_growth, 2 * n) / math.log(2))


@bound(
    "vc.hypergeometric",
    theorem="hypergeometric tail inversion over all labelings of n + ghost points",
    reference="Leboeuf, LeBlanc and Marchand 2021",
    subject="the hypothesis",
    sample="the training rows",
    independent_of="nothing but the class and the ghost size, which were fixed before",
    assumptions=(
        "rows are drawn independently from the distribution of new examples",
        "the class labels n + ghost points in at most exp(log_growth) ways",
    ),
    valid_after_looking=True,
)
def hypergeometric(
    k: int, n: int, delta: float, log_growth: Growth | float, ghost: int | None = None
) -> float:
    """Bound the risk by inverting the hypergeometric tail, the tightest bound of this file.

    R ≤ max(1, HypInv(k, n, delta/(4Π(n + g)), n + g) - 1 - k)/g for a g fixed in advance
    (Leboeuf, LeBlanc and Marchand 2021).
    """
    counts(k, n)
    g = 4 * n if ghost is None else positive_whole("ghost", ghost)
    pool = hypergeometric_inverse(k, n, _nats(delta, 4, log_growth, n + g), n + g)
    return outward(max(1, pool - 1 - k) / g)


@plain_numbers
def growth_of_dimension(dimension: int) -> Growth:
    """Count labelings from the VC dimension: ln Σ_{i ≤ d} C(m, i) (Sauer 1972)."""
    positive_whole("dimension", dimension)
    return lambda m: log_sauer(dimension, m)


@plain_numbers
def growth_of_product(rules: int, dimension: int) -> Growth:
    """Count the labelings of votes of T rules as lecture 000 does: (em/T)^T (em/d)^(dT).

    It holds from m = max(T, d) on, for a T fixed beforehand; ``growth_of_vote`` is smaller.

    >>> round(growth_of_product(rules=20, dimension=3)(1000))
    507
    """
    positive_whole("rules", rules)
    positive_whole("dimension", dimension)
    return lambda m: (
        rules * (1 + math.log(m / rules)) + dimension * rules * (1 + math.log(m / dimension))
    )


@plain_numbers
def growth_of_stump_votes(features: int, distinct: int) -> Growth:
    """Count the labelings of votes over stumps on real features, p(m - 1) + 1 unsigned rules.

    >>> round(growth_of_stump_votes(features=20, distinct=20)(20_000))
    371
    """
    positive_whole("features", features)
    return lambda m: growth_of_vote(features * (m - 1) + 1, distinct)(m)


@plain_numbers
def growth_of_vote(rules: int, distinct: int) -> Growth:
    """Count the labelings of votes over ``distinct`` of ``rules`` unsigned rules.

    ln C(G, D) + ln Cov(m, D) + ln(D(D + 1)), Cov(m, D) = 2 Σ_{k<D} C(m - 1, k) (Cover 1965): choose
    the rules, then count halfspaces through the origin in their answers. The last term pays for a D
    that was not fixed before. A rule and its opposite are one; the sign is in the vote. Ties may
    count as mistakes, in k and in the risk, or get the answer of one of the voters
    (docs/proofs/growth.md, lemma 5).

    >>> round(growth_of_vote(rules=20 * 63, distinct=20)(20_000))
    256
    """
    positive_whole("rules", rules)
    positive_whole("distinct", distinct)
    used = min(rules, distinct)  # on m points no more than ``rules`` answers differ
    price = math.log(distinct) + math.log(distinct + 1)
    return lambda m: log_binomial(rules, used) + log_cover(m, used) + price


@plain_numbers
def certificate(
    k: int, n: int, delta: float, log_growth: Growth | float, ghost: int | None = None
) -> Certificate:
    """Certify a hypothesis chosen on the same examples, from a class whose labelings are counted.

    >>> certificate(1000, 10_000, 0.05, growth_of_dimension(10)).bound
    'vc.hypergeometric'
    """
    counts(k, n)
    g = 4 * n if ghost is None else positive_whole("ghost", ghost)
    nats = log_growth(n + g) if callable(log_growth) else log_growth
    inputs = {"k": k, "n": n, "delta": delta, "log_growth": nats, "ghost": g}
    return Certificate.by("vc.hypergeometric", inputs)


def _nats(delta: float, factor: int, log_growth: Growth | float, points: int) -> float:
    """ln(factor·Π/delta), rounded up."""
    nats = log_growth(points) if callable(log_growth) else log_growth
    if isinstance(nats, bool) or not 0 <= nats < math.inf:
        raise ParameterError(
            f"log_growth is {nats!r}; the logarithm of a number of labelings is finite, 0 or more"
        )
    return (nats + math.log(factor) - math.log(probability("delta", delta))) * (1 + 1e-15)
