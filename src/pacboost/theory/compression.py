"""Sample compression: a classifier that a few of its examples, and a message, write down in full.

If the classifier is a function of d of the n examples and of a message of ``bits`` bits, the other
n - d examples had no part in it; a union over all choices makes them a hold-out
(docs/proofs/compression.md). ``stable_estimate`` and ``hybrid_estimate`` are explanations only: the
constants of their theorems have not been derived again, so no certificate is made of them.
"""

from __future__ import annotations

import math

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import outward
from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.binomial import binomial_upper
from pacboost.numerics.checks import counts, plain_numbers, positive_whole, probability
from pacboost.numerics.growth import log_binomial


@bound(
    "compression.compression_bound",
    theorem="R ≤ BinInv(k, n - d, delta/(n·C(n, d)·2^bits))",
    reference="Littlestone and Warmuth 1986; Langford 2005",
    sample="the training rows but the {points} that determine the classifier",
    independent_of="nothing but the way from kept rows and message to the classifier",
    assumptions=(
        "rows are drawn independently from the distribution of new examples",
        "kept rows and message determine the classifier by a rule fixed before",
    ),
    valid_after_looking=True,
)
def compression_bound(
    k: int, n: int, delta: float, points: int, bits: float = 0.0, ordered: bool = False
) -> float:
    """Bound the risk of a classifier that ``points`` of its n examples determine.

    R ≤ BinInv(k, n - d, delta/(n·C(n, d)·2^bits)) with k mistakes on the other n - d examples
    (Langford 2005).

    >>> round(compression_bound(0, 1000, delta=0.05, points=4), 7)
    0.0339005
    """
    rest = _rest(n, points)
    counts(k, rest)
    return binomial_upper(k, rest, _nats(n, delta, points, bits, ordered))


@plain_numbers
def stable_estimate(n: int, delta: float, points: int) -> float:
    """Return the bound for stable schemes without mistakes; an explanation, not a certificate.

    2(d·ln 4 + ln(1/delta))/(n - 2d), for schemes whose classifier stays the same when examples
    that were not kept are removed (Bousquet, Hanneke, Moran and Zhivotovskiy 2020).

    >>> round(stable_estimate(1000, delta=0.05, points=4), 5)
    0.01722
    """
    positive_whole("n", n)
    if 2 * positive_whole("points", points) >= n:
        raise NotCertified(f"stable compression to {points} points needs more than {2 * points}")
    nats = points * math.log(4) - math.log(probability("delta", delta))
    return outward(2 * nats / (n - 2 * points))


@plain_numbers
def hybrid_estimate(n: int, delta: float, points: int, rules: int) -> float:
    """Return the bound for votes of compressed rules without mistakes; not a certificate.

    (2T·log₂(2e(n - κ)/T) + 2κ·log₂(en/κ) + 2·log₂(2/delta))/(n - κ) for T rules made from κ
    examples in all, with real votes (Schapire and Freund 2012, theorem 2.8).

    >>> round(hybrid_estimate(10**6, delta=0.05, points=2000, rules=10), 4)
    0.0421
    """
    positive_whole("points", points)
    rest = _rest(n, points)
    if positive_whole("rules", rules) > rest:
        raise NotCertified(f"{rules} rules need at least as many other examples; {rest} are left")
    choice = 2 * points * math.log2(math.e * n / points)
    vote = 2 * rules * math.log2(2 * math.e * rest / rules)
    return outward((vote + choice + 2 * math.log2(2 / probability("delta", delta))) / rest)


@plain_numbers
def certificate(
    k: int, n: int, delta: float, points: int, bits: float = 0.0, ordered: bool = False
) -> Certificate:
    """Certify a classifier that some of its examples determine, by its mistakes on the others.

    >>> certificate(0, 1000, delta=0.05, points=4).size
    996
    """
    return Certificate.by(
        "compression.compression_bound",
        {"k": k, "n": n, "delta": delta, "points": points, "bits": bits, "ordered": int(ordered)},
        size=n - points,
    )


def _rest(n: int, points: int) -> int:
    positive_whole("n", n)
    if points != 0:
        positive_whole("points", points)
    if points >= n:
        raise NotCertified(
            f"a classifier made from {points} of {n} examples leaves none to judge it by"
        )
    return n - points


def _nats(n: int, delta: float, points: int, bits: float, ordered: bool) -> float:
    """ln(n·C(n, d)·2^bits/delta), rounded up."""
    if isinstance(bits, bool) or not 0 <= bits < math.inf:
        raise ParameterError(f"bits is {bits!r}; a message has a finite length, 0 bits or more")
    ways = points * math.log(n) if ordered else log_binomial(n, points)
    nats = math.log(n) + ways + bits * math.log(2) - math.log(probability("delta", delta))
    return nats * (1 + 1e-15)
