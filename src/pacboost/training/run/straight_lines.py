"""A start by straight lines: what a ridge regression finds, as trees of one column each.

Trees need many splits to follow a slope, and few rows allow few. So a run of squared or logistic
loss may begin with lines, one for each column of numbers, and leave the rest to trees. A line is a
tree with a leaf for every bin, whose value follows the mean of the column there: it ends where
training rows end, and everything that reads trees can read it. A missing value adds nothing. How
much of the lines is taken is found by a trial (docs/decisions/0022-straight-lines.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.tree import TreeRule
from pacboost.numerics.same_bits import (
    product,
    row_totals,
    sigmoid,
    softmax,
    solved,
    total,
    totals,
)
from pacboost.samples.bins import Bins
from pacboost.samples.sample import Sample
from pacboost.training.run.openings import Opening

Floats = NDArray[np.float64]
PENALTY = 10.0
"""Added to the number of rows, in the equations of columns of variance 1."""
STEPS = 30
"""So many steps lead to the lines of classes."""
NUMBERS_AT_ONCE = 2**18
"""So many are multiplied at once, which stay in the cache."""


@dataclass(frozen=True)
class StraightLines(Opening):
    """The lines that fit the targets best, times ``strength``."""

    strength: float = 1.0

    def rules(self, sample: Sample, start: Floats, unit: float) -> Sequence[TreeRule]:
        return lines_of(sample, self.strength, unit)


def lines_of(sample: Sample, strength: float, unit: float) -> list[TreeRule]:
    """Return the lines that together fit the targets best, times ``strength``, steepest first."""
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
    found = sorted(zip(steepest, slopes, steps, strict=True), key=lambda line: -line[0])
    lines = [
        _ladder(bins, j, np.rint(slope * steps[j][: bins.sizes[j] + 1, None] / unit) * unit)
        for _, slope, j in found
    ]
    return [line for line in lines if line.values.any()]


def _gram(rows: Floats, weights: Floats) -> Floats:
    """Return how the columns vary together."""
    matrix = np.empty((len(rows), len(rows)))
    for j, row in enumerate(rows):
        matrix[j, : j + 1] = matrix[: j + 1, j] = _sums(rows[: j + 1], (weights * row)[None])[:, 0]
    return matrix


def _sums(rows: Floats, factors: Floats) -> Floats:
    """Return the sum of every row times every line of factors."""
    some = max(1, NUMBERS_AT_ONCE // factors.size)
    return np.concatenate(
        [totals(rows[k : k + some, None] * factors) for k in range(0, len(rows), some)]
    )


def _to_numbers(sample: Sample, rows: Floats, weights: Floats) -> Floats:
    """Return the slopes of a ridge regression, (columns, 1)."""
    assert sample.targets is not None
    sides = _sums(weights * rows, sample.targets[None])
    return solved(_gram(rows, weights) + PENALTY * np.eye(len(rows)), sides)


def _to_classes(sample: Sample, rows: Floats, weights: Floats) -> Floats:
    """Return the slopes of scores in a ridge regression of classes, (columns, outputs).

    Each step is Newton's with a bound of the curvature (Böhning 1992) in its place, so that none
    leads too far, and one matrix serves all.
    """
    right = (sample.signs.T > 0).astype(np.float64)
    outputs, size = right.shape
    curvature = 0.25 if outputs == 1 else 0.5
    penalty = curvature * PENALTY
    hessian = curvature * _gram(rows, weights) + penalty * np.eye(len(rows))
    inverse = solved(hessian, np.eye(len(rows)))
    shift, slopes = np.zeros(outputs), np.zeros((len(rows), outputs))
    for _ in range(STEPS):
        scores = np.repeat(shift[:, None], size, axis=1)
        for row, slope in zip(rows, slopes, strict=True):
            scores += slope[:, None] * row
        missed = weights * (right - (sigmoid(scores) if outputs == 1 else softmax(scores.T).T))
        shift += totals(missed) / (curvature * size)
        slopes += product(inverse, _sums(rows, missed) - penalty * slopes)
    if outputs == 1:  # a score of two classes is half of their log odds
        return np.asarray(slopes / 2)
    return np.asarray(slopes - row_totals(slopes)[:, None] / outputs)


def _heights(sample: Sample, bins: Bins, weights: Floats, feature: int) -> Floats | None:
    """Return the mean of a feature in every bin, in standard units: 0 where it is missing.

    None if the feature is the same everywhere.
    """
    codes, values = sample.column(feature), sample.table.column(feature).astype(np.float64)
    known = ~np.isnan(values)
    thresholds = bins.thresholds[feature].astype(np.float64)
    most = max(np.abs(values[known]).max(initial=0.0), np.abs(thresholds).max())
    values = np.where(known, values / most, 0.0)
    mass = np.bincount(codes, np.where(known, weights, 0.0), bins.missing + 1)
    whole = total(mass)
    if not whole:
        return None
    sums = np.bincount(codes, np.where(known, weights * values, 0.0), mass.size)
    empty = np.append(thresholds, np.full(mass.size - thresholds.size, thresholds[-1])) / most
    heights = np.where(mass > 0, sums / np.where(mass > 0, mass, 1.0), empty) - total(sums) / whole
    heights[bins.missing] = 0.0
    variance = total(mass * heights * heights) / whole
    return heights / math.sqrt(variance) if variance > 0 else None


def _ladder(bins: Bins, feature: int, values: Floats) -> TreeRule:
    """Make a tree of one leaf for every bin, and one of value 0 for what is missing."""
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
    """Return the cuts, the left and the right parts of a tree that tells so many bins apart."""
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
