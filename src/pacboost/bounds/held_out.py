"""Counts of the certifying rows that are stored with the model, besides the number of mistakes.

They give the error of a constant answer, the confusion matrix, and the ROC curves of the scores.
All are estimates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.numerics.same_bits import total

Counts = NDArray[np.int64]
Doubles = NDArray[np.float64]

POINTS = 100
"""Between two points of a curve lies about 1/POINTS of the rows of the class, or of others."""
MAX_CLASSES_WITH_CURVES = 50
"""If there are more classes, only the most frequent have curves."""
MAX_ROWS_COUNTED = 200_000
"""If there are more rows, at most this many are counted, evenly spaced."""


@dataclass(frozen=True, eq=False)
class RankCounts:
    """Cumulative counts of the rows of one class and of the others, by falling score."""

    positive: Counts
    """Rows of the class between two places."""
    negative: Counts
    auc: float
    """The area under the ROC curve: how often a row of the class has the larger score."""
    average_precision: float
    """The area under the precision-recall curve, as steps."""

    @classmethod
    def of(cls, own: ArrayLike, scores: ArrayLike) -> RankCounts | None:
        """Count rows by score; ``own`` marks rows of the class. None if all are, or none."""
        is_own, values = np.asarray(own, dtype=np.bool_), np.asarray(scores, dtype=np.float64)
        step = -(-is_own.size // MAX_ROWS_COUNTED) or 1
        is_own, values = is_own[::step], values[::step]
        if is_own.all() or not is_own.any() or np.isnan(values).any():
            return None
        order = np.argsort(-values, kind="stable")
        is_own, values = is_own[order], values[order]
        ends = np.flatnonzero(np.append(values[1:] != values[:-1], True)) + 1  # equal ones together
        hits = np.cumsum(is_own, dtype=np.int64)[ends - 1]
        misses = ends - hits
        widths, heights = np.diff(misses, prepend=0), np.diff(hits, prepend=0)
        # trapezoids: rows of equal score count as half in order, as in the definition of the AUC
        area = float((widths * (hits - heights / 2)).sum() / (hits[-1] * misses[-1]))
        precise = total(heights * hits / ends) / float(hits[-1])
        places = _places(hits, misses)
        positive, negative = (np.diff(part[places], prepend=0) for part in (hits, misses))
        return cls(positive.astype(np.int64), negative.astype(np.int64), area, precise)

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of rows of the class, and of others."""
        return int(self.positive.sum()), int(self.negative.sum())

    @property
    def rates(self) -> tuple[Doubles, Doubles]:
        """False and true positive rates, from (0, 0) to (1, 1)."""
        negative, positive = (
            np.concatenate([[0], np.cumsum(part)]) for part in (self.negative, self.positive)
        )
        return negative / negative[-1], positive / positive[-1]

    @property
    def precisions(self) -> tuple[Doubles, Doubles]:
        """Return recall, and the precision at each."""
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
        """Read the result of ``to_dict``; refuse impossible counts."""
        counted = cls(**content)
        _check_counts(counted.positive, counted.negative)
        if not counted.positive.any() or not counted.negative.any():
            raise ValueError("positive and negative have to be counts, some of them above 0")
        for area in (counted.auc, counted.average_precision):
            if not isinstance(area, float) or not 0 <= area <= 1:
                raise ValueError("areas have to be between 0 and 1")
        return counted


def _check_counts(*parts: Counts) -> None:
    """Raise an error unless all lists of counts have one length and none is negative."""
    if not all(isinstance(part, np.ndarray) and part.dtype == np.int64 for part in parts):
        raise ValueError("counts have to be arrays of int64")
    if any(part.ndim != 1 or part.shape != parts[0].shape or (part < 0).any() for part in parts):
        raise ValueError("counts have to be of one length, and 0 or more")


def _places(hits: Counts, misses: Counts) -> NDArray[np.intp]:
    """Choose points to keep, evenly spaced among the rows of the class and among the others."""
    targets = [np.linspace(0, part[-1], POINTS + 1)[1:] for part in (hits, misses)]
    places = [np.searchsorted(part, at) for part, at in zip((hits, misses), targets, strict=True)]
    return np.unique(np.concatenate([[0], *places, [hits.size - 1]]))


