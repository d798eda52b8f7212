"""From the scores of held-out rows to thresholds, and counts at each of them.

No threshold stands on a score: a row that is scored alone, or among other rows, may differ in the
last bits of its score. Thresholds are taken from borders that were fixed beforehand, and lie where
the last bits of short numbers do not (docs/proofs/thresholds.md, "Where thresholds stand").
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.bounds.answering import Answering
from pacboost.bounds.target import Point
from pacboost.errors import DataError, ParameterError
from pacboost.numerics.checks import plain_numbers, positive_whole, probability

RANKS = 20
"""The default number of thresholds: at each, a twentieth more of the rows is answered."""


@dataclass(frozen=True)
class Borders:
    """Numbers between which scores are taken to be equal: every 2^bits-th float, and 0.

    >>> borders = Borders()
    >>> below = borders.below([0.3, 0.3 + 1e-15, 0.3 + 1e-9, 0.0, np.inf])
    >>> bool(below[0] == below[1] < 0.3 < borders.above(0.3) <= below[2]), below[3:].tolist()
    (True, [0.0, inf])
    """

    bits: int = 20

    @classmethod
    def of(cls, scores: NDArray[Any]) -> Borders:
        """Return those for scores of this type; 32-bit floats differ in earlier bits."""
        return cls(20 if scores.dtype.itemsize >= 8 else 38)

    def below(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return the largest border that is at most each score; infinities stay."""
        own = np.array(scores, dtype=np.float64)
        found = _floats(np.maximum(self._floor(_places(own)), -_LAST))
        found = np.where(own >= 0, np.maximum(found, 0.0), found)
        return np.where(np.isfinite(own), found, own)

    def above(self, score: float) -> float:
        """Return the smallest border that is larger than a score."""
        place = np.maximum(_places(np.array([score])), -_LAST - 1)
        found = np.minimum(self._floor(place) + (1 << self.bits), _LAST + 1)
        return float(_floats(found)[0]) if score >= 0 else float(min(_floats(found)[0], 0.0))

    def _floor(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        start = int(0.6180339887498949 * 2**self.bits)
        return ((places - start) >> self.bits << self.bits) + start


_LAST = int(np.array(np.finfo(np.float64).max).view(np.int64))


def _places(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Number all floats in their order, 0 being number 0."""
    bits = values.view(np.int64)
    return np.where(bits < 0, -(bits & np.int64(2**63 - 1)), bits)


def _floats(places: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(places < 0, -np.abs(places).view(np.float64), np.abs(places).view(np.float64))


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
