"""From the scores of held-out rows to thresholds, and counts at each of them.

No threshold stands on a score: a row that is scored alone, or among other rows, may differ in the
last bits of its score. Thresholds are taken from borders that were fixed beforehand, and lie where
the last bits of short numbers do not (docs/proofs/thresholds.md, "Where thresholds stand").
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.bounds.answering import Answering
from pacboost.bounds.borders import Borders
from pacboost.bounds.target import Point
from pacboost.errors import DataError, ParameterError
from pacboost.numerics.checks import plain_numbers, positive_whole, probability

RANKS = 20
"""The default number of thresholds: at each, a twentieth more of the rows is answered."""


@plain_numbers
def by_ranks(
    confidence: ArrayLike,
    wrong: ArrayLike,
    delta: float,
    ranks: int = RANKS,
    target: float | None = None,
) -> Answering:
    """Take for thresholds what lets 1/ranks, 2/ranks, … of the held-out rows be answered.

    A ``target`` error that was fixed before the rows were looked at is tested at these thresholds
    (bounds/target.py), which allows more to be answered than the bounds for all of them do.

    >>> confidence = np.linspace(0, 1, 1000)
    >>> answering = by_ranks(confidence, confidence < 0.1, delta=0.05)
    >>> chosen = answering.within(0.01)
    >>> chosen.point.answered, chosen.point.mistakes, round(chosen.error, 4)
    (900, 0, 0.0066)
    """
    own, mistaken = _read(confidence, wrong)
    borders = Borders.of(np.asarray(confidence))
    rows = own.size
    falling = np.sort(own)[::-1]
    parts = positive_whole("ranks", ranks)
    planned = sorted({math.ceil(rows * j / parts) for j in range(1, parts + 1)})
    points: dict[float, Point] = {}
    for rank in planned:
        threshold = borders.above(float(falling[rank])) if rank < rows else 0.0
        answered = own >= threshold
        n = int(np.count_nonzero(answered))
        if n == 0:  # more rows have the largest confidence than were to be answered
            continue
        fewest = max((other for other in planned if other <= n), default=0)
        k = int(np.count_nonzero(mistaken[answered]))
        points.setdefault(threshold, Point(threshold, n, k, fewest, rank))
    tested = None if target is None else probability("target_error", target)
    ordered = _in_order(points.values())
    return Answering(rows, probability("delta", delta), len(planned), ordered, tested=tested)


@plain_numbers
def at_thresholds(
    confidence: ArrayLike, wrong: ArrayLike, delta: float, thresholds: Iterable[float]
) -> Answering:
    """Take thresholds that were fixed before anything was known of the rows.

    >>> confidence = np.linspace(0, 1, 1000)
    >>> answering = at_thresholds(confidence, confidence < 0.1, 0.05, [0.8])
    >>> answering.points[0].answered, round(answering.errors[0], 4)
    (200, 0.0149)
    """
    own, mistaken = _read(confidence, wrong)
    fixed = [check_threshold("a threshold", value) for value in thresholds]
    if not fixed:
        raise ParameterError("there are no thresholds; give at least one, from 0 to 1")
    points = []
    for threshold in set(fixed):
        answered = own >= threshold
        n, k = int(np.count_nonzero(answered)), int(np.count_nonzero(mistaken[answered]))
        points.append(Point(threshold, n, k, n, n))
    return Answering(own.size, probability("delta", delta), len(points), _in_order(points))


def _in_order(points: Iterable[Point]) -> tuple[Point, ...]:
    return tuple(sorted(points, key=lambda point: point.threshold))


def check_threshold(name: str, value: object) -> float:
    """Check the least confidence with which a row is answered."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ParameterError(f"{name} is {value!r}; a confidence lies between 0 and 1")
    return float(value)


def _read(confidence: ArrayLike, wrong: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    own = np.asarray(confidence, dtype=np.float64)
    mistaken = np.asarray(wrong, dtype=np.bool_)
    if own.ndim != 1 or own.size == 0 or mistaken.shape != own.shape:
        raise DataError(
            f"confidence has shape {own.shape} and wrong {mistaken.shape}; one of each is needed "
            "for every row, and at least one row"
        )
    if not ((own >= 0) & (own <= 1)).all():
        raise DataError("a confidence is missing or not between 0 and 1")
    return own, mistaken