def rank_counts(
    labels: NDArray[Any], probabilities: Doubles | None, classes: int
) -> dict[int, RankCounts]:
    """Return the ``RankCounts`` of each class by its number; of two classes, only the second.

    ``labels`` are class numbers, or 0 and 1 in (rows, labels); each has a column of probabilities.
    """
    if probabilities is None or probabilities.ndim != 2 or probabilities.shape[1] != classes:
        return {}
    several = labels.ndim == 2
    sizes = labels.sum(axis=0) if several else np.bincount(labels, minlength=classes)[:classes]
    numbers: Sequence[int] = np.argsort(-sizes, kind="stable")[:MAX_CLASSES_WITH_CURVES].tolist()
    if classes <= 2 and not several:
        numbers = [classes - 1]
    counts_of = {}
    for k in sorted(numbers):
        counted = RankCounts.of(labels[:, k] > 0 if several else labels == k, probabilities[:, k])
        if counted is not None:
            counts_of[k] = counted
    return counts_of


MAX_CLASSES_COMPARED = 8
"""Labels are compared with this many classes one by one; looking labels up took as long as ten."""
RARE = 0.4
"""A class is rare if it has fewer rows than this share of an even division among the classes."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Counts of the classes of certifying rows and of their predictions.

    ``count[k]`` rows of class number ``own[k]`` were predicted to be of class number ``said[k]``; a
    label that is not a class has the number after the last, and so has the prediction of a tie that
    fell on the right class, which counts as wrong. So rows are wrong where ``own`` and ``said``
    differ. All three are empty if a row may have several labels.
    """

    rows: int
    labels: int
    """Number of labels that a row may have at once; 0 if it has exactly one."""
    commonest: tuple[int, ...]
    """The most frequent class of the rows; with several labels, the most frequent set of them."""
    baseline_wrong: int
    own: Counts
    said: Counts
    count: Counts
    ranks: Mapping[int, RankCounts] = field(default_factory=dict)
    """The points of the ROC curve of each class, by its number; empty without scores."""

    @classmethod
    def of(
        cls,
        labels: Any,
        said: Any,
        classes: NDArray[Any],
        probabilities: NDArray[np.float64] | None = None,
        wrong: NDArray[np.bool_] | None = None,
    ) -> HeldOut | None:
        """Count labels and predictions; None if there are no rows, or no class is among the labels.

        ``probabilities`` has a column for each class; only its order matters. ``wrong`` marks the
        rows that count as mistakes, ties among them.
        """
        labels, said = np.asarray(labels), np.asarray(said)
        if labels.ndim == 2:
            return _of_several(labels, probabilities)
        pairs = np.column_stack([class_numbers(labels, classes), class_numbers(said, classes)])
        class_sizes = np.bincount(pairs[pairs[:, 0] < classes.size, 0], minlength=1)
        if not class_sizes.any():
            return None
        # a tie that falls on the right class is a mistake in every certificate, so the table must
        # not show it as right
        if wrong is not None:
            pairs[np.asarray(wrong) & (pairs[:, 0] == pairs[:, 1]), 1] = classes.size
        keys, count = np.unique(pairs @ [classes.size + 1, 1], return_counts=True)
        commonest = int(class_sizes.argmax())
        others = labels.size - int(class_sizes[commonest])
        true_class, answered = np.divmod(keys.astype(np.int64), classes.size + 1)
        ranks = rank_counts(pairs[:, 0], probabilities, classes.size)
        counts = true_class, answered, count.astype(np.int64)
        return cls(labels.size, 0, (commonest,), others, *counts, ranks)

    @property
    def wrong(self) -> int:
        """The number of rows that were predicted wrongly, ties included; 0 without a table."""
        return int(self.count[self.own != self.said].sum())

    @property
    def baseline(self) -> float:
        """The error of always giving the most common answer, on these rows."""
        return self.baseline_wrong / self.rows

    def matrix(self, classes: int) -> Counts:
        """Return the confusion matrix: a row for each class, a column for each prediction."""
        matrix = np.zeros((classes, classes), dtype=np.int64)
        valid = (self.own < classes) & (self.said < classes)
        matrix[self.own[valid], self.said[valid]] = self.count[valid]
        return matrix

    def rare(self, classes: int) -> list[tuple[int, int, int]]:
        """Return number, rows and correctly predicted rows of each rare class, the rarest first."""
        sizes = np.zeros(classes + 1, dtype=np.int64)
        np.add.at(sizes, np.minimum(self.own, classes), self.count)
        rows, right = sizes[:classes], np.diag(self.matrix(classes))
        limit = RARE * self.rows / classes if classes else 0.0
        rare = [k for k in np.argsort(rows, kind="stable").tolist() if 0 < rows[k] < limit]
        return [(k, int(rows[k]), int(right[k])) for k in rare]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for a file."""
        names = ("rows", "labels", "commonest", "baseline_wrong", "own", "said", "count")
        content = {name: getattr(self, name) for name in names}
        content["commonest"] = list(self.commonest)
        ranks = [{"class": k, **counts.to_dict()} for k, counts in self.ranks.items()]
        return {**content, "ranks": ranks} if ranks else content

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> HeldOut:
        """Read the result of ``to_dict``; refuse counts that contradict each other."""
        ranks = _ranks_read(content.get("ranks", ()))
        held_out = cls(**{**content, "commonest": tuple(content["commonest"]), "ranks": ranks})
        numbers = (held_out.rows, held_out.labels, held_out.baseline_wrong, *held_out.commonest)
        if not all(type(number) is int and number >= 0 for number in numbers):
            raise ValueError("counts have to be whole numbers, 0 or more")
        _check_counts(held_out.own, held_out.said, held_out.count)
        if not 0 <= held_out.baseline_wrong <= held_out.rows or held_out.rows == 0:
            raise ValueError("more rows are wrong than there are")
        if not held_out.labels and (
            len(held_out.commonest) != 1 or int(held_out.count.sum()) != held_out.rows
        ):
            raise ValueError("the counts do not sum to the number of rows")
        return held_out


def _ranks_read(content: Sequence[dict[str, Any]]) -> dict[int, RankCounts]:
    counts = {}
    for part in content:
        number = part["class"]
        if type(number) is not int or number < 0:
            raise ValueError("a class has to be a whole number, 0 or more")
        rest = {name: value for name, value in part.items() if name != "class"}
        counts[number] = RankCounts.from_dict(rest)
    return counts


def _of_several(labels: NDArray[Any], probabilities: NDArray[np.float64] | None) -> HeldOut | None:
    if not len(labels):
        return None
    sets, counts = np.unique(labels != 0, axis=0, return_counts=True)
    commonest_set = int(counts.argmax())
    commonest = tuple(np.flatnonzero(sets[commonest_set]).tolist())
    none = np.empty(0, dtype=np.int64)
    wrong = len(labels) - int(counts[commonest_set])
    indicators = (labels != 0).astype(np.int64)
    ranks = rank_counts(indicators, probabilities, labels.shape[1])
    return HeldOut(len(labels), labels.shape[1], commonest, wrong, none, none, none, ranks)


def class_numbers(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the class number of each label; unknown labels get the number of classes."""
    if labels.dtype.kind == classes.dtype.kind and labels.dtype.kind in "biu" and classes.size:
        order = np.argsort(classes, kind="stable")
        at = np.searchsorted(classes, labels, side="right", sorter=order) - 1
        return np.where(classes[order[at]] == labels, order[at], classes.size)
    if labels.dtype.kind == classes.dtype.kind != "O" and classes.size <= MAX_CLASSES_COMPARED:
        numbers = np.full(labels.size, classes.size, dtype=np.intp)
        for number, name in enumerate(classes):
            numbers[labels == name] = number
        return numbers
    places = {name: number for number, name in enumerate(classes.tolist())}
    return np.array([places.get(label, classes.size) for label in labels.tolist()], dtype=np.intp)


def named(held_out: HeldOut, names: Sequence[str]) -> str:
    """Return the name of the most common answer."""
    quoted = [f"'{names[k]}'" for k in held_out.commonest if k < len(names)]
    return " and ".join(quoted) if quoted else "no label"
