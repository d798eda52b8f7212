"""The Occam certificate of a quantised vote: short descriptions pay less.

G unsigned rules are fixed before the data. A vote that gives D of them whole-number weights from ±1
to ±2^(b-1) has prior weight P = 1/(D(D+1)) · 1/C(G,D) · 2^(-bD) · 1/(b(b+1)), and with probability
1-δ, for all of these votes at once, R ≤ BinInv(k, n, δP) with k mistakes, ties included, of the
quantised vote on all n training rows (docs/proofs/finite.md). Everything else may be chosen on the
same rows, but not bin edges. Where thresholds are training values, ``vote_bound`` counts mistakes
on the rows that gave none (docs/proofs/compression.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.bounds.certificate import Certificate, certified
from pacboost.bounds.registry import bound
from pacboost.bounds.wording import DRAWN
from pacboost.errors import ParameterError
from pacboost.numerics.binomial import binomial_upper
from pacboost.numerics.checks import counts, plain_numbers, positive_whole, probability
from pacboost.numerics.growth import log_binomial

BITS = tuple(range(1, 11))
SCALES = (0.5, 0.7, 1.0, 1.4, 2.0)
MAX_BITS = 31


class Pair(NamedTuple):
    """A quantised vote that may be deployed, with its mistakes and its bound."""

    bits: int
    scale: float
    rules: int
    mistakes: int
    bound: float


@plain_numbers
def log_inverse_prior(base_rules: int, rules: int, bits: int) -> float:
    """Return ln(1/P) of a vote of ``rules`` of the ``base_rules`` with ``bits`` bits each."""
    positive_whole("base_rules", base_rules)
    if positive_whole("rules", rules) > base_rules:
        raise ParameterError(f"rules is {rules}; there are only {base_rules} base rules")
    _bits(bits)
    return (
        # the sum of 1/(D(D+1)) over D ≥ 1 is 1, and so is that over b: all votes share a prior of 1
        math.log(rules * (rules + 1))
        + log_binomial(base_rules, rules)
        + rules * bits * math.log(2)
        + math.log(bits * (bits + 1))
    )


@bound(
    "occam.occam_bound",
    theorem="Occam: R ≤ BinInv(k, n, δP), prior P of a vote with whole-number weights",
    reference="Langford 2005, with the prior of the quantised vote",
    subject="the quantised vote",
    sample="all training rows, ties counted as errors",
    independent_of="the base rules: bin edges, levels, kinds of columns and classes come from "
    "rows set apart",
    assumptions=("rows are drawn independently", "the quantised vote is the one deployed"),
    valid_after_looking=True,
    loose=True,
)
def occam_bound(
    mistakes: int, n: int, base_rules: int, rules: int, bits: int, delta: float
) -> float:
    """Bound the error of a quantised vote from its mistakes on its training rows.

    >>> round(occam_bound(1000, 10_000, 1260, 20, 3, 0.05), 6)
    0.159781
    """
    counts(mistakes, n)
    return binomial_upper(mistakes, n, _price(base_rules, rules, bits, delta))


@plain_numbers
def quantise(votes: ArrayLike, bits: int, scale: float) -> NDArray[np.int64]:
    """Round votes to whole numbers, the largest to scale·2^(bits-1), clipped at 2^(bits-1)."""
    _bits(bits)
    values = np.asarray(votes, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all() or not values.any():
        raise ParameterError("votes must be a list of finite numbers, not all of them 0")
    if not 0 < scale < math.inf:
        raise ParameterError(f"scale is {scale!r}; it must be above 0, and finite")
    # b bits are a sign and a size from 1 to 2^(b-1); 0 says that the rule has no vote
    largest = 2 ** (bits - 1)
    rounded = np.rint(values / np.abs(values).max() * (scale * largest))
    return np.asarray(np.clip(rounded, -largest, largest), dtype=np.int64)


@plain_numbers
def search(
    votes: ArrayLike,
    count: Callable[[NDArray[np.int64]], int],
    n: int,
    base_rules: int,
    delta: float,
    bits: Sequence[int] = BITS,
    scales: Sequence[float] = SCALES,
) -> list[Pair]:
    """Quantise votes, one per unsigned rule, in many ways; return all bounds, the smallest first.

    ``count`` returns the mistakes of whole-number votes on all n rows. All pairs are valid at once.
    """
    pairs, tried = [], set()
    # every pair is paid for by its prior, so that looking for the smallest bound costs nothing more
    for b in sorted(bits):
        for scale in scales:
            quantised = quantise(votes, b, scale)
            key = quantised.tobytes()
            rules = int(np.count_nonzero(quantised))
            if rules == 0 or key in tried:  # the same vote with fewer bits has a smaller bound
                continue
            tried.add(key)
            mistakes = count(quantised)
            bound = occam_bound(mistakes, n, base_rules, rules, b, delta)
            pairs.append(Pair(b, scale, rules, mistakes, bound))
    if not pairs:
        raise ParameterError("every vote was rounded to 0; give a scale of 1 or more")
    return sorted(pairs, key=lambda pair: pair.bound)


certificate = certified(occam_bound)


def _price(base_rules: int, rules: int, bits: int, delta: float) -> float:
    probability("delta", delta)
    price = log_inverse_prior(base_rules, rules, bits) - math.log(delta)
    return price * (1 + 1e-12)


def _bits(bits: int) -> None:
    if positive_whole("bits", bits) > MAX_BITS:
        raise ParameterError(f"bits is {bits}; at most {MAX_BITS} are allowed")


@bound(
    "compression.vote_bound",
    theorem="R ≤ BinInv(k, n - d, delta·P), P the prior of kept rows, features and whole votes",
    reference="Littlestone and Warmuth 1986; Langford 2005; docs/proofs/compression.md",
    subject="the compressed vote",
    sample="{rest} of {n} rows, which give no thresholds, ties counted as errors",
    size="rest",
    independent_of="nothing but the way from kept rows and message to the vote",
    assumptions=(DRAWN, "they are all the rows that were looked at, none left out after a look"),
    valid_after_looking=True,
    rounded=True,
    again=lambda stored, _: vote_certificate(**stored.inputs),  # type: ignore[has-type]
)
def vote_bound(
    mistakes: int, rest: int, n: int, features: int, rules: int, bits: int, delta: float
) -> float:
    """Bound the risk of a vote of stumps whose thresholds are values of some of its n examples.

    R ≤ BinInv(k, rest, delta·P) with k mistakes on the ``rest`` examples that gave no threshold,
    where P is the prior of a vote of ``rules`` out of features·(2n + 1) + 1 stumps with
    whole-number votes of ``bits`` bits: bounds/occam.py.

    >>> round(vote_bound(0, 990, 1000, features=4, rules=10, bits=3, delta=0.05), 4)
    0.1013
    """
    positive_whole("features", features)
    # a rule has one threshold at most, so that no more than that many rows gave one
    if not n - positive_whole("rules", rules) <= positive_whole("rest", rest) <= n:
        raise ParameterError(f"rest is {rest}; with {rules} rules it is {n - rules} to {n}")
    # p features give p(2n + 1) + 1 descriptions of a rule (docs/proofs/compression.md)
    return occam_bound(mistakes, rest, features * (2 * n + 1) + 1, rules, bits, delta)


@plain_numbers
def vote_certificate(
    mistakes: int, rest: int, n: int, features: int, rules: int, bits: int, delta: float
) -> Certificate:
    """Certify a vote of stumps by the examples that gave none of its thresholds."""
    inputs = {"mistakes": mistakes, "rest": rest, "n": n, "features": features, "rules": rules}
    return Certificate.by(
        "compression.vote_bound",
        {**inputs, "bits": bits, "delta": delta},
    )
