"""How well scores separate a class from the others, counted on rows: the points of ROC curves.

Rows are sorted by the score of a class, the largest first, and counted between some places: by
these counts, the curves of true and false positives and of precision and recall can be drawn
without the rows. The areas below the curves are computed from all rows. Everything here is an
estimate, never a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.numerics.same_bits import total

Counts = NDArray[np.int64]
Doubles = NDArray[np.float64]

POINTS = 100
"""Between two points of a curve lies about this fraction of the rows of the class, or of others."""
MOST_CLASSES = 50
"""If there are more classes, the most frequent ones have curves."""
MOST_ROWS = 200_000
"""If there are more rows, so many of them are counted, evenly spaced."""


@dataclass(frozen=True, eq=False)
class RankCounts:
    """Rows of one class and of the others, counted by falling scores of the class.

    >>> found = RankCounts.of([True, False, True, False], [0.9, 0.8, 0.8, 0.1])
    >>> found.positive.tolist(), found.negative.tolist(), found.auc
    ([1, 1, 0], [0, 1, 1], 0.875)
    """

    positive: Counts
    """Rows of the class between two places."""
    negative: Counts
    """Rows of other classes there."""
    auc: float
    """The area under the ROC curve: how often a row of the class has the larger score."""
    average_precision: float
    """The area under the precision-recall curve, as steps."""

    @classmethod
    def of(cls, own: ArrayLike, scores: ArrayLike) -> RankCounts | None:
        """Count rows, ``own`` says which belong to the class; None without rows of both kinds."""
        is_own, values = np.asarray(own, dtype=np.bool_), np.asarray(scores, dtype=np.float64)
        step = -(-is_own.size // MOST_ROWS) or 1
        is_own, values = is_own[::step], values[::step]
        if is_own.all() or not is_own.any() or np.isnan(values).any():
            return None
        order = np.argsort(-values, kind="stable")
        is_own, values = is_own[order], values[order]
        ends = np.flatnonzero(np.append(values[1:] != values[:-1], True)) + 1  # equal ones together
        hits = np.cumsum(is_own, dtype=np.int64)[ends - 1]
        misses = ends - hits
        widths, heights = np.diff(misses, prepend=0), np.diff(hits, prepend=0)
        area = float((widths * (hits - heights / 2)).sum() / (hits[-1] * misses[-1]))
        precise = total(heights * hits / ends) / float(hits[-1])
        kept = _places(hits, misses)
        positive, negative = (np.diff(part[kept], prepend=0) for part in (hits, misses))
        return cls(positive.astype(np.int64), negative.astype(np.int64), area, precise)

    @property
    def rates(self) -> tuple[Doubles, Doubles]:
        """False and true positive rates, from (0, 0) to (1, 1)."""
        negative, positive = (
            np.concatenate([[0], np.cumsum(part)]) for part in (self.negative, self.positive)
        )
        return negative / negative[-1], positive / positive[-1]

    @property
    def precisions(self) -> tuple[Doubles, Doubles]:
        """Recall, and the precision at it."""
        positive, negative = np.cumsum(self.positive), np.cumsum(self.negative)
        return positive / positive[-1], positive / (positive + negative)

    @property
    def share(self) -> float:
        """The share of the rows that are of the class."""
        return float(self.positive.sum() / (self.positive.sum() + self.negative.sum()))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for a file."""
        names = ("positive", "negative", "auc", "average_precision")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> RankCounts:
        """Read what ``to_dict`` gave, and refuse counts that no rows could have given."""
        made = cls(**content)
        counts = (made.positive, made.negative)
        if not all(isinstance(part, np.ndarray) and part.dtype == np.int64 for part in counts):
            raise ValueError("positive and negative have to be arrays of int64")
        if made.positive.ndim != 1 or made.positive.shape != made.negative.shape:
            raise ValueError("positive and negative have to be of one length")
        if any((part < 0).any() or not part.any() for part in counts):
            raise ValueError("positive and negative have to be 0 or more, and not all of them 0")
        for area in (made.auc, made.average_precision):
            if not isinstance(area, float) or not 0 <= area <= 1:
                raise ValueError("areas have to be between 0 and 1")
        return made


def _places(hits: Counts, misses: Counts) -> NDArray[np.intp]:
    """Choose the points to keep: evenly among the rows of the class and among the others."""
    wanted = [np.linspace(0, part[-1], POINTS + 1)[1:] for part in (hits, misses)]
    found = [np.searchsorted(part, at) for part, at in zip((hits, misses), wanted, strict=True)]
    return np.unique(np.concatenate([[0], *found, [hits.size - 1]]))


def rank_counts(
    own: NDArray[Any], probabilities: Doubles | None, classes: int
) -> dict[int, RankCounts]:
    """Count for each class, by its number; of two classes for the second one.

    ``own`` holds the number of the class of each row, or with several labels (rows, labels) of 0
    and 1; ``probabilities`` has a column for each class or label.

    >>> sorted(rank_counts(np.array([0, 1, 2]), np.eye(3), 3))
    [0, 1, 2]
    """
    if probabilities is None or probabilities.ndim != 2 or probabilities.shape[1] != classes:
        return {}
    several = own.ndim == 2
    sizes = own.sum(axis=0) if several else np.bincount(own, minlength=classes)[:classes]
    numbers: Sequence[int] = np.argsort(-sizes, kind="stable")[:MOST_CLASSES].tolist()
    if classes <= 2 and not several:
        numbers = [classes - 1]
    found = {}
    for k in sorted(numbers):
        counted = RankCounts.of(own[:, k] > 0 if several else own == k, probabilities[:, k])
        if counted is not None:
            found[k] = counted
    return found
