"""Answering only where confident: the error among the answered, whatever threshold is chosen.

Of n held-out rows N reach a threshold and are answered, k of these wrong. With probability at least
1 - delta, P[wrong | answered] ≤ BinInv(k, N, delta/K) for all K thresholds at once, so any may be
chosen after looking. Each has to be fixed beforehand, or to be the confidence of the row at a rank
fixed beforehand (docs/proofs/selective.md).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.holdout import clopper_pearson, clopper_pearson_lower
from pacboost.bounds.passing import allowed_mistakes
from pacboost.bounds.registry import bound
from pacboost.bounds.wording import ANSWERED, DRAWN
from pacboost.numerics.checks import plain_numbers, probability

ANSWERS: Any = {
    "sample": "held-out rows that are answered, ties counted as errors",
    "assumptions": (DRAWN,),
    "of_what": ANSWERED,
    "held_out": True,
}


@bound(
    "selective.answered_error",
    theorem="P[wrong | answered] ≤ BinInv(k, n, delta/thresholds), for all thresholds at once",
    reference="Clopper and Pearson 1934; Geifman and El-Yaniv 2017",
    **ANSWERS,
)
def answered_error(k: int, n: int, delta: float, thresholds: int = 1) -> float:
    """Bound the error among answered rows after k mistakes on n of them; 1 if there are none.

    P[wrong | answered] ≤ BinInv(k, n, delta/thresholds).

    >>> round(answered_error(3, 600, delta=0.05, thresholds=20), 6)
    0.019666
    """
    return clopper_pearson(k, n, delta, thresholds) if n else 1.0


@bound(
    "selective.passed_error",
    theorem="BinInv(k, n, delta) ≤ target at this threshold and all before it, tested in the "
    "order of their ranks",
    reference="Clopper and Pearson 1934; Angelopoulos et al. 2021; docs/proofs/selective.md",
    independent_of="every choice made in training the classifier and its confidence; the target "
    "error was fixed before them",
    **ANSWERS,
)
def passed_error(k: int, n: int, delta: float, target: float) -> float:
    """Return the target error if k mistakes on n answered rows pass its test, else 1.

    The test of "P[wrong | answered] > target" passes if BinInv(k, n, delta) ≤ target.

    >>> passed_error(10, 1000, delta=0.05, target=0.02), passed_error(20, 1000, 0.05, 0.02)
    (0.02, 1.0)
    """
    passes = n > 0 and clopper_pearson(k, n, delta) <= probability("target", target)
    return target if passes else 1.0


@plain_numbers
def answered_share(
    fewest: int, most: int, rows: int, delta: float, thresholds: int = 1
) -> tuple[float, float]:
    """Return limits for the share of new examples that are answered.

    ``fewest`` and ``most`` are both the number of answered rows if the threshold was fixed before;
    for one at a rank, the largest planned rank that is no larger, and the rank itself.
    """
    # both ends of the share of every threshold hold at once (Boole)
    ends = 2 * thresholds
    low = clopper_pearson_lower(fewest, rows, delta, ends)
    return low, clopper_pearson(most, rows, delta, ends)


@plain_numbers
def certificate(k: int, n: int, delta: float, thresholds: int, threshold: float) -> Certificate:
    """Certify a fixed classifier that answers only where it is confident."""
    several = f"; the threshold is one of {thresholds}, all of them paid for"
    return Certificate.by(
        "selective.answered_error",
        {"k": k, "n": n, "delta": delta, "thresholds": thresholds},
        independent_of="every choice made in training the classifier and its confidence"
        + (several if thresholds > 1 else "; the threshold was fixed before them"),
        details={"threshold": threshold},
    )


@plain_numbers
def passed_certificate(
    k: int, n: int, delta: float, target: float, threshold: float, of: float
) -> Certificate:
    """Certify a target error that passed its tests."""
    return Certificate.by(
        "selective.passed_error",
        {"k": k, "n": n, "delta": delta, "target": target},
        delta=of,
        details={"threshold": threshold},
    )


# Who names a target wants it tested, so the tests get most; a quarter is left for other wishes, at
# all thresholds.
TESTS = 0.75
"""Share of delta for the tests of a target; bounds for all thresholds have the rest."""

# With none allowed, a single mistake among the surest rows would end all tests before they began.
MISTAKES_AT_FIRST_RANK = 1
"""Tests begin at the first rank at which this many mistakes would still pass."""


@dataclass(frozen=True)
class Point:
    """A threshold with the numbers of held-out rows that reach it and that are then wrong.

    ``fewest`` and ``most`` are the counts that bound the share of new examples that are answered:
    what was answered, or ranks fixed beforehand on both sides of it.
    """

    threshold: float
    answered: int
    mistakes: int
    fewest: int
    most: int


def passed(
    points: Sequence[Point], rows: int, thresholds: int, delta: float, target: float
) -> frozenset[int]:
    """Return the indices of the points that pass, whose ranks fall from first to last.

    The target is tested at ever larger ranks at one level until the first test fails.
    """
    start = _first_rank(rows, thresholds, delta, target)
    if start is None or points[-1].most > start:  # nothing is answered at the first rank
        return frozenset()
    first = next(place for place, point in enumerate(points) if point.most <= start)
    passing: set[int] = set()
    # Tests in an order that was fixed, to the first failure, need no share of delta each. Going on
    # after a failure broke the promise in simulations (tests/bounds/test_selective.py).
    for place in range(first, -1, -1):
        point = points[place]
        if passed_error(point.mistakes, point.answered, delta, target) > target:
            break
        passing.add(place)
    return frozenset(passing)


def _first_rank(rows: int, thresholds: int, delta: float, target: float) -> int | None:
    """Return the first rank to test; it does not depend on the rows."""

    def allows(number: int) -> bool:
        rank = math.ceil(rows * number / thresholds)
        mistakes = MISTAKES_AT_FIRST_RANK
        return rank > mistakes and clopper_pearson(mistakes, rank, delta) <= target

    # more rows allow more mistakes; a file may name 2**62 thresholds
    number = bisect_left(range(1, thresholds + 1), True, key=allows) + 1
    if number <= thresholds:
        return math.ceil(rows * number / thresholds)
    return rows if allowed_mistakes(rows, target, delta) >= 0 else None
