"""A target error that was fixed beforehand, tested from the most confident rows on.

Thresholds by rank are taken in the order of their ranks, so that ever more rows are answered. At
each, "the error among the answered is above the target" is tested at the same level; the tests end
with the first that fails. Except with probability delta no threshold that passed has an error above
the target, however many passed: there is no union over thresholds to pay for
(docs/proofs/selective.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pacboost.bounds.passing import allowed_mistakes
from pacboost.bounds.selective import passed_error

TESTS = 0.75
"""The share of delta that the tests of a target have; bounds for all thresholds have the rest."""

FORGIVEN = 1
"""Tests begin at the first rank at which so many mistakes would still pass."""


@dataclass(frozen=True)
class Point:
    """A threshold, how many held-out rows reach it, and how many of those are wrong.

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
    """Return which points pass, in places of ``points``, whose ranks fall from first to last.

    ``thresholds`` ranks were planned among so many ``rows``; the tests have failure probability
    ``delta``.
    """
    start = _first_rank(rows, thresholds, delta, target)
    if start is None or points[-1].most > start:  # nothing is answered at the first rank
        return frozenset()
    first = next(place for place, point in enumerate(points) if point.most <= start)
    found: set[int] = set()
    for place in range(first, -1, -1):
        point = points[place]
        if passed_error(point.mistakes, point.answered, delta, target) > target:
            break
        found.add(place)
    return frozenset(found)


def _first_rank(rows: int, thresholds: int, delta: float, target: float) -> int | None:
    """The rank with which tests begin: a function of what is known before any row is seen."""
    for number in range(1, thresholds + 1):
        rank = math.ceil(rows * number / thresholds)
        if allowed_mistakes(rank, target, delta) >= FORGIVEN:
            return rank
    return rows if allowed_mistakes(rows, target, delta) >= 0 else None
