"""An opening of straight lines: the result of a ridge regression, as trees of one column each.

Trees need many splits to follow a slope, and small samples allow few. So a run of squared or
logistic loss may begin with lines, one for each column of numbers. A line is a tree with a leaf for
every bin, whose value is proportional to the mean of the column there: it is constant outside the
range of the training rows. A missing value adds nothing. A trial chooses the strength of the lines
(docs/decisions/0022-straight-lines.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.tree import TreeRule
from pacboost.numerics import same_bits
from pacboost.numerics.same_bits import total, totals
from pacboost.samples.bins import Bins
from pacboost.samples.sample import Sample
from pacboost.training.run.openings import Opening

Floats = NDArray[np.float64]
PENALTY = 10.0
"""The ridge penalty in rows, for columns of variance 1."""
STEPS = 30
"""Number of steps of the regression of classes."""
MAX_NUMBERS_PER_BLOCK = 2**18
"""Maximum size of blocks in matrix products, so that they stay in the cache."""


@dataclass(frozen=True)
class StraightLines(Opening):
    """The lines of the ridge regression, times ``strength``."""

    strength: float = 1.0

    def rules(self, sample: Sample, start: Floats, unit: float) -> Sequence[TreeRule]:
        return lines_of(sample, self.strength, unit)


def lines_of(sample: Sample, strength: float, unit: float) -> list[TreeRule]:
    """Return the lines of the ridge regression, times ``strength``, steepest first."""
    bins = sample.bins
    assert bins is not None
    weights = np.broadcast_to(sample.base, sample.n_rows) / (total(sample.base) / sample.base.size)
    steps: dict[int, Floats] = {}
    for j in np.flatnonzero((bins.levels == 0) & (bins.sizes > 0)).tolist():
        heights = _heights(sample, bins, weights, j)
        if heights is not None:
            steps[j] = heights
    if not steps:
        return []
    rows = np.stack([heights[sample.column(j)] for j, heights in steps.items()])
    slopes = strength * (_to_numbers if sample.targets is not None else _to_classes)(
        sample, rows, weights
    )
    steepest = np.abs(slopes).max(axis=1).tolist()
    order = sorted(zip(steepest, slopes, steps, strict=True), key=lambda line: -line[0])
    lines = [
        _ladder(bins, j, np.rint(slope * steps[j][: bins.sizes[j] + 1, None] / unit) * unit)
        for _, slope, j in order
    ]
    return [line for line in lines if line.values.any()]


def _gram(rows: Floats, weights: Floats) -> Floats:
    matrix = np.empty((len(rows), len(rows)))
    for j, row in enumerate(rows):
        matrix[j, : j + 1] = matrix[: j + 1, j] = _sums(rows[: j + 1], (weights * row)[None])[:, 0]
    return matrix


def _sums(rows: Floats, factors: Floats) -> Floats:
    """Return the products of all rows with all rows of factors, summed exactly."""
    size = max(1, MAX_NUMBERS_PER_BLOCK // factors.size)
    return np.concatenate(
        [totals(rows[k : k + size, None] * factors) for k in range(0, len(rows), size)]
    )


def _to_numbers(sample: Sample, rows: Floats, weights: Floats) -> Floats:
    assert sample.targets is not None
    sides = _sums(weights * rows, sample.targets[None])
    return same_bits.solved(_gram(rows, weights) + PENALTY * np.eye(len(rows)), sides)


def _to_classes(sample: Sample, rows: Floats, weights: Floats) -> Floats:
    """Return the slopes of scores in a ridge regression of classes, (columns, outputs).

    Each step is Newton's with an upper bound on the curvature (Böhning 1992), so that no step is
    too long, and all steps share one matrix.
    """
    right = (sample.signs.T > 0).astype(np.float64)
    outputs, size = right.shape
    curvature = 0.25 if outputs == 1 else 0.5
    penalty = curvature * PENALTY
    hessian = curvature * _gram(rows, weights) + penalty * np.eye(len(rows))
    inverse = same_bits.solved(hessian, np.eye(len(rows)))
    shift, slopes = np.zeros(outputs), np.zeros((len(rows), outputs))
    for _ in range(STEPS):
        scores = np.repeat(shift[:, None], size, axis=1)
        for row, slope in zip(rows, slopes, strict=True):
            scores += slope[:, None] * row
        chances = same_bits.sigmoid(scores) if outputs == 1 else same_bits.softmax(scores.T).T
        missed = weights * (right - chances)
        shift += totals(missed) / (curvature * size)
        slopes += same_bits.product(inverse, _sums(rows, missed) - penalty * slopes)
    if outputs == 1:  # a score of two classes is half of their log odds
        return np.asarray(slopes / 2)
    return np.asarray(slopes - same_bits.row_totals(slopes)[:, None] / outputs)


def _heights(sample: Sample, bins: Bins, weights: Floats, feature: int) -> Floats | None:
    """Return the mean of a feature in every bin, in standard units: 0 where it is missing.

    None if the feature is the same everywhere.
    """
    codes, values = sample.column(feature), sample.table.column(feature).astype(np.float64)
    present = ~np.isnan(values)
    thresholds = bins.thresholds[feature].astype(np.float64)
    largest = max(np.abs(values[present]).max(initial=0.0), np.abs(thresholds).max())
    values = np.where(present, values / largest, 0.0)
    mass = np.bincount(codes, np.where(present, weights, 0.0), bins.missing + 1)
    weight = total(mass)
    if not weight:
        return None
    sums = np.bincount(codes, np.where(present, weights * values, 0.0), mass.size)
    empty = np.append(thresholds, np.full(mass.size - thresholds.size, thresholds[-1])) / largest
    means = np.where(mass > 0, sums / np.where(mass > 0, mass, 1.0), empty)
    heights = means - total(sums) / weight
    heights[bins.missing] = 0.0
    variance = total(mass * heights * heights) / weight
    return heights / math.sqrt(variance) if variance > 0 else None


def _ladder(bins: Bins, feature: int, values: Floats) -> TreeRule:
    """Return a tree with one leaf for every bin, and a leaf of value 0 for missing values."""
    cut, left, right = _ladder_splits(len(values))
    splits = cut.size
    return TreeRule(
        bins,
        feature=np.full(splits, feature, dtype=np.int32),
        cut=cut,
        missing_left=np.zeros(splits, dtype=np.bool_),
        left=left,
        right=right,
        member=np.full(splits, -1, dtype=np.int32),
        members=np.empty((0, 256), dtype=np.uint8),
        gain=np.zeros(splits),
        cover=np.zeros(2 * splits + 1),
        values=np.concatenate([values, np.zeros((1, values.shape[1]))]),
    )


@cache
def _ladder_splits(size: int) -> NDArray[np.int32]:
    """Return the cuts, the left and the right children of a tree with a leaf for each bin."""
    cut, left, right = [size - 1], [1], [~size]
    waiting = [(0, size)]
    while waiting:
        first, end = waiting.pop(0)
        middle = (first + end) // 2
        cut.append(middle - 1)
        for children, start, stop in ((left, first, middle), (right, middle, end)):
            if stop - start == 1:
                children.append(~start)
            else:
                waiting.append((start, stop))
                children.append(len(cut) + len(waiting) - 1)
    return np.array([cut, left, right], dtype=np.int32)
