"""Rates, F1, balanced error and gaps between groups: bounds from counts.

Fix which rows fall into an event A ("is of class c", "is said to be c"). Of m such rows the number
that also falls into B is Bin(m, P[B | A]), so Clopper and Pearson's bounds hold for every m. Each
of ``claims`` many claims has delta/claims, and all hold together (docs/proofs/rates.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from operator import itemgetter

from pacboost.bounds import holdout
from pacboost.bounds.measured import CLOPPER, level, measure_bound
from pacboost.bounds.rounding import SLACK, downward, outward
from pacboost.bounds.wording import GAP
from pacboost.errors import ParameterError
from pacboost.numerics.checks import counts
from pacboost.numerics.many_rates import mean_of_many_upper
from pacboost.numerics.mean_bounds import mean_risk_upper
from pacboost.numerics.two_rates import mean_of_two_upper

HOEFFDING = "Hoeffding 1956, theorem 4; docs/proofs/rates.md"
BUEHLER = "Buehler 1957; Clopper and Pearson 1934; docs/proofs/rates.md"
MAX_PARTS = 100_000
Parts = Sequence[Sequence[int]]
"""For each class or group, how many rows are in an event, and how many there are."""
MAX_ROWS_FOR_BUEHLER = 5_000
"""Rows of the smaller of two classes; above, a bound for each class is much faster."""


@measure_bound("rates", "P[B | A] ≤ BinInv(k, n, delta/claims), n rows in A", CLOPPER)
def rate_upper(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return an upper bound on a rate, from k of n rows.

    >>> round(rate_upper(3, 100, delta=0.05), 6)
    0.075711
    """
    return holdout.clopper_pearson(k, n, delta, claims)


@measure_bound(
    "rates",
    "P[B | A] ≥ 1 - BinInv(n - k, n, delta/claims), n rows in A",
    CLOPPER,
    side="lower",
)
def rate_lower(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return a lower bound on a rate, from k of n rows.

    >>> round(rate_lower(97, 100, delta=0.05), 6)
    0.924289
    """
    return holdout.clopper_pearson_lower(k, n, delta, claims)


@measure_bound("rates", "mean chance ≤ max((k + 1)/n, BinInv(k, n, delta/claims))", HOEFFDING)
def pooled_upper(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return an upper bound on the mean chance of n rows of several groups.

    >>> pooled_upper(99, 100, delta=0.05), round(rate_upper(99, 100, delta=0.05), 6)
    (1.0, 0.999487)
    """
    # theorem 4 is for k ≤ n·mean - 1; for any other k the mean is below (k + 1)/n
    return max(rate_upper(k, n, delta, claims), outward(min(1.0, (k + 1) / n)))


@measure_bound(
    "rates",
    "mean chance ≥ min((k - 1)/n, 1 - BinInv(n - k, n, delta/claims))",
    HOEFFDING,
    side="lower",
)
def pooled_lower(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return a lower bound on the mean chance of n rows of several groups."""
    return min(rate_lower(k, n, delta, claims), downward(max(0, k - 1) / n))


@measure_bound("rates", "F1 = 2J/(1 + J), J binomial in the union", CLOPPER, side="lower")
def f1_lower(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return a lower bound on F1, if k of the n rows labelled or predicted positive are both.

    >>> round(rate_lower(80, 110, delta=0.05), 6), round(f1_lower(80, 110, delta=0.05), 6)
    (0.648749, 0.786959)
    """
    return downward(_f1(rate_lower(k, n, delta, claims)))


@measure_bound("rates", "F1 = 2J/(1 + J), J binomial in the union", CLOPPER)
def f1_upper(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return an upper bound on F1.

    >>> round(f1_upper(80, 110, delta=0.05), 6)
    0.886634
    """
    return outward(_f1(rate_upper(k, n, delta, claims)))


@measure_bound(
    "rates",
    "largest mean of rates not ruled out by the mean that was seen",
    BUEHLER,
)
def balanced_upper(parts: Parts, delta: float, claims: int = 1) -> float:
    """Return an upper bound on the mean of the classes' error rates; ``parts``: mistakes and rows.

    Two classes have Buehler's limit, ordered by the observed mean, unless both have very many
    rows; then each has a bound, with half of delta. More classes have Chernoff's bound on the mean.

    >>> round(balanced_upper([[3, 100], [5, 50]], delta=0.05), 4)
    0.1128
    """
    pairs = read_parts(parts)
    # Buehler's order of outcomes needs a first class: the one with fewer rows, however they are
    # listed
    smaller, larger = min(pairs, key=itemgetter(1)), max(reversed(pairs), key=itemgetter(1))
    if len(pairs) == 2 and smaller[1] <= MAX_ROWS_FOR_BUEHLER:
        return outward(mean_of_two_upper(smaller, larger, level(delta, claims)))
    if len(pairs) > 2:
        return outward(mean_of_many_upper(pairs, level(delta, claims)))
    uppers = [rate_upper(k, n, delta, claims * len(pairs)) for k, n in pairs]
    return outward(sum(uppers) / len(pairs))


@measure_bound(
    "rates", "smallest mean of rates not ruled out by the mean that was seen", BUEHLER, side="lower"
)
def balanced_lower(parts: Parts, delta: float, claims: int = 1) -> float:
    """Return a lower bound on the mean of the classes' error rates.

    >>> round(balanced_lower([[3, 100], [5, 50]], delta=0.05), 4)
    0.0325
    """
    # 1 less the upper end for rows that are right
    right = [[n - k, n] for k, n in read_parts(parts)]
    return downward(max(0.0, 1 - balanced_upper(right, delta, claims)))


@measure_bound("rates", "largest upper end less smallest lower end of two groups", CLOPPER, GAP)
def gap_upper(parts: Parts, delta: float, claims: int = 1) -> float:
    """Return an upper bound on the largest difference of a rate between groups.

    Both ends of every group have the same share of delta: claims is 2 for each group and measure.

    >>> round(gap_upper([[3, 100], [5, 50]], delta=0.05, claims=4), 6)
    0.231257
    """
    pairs = read_parts(parts)
    if len(pairs) < 2:
        raise ParameterError(f"parts is {parts!r}; a difference needs at least two groups")
    # one of the groups may be a pool; for groups of equal chances the ends are hardly ever others
    ends = [
        (pooled_lower(k, n, delta, claims), pooled_upper(k, n, delta, claims)) for k, n in pairs
    ]
    widest = max(upper - lower for (_, upper), (lower, _) in permutations(ends, 2))
    # A difference of numbers below 1 is off by no more than their own rounding.
    return min(1.0, max(widest, 0.0) + SLACK)


@measure_bound(
    "rates",
    "mixture of conditional moment bounds",
    "docs/proofs/dependent.md",
)
def ordered_upper(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return an upper bound on the mean chance of an event over a period.

    >>> round(ordered_upper(5, 1000, 0.05), 4)
    0.015
    """
    counts(k, n)
    return mean_risk_upper(k, n, level(delta, claims))


def read_parts(parts: Parts) -> list[tuple[int, int]]:
    """Return pairs of counts, of an event and of rows; refuse impossible ones."""
    is_list = isinstance(parts, list | tuple) and 0 < len(parts) <= MAX_PARTS
    if not is_list or not all(isinstance(part, list | tuple) and len(part) == 2 for part in parts):
        raise ParameterError(
            f"parts is {parts!r:.80}; it must hold two whole numbers for each part, as in "
            "[[3, 100], [5, 50]]"
        )
    return [counts(k, n) for k, n in parts]


def _f1(jaccard: float) -> float:
    return 2 * jaccard / (1 + jaccard)
