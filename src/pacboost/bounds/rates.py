"""Rates that are conditional probabilities: recall, precision, F1 and the like, exactly.

Fix which rows fall into an event A ("is of class c", "is said to be of class c", "belongs to group
g"). They are independent draws from the distribution given A, so of m such rows the number that
also falls into B is Bin(m, P[B | A]), and Clopper and Pearson's bounds hold although m is random:
they hold for every m (docs/proofs/rates.md).

    recall of c      = P[said c | is c]                 among the rows of class c
    precision of c   = P[is c | said c]                 among the rows said to be of class c
    Jaccard index J  = P[is c and said c | is c or said c]
    F1               = 2 TP/(2 TP + FP + FN) = 2J/(1 + J), which rises with J

Several claims share delta: each of ``claims`` many has delta/claims, and all of them hold together
except with probability delta (Boole).
"""

from __future__ import annotations

from itertools import permutations

from pacboost.bounds.holdout import clopper_pearson, clopper_pearson_lower
from pacboost.bounds.measured import CLOPPER, measure_bound
from pacboost.bounds.rounding import SLACK, downward, outward
from pacboost.errors import ParameterError
from pacboost.numerics.checks import counts, positive_whole, probability
from pacboost.numerics.mean_bounds import mean_risk_upper
from pacboost.numerics.two_chances import mean_of_two_upper

BUEHLER = "Buehler 1957; Clopper and Pearson 1934; docs/proofs/rates.md"
MOST_PARTS = 100_000
MOST_ROWS_OF_TWO = 5_000
"""With more rows in the smaller of two classes, each has a bound of its own, as is faster."""


@measure_bound("rates.rate_upper", "P[B | A] ≤ BinInv(k, n, delta/claims), n rows in A", CLOPPER)
def rate_upper(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Bound a rate from above, after k of n rows in the event.

    >>> round(rate_upper(3, 100, delta=0.05), 6)
    0.075711
    """
    return clopper_pearson(k, n, delta, claims)


@measure_bound(
    "rates.rate_lower", "P[B | A] ≥ 1 - BinInv(n - k, n, delta/claims), n rows in A", CLOPPER
)
def rate_lower(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Bound a rate from below, after k of n rows in the event.

    >>> round(rate_lower(97, 100, delta=0.05), 6)
    0.924289
    """
    return clopper_pearson_lower(k, n, delta, claims)


@measure_bound("rates.f1_lower", "F1 = 2J/(1 + J), J binomial in the union", CLOPPER)
def f1_lower(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Bound F1 from below; k rows of n are of the class and said to be, n are one or the other.

    >>> round(rate_lower(80, 110, delta=0.05), 6), round(f1_lower(80, 110, delta=0.05), 6)
    (0.648749, 0.786959)
    """
    return downward(_f1(rate_lower(k, n, delta, claims)))


@measure_bound("rates.f1_upper", "F1 = 2J/(1 + J), J binomial in the union", CLOPPER)
def f1_upper(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Bound F1 from above.

    >>> round(f1_upper(80, 110, delta=0.05), 6)
    0.886634
    """
    return outward(_f1(rate_upper(k, n, delta, claims)))


@measure_bound(
    "rates.balanced_upper", "largest mean of rates not ruled out by the mean that was seen", BUEHLER
)
def balanced_upper(parts: str, delta: float, claims: int = 1) -> float:
    """Bound the mean over classes of their error rates; ``parts`` counts mistakes and rows of each.

    Two classes have Buehler's limit, ordered by the mean that is seen, unless both have very many
    rows; more classes have a bound each, with the same share of delta.

    >>> round(balanced_upper("3/100 5/50", delta=0.05), 4)
    0.1128
    """
    known = read_parts(parts)
    few, many = min(known, key=_rows), max(reversed(known), key=_rows)
    if len(known) == 2 and few[1] <= MOST_ROWS_OF_TWO:
        level = probability("delta", delta) / positive_whole("claims", claims)
        return outward(mean_of_two_upper(few, many, level))
    uppers = [rate_upper(k, n, delta, claims * len(known)) for k, n in known]
    return outward(sum(uppers) / len(known))


@measure_bound(
    "rates.balanced_lower",
    "smallest mean of rates not ruled out by the mean that was seen",
    BUEHLER,
)
def balanced_lower(parts: str, delta: float, claims: int = 1) -> float:
    """Bound the mean over classes of their error rates from below.

    >>> round(balanced_lower("3/100 5/50", delta=0.05), 4)
    0.0325
    """
    right = write_parts([(n - k, n) for k, n in read_parts(parts)])
    return downward(max(0.0, 1 - balanced_upper(right, delta, claims)))


@measure_bound(
    "rates.gap_upper", "largest upper end less smallest lower end of two groups", CLOPPER
)
def gap_upper(parts: str, delta: float, claims: int = 1) -> float:
    """Bound the largest difference of a rate between groups; ``parts`` counts the rows of each.

    Both ends of every group have the same share of delta: claims is 2 for each group and measure.

    >>> round(gap_upper("3/100 5/50", delta=0.05, claims=4), 6)
    0.231257
    """
    known = read_parts(parts)
    if len(known) < 2:
        raise ParameterError(f"parts is {parts!r}; a difference needs at least two groups")
    ends = [(rate_lower(k, n, delta, claims), rate_upper(k, n, delta, claims)) for k, n in known]
    widest = max(upper - lower for (_, upper), (lower, _) in permutations(ends, 2))
    # A difference of numbers below 1 is off by no more than their own rounding.
    return min(1.0, max(widest, 0.0) + SLACK)


@measure_bound(
    "rates.ordered_upper", "mixture of conditional moment bounds", "docs/proofs/dependent.md"
)
def ordered_upper(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Bound the mean chance of an event over a period whose rows may depend on the past.

    >>> round(ordered_upper(5, 1000, 0.05), 4)
    0.015
    """
    counts(k, n)
    return mean_risk_upper(k, n, probability("delta", delta) / positive_whole("claims", claims))


def write_parts(parts: list[tuple[int, int]]) -> str:
    """Write counts in a text that a certificate can hold.

    >>> write_parts([(3, 100), (5, 50)])
    '3/100 5/50'
    """
    return " ".join(f"{k}/{n}" for k, n in parts)


def read_parts(parts: str) -> list[tuple[int, int]]:
    """Read counts that ``write_parts`` wrote, and refuse what no rows give.

    >>> read_parts("3/100 5/50")
    [(3, 100), (5, 50)]
    """
    pairs = [word.partition("/")[::2] for word in str(parts).split()]
    if not 0 < len(pairs) <= MOST_PARTS or not all(
        a.isdecimal() and b.isdecimal() for a, b in pairs
    ):
        raise ParameterError(
            f"parts is {parts!r:.80}; it must hold two whole numbers for each part, as in "
            "'3/100 5/50'"
        )
    return [counts(int(k), int(n)) for k, n in pairs]


def _rows(part: tuple[int, int]) -> int:
    return part[1]


def _f1(jaccard: float) -> float:
    return 2 * jaccard / (1 + jaccard)
