"""A start by straight lines: what a ridge regression finds, as trees of one column each.

Trees need many splits to follow a slope, and few rows allow few. So a run of squared or logistic
loss may begin with lines, one for each column of numbers, and leave the rest to trees. A line is a
tree with a leaf for every bin, whose value follows the mean of the column there: it ends where
training rows end, and everything that reads trees can read it. A missing value adds nothing. How
much of the lines is taken is found by a trial (docs/decisions/0022-straight-lines.md).

A run over words may begin with a linear function of all of them, which is one list of words
(docs/decisions/0026-a-linear-start-for-texts.md).
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.word_list import GRID, WordList
from pacboost.kernels.runtime.threads import each_columns
from pacboost.kernels.words import separate
from pacboost.numerics.exact import FRESH_TOTAL
from pacboost.numerics.same_bits import (
    log,
    product,
    row_totals,
    sigmoid,
    softmax,
    solved,
    total,
    totals,
)
from pacboost.samples.bins import Bins
from pacboost.samples.sample import Sample, Sums
from pacboost.sources.sparse import words_of

Floats = NDArray[np.float64]
PENALTY = 10.0
"""Added to the number of rows, in the equations of columns of variance 1."""
STEPS = 30
"""So many steps lead to the lines of classes."""
NUMBERS_AT_ONCE = 2**18
"""So many are multiplied at once, which stay in the cache."""
COST, PASSES = 2.0, 20
"""Of words: what a row costs that is not clearly right, and so many passes over all rows."""
HEIGHTS = 4.0, 6.0
"""The score of a text of usual length that is clearly right, of two classes and of more."""
MOST_VALUES = 9_000_000
"""Beyond so many numbers, the words that the fewest rows hold have no values."""


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


def with_gain(line: Any, sums: Sums, booster: Any) -> Any:
    """Write down what a line wins: as much as trees of a small rate win in all their rounds."""
    won = total(line.values * sums.pulls) ** 2 / FRESH_TOTAL
    gain = np.zeros(line.gain.size)
    rate = booster.learning_rate
    gain[0] = won / (total(line.values * line.values * sums.weights) * rate * (2 - rate))
    return replace(line, gain=gain)


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


def all_words(sample: Sample, strength: float, prior: Floats) -> WordList:
    """Return the linear function of words that a support vector machine finds for each output.

    Words count by the logarithm of how few rows hold them, and all rows have the same length: so
    texts of any length say what their words say together. What the machine says of all rows takes
    the place of the ``prior`` scores, as far as a text has words: these share it by their squares,
    and a text of the median length has it once. Words that a single row holds are added up while
    the functions are found: what they say follows from how much their row pushes.
    """
    table, outputs = words_of(sample.table), sample.signs.shape[1]
    rows = np.repeat(np.arange(table.n_rows, dtype=np.int32), np.diff(table.starts))
    counts = np.bincount(table.words, minlength=table.n_columns)
    several = counts > 1
    rarities = 1.0 + log((1.0 + table.n_rows) / (1.0 + counts))
    values = rarities[table.words]
    lengths = np.sqrt(np.bincount(rows, values * values, table.n_rows))
    values /= lengths[rows]
    alone = ~several[table.words]
    weights = np.broadcast_to(sample.base, table.n_rows) / (total(sample.base) / sample.base.size)
    generator = np.random.default_rng(0)
    orders = [generator.permutation(table.n_rows).astype(np.int32) for _ in range(PASSES)]
    slopes, pushes = np.zeros((int(several.sum()) + 1, outputs)), np.zeros(sample.signs.shape)
    given = (
        np.searchsorted(rows[~alone], np.arange(table.n_rows + 1)),
        (np.cumsum(several, dtype=np.int32) - 1)[table.words[~alone]],
        values[~alone],
        np.bincount(rows[alone], values[alone] ** 2, table.n_rows).astype(np.float64),
        sample.signs,
        COST * weights,
        np.stack(orders),
    )
    each_columns(
        lambda first, last: separate(*given, first, last, slopes, pushes), outputs, rows.size
    )
    height = strength * HEIGHTS[outputs > 1]
    heights = np.zeros((table.n_columns + 1, outputs))
    heights[:-1][several] = slopes[:-1]
    pushed = pushes[rows[alone]]
    pushed *= sample.signs[rows[alone]]
    pushed *= values[alone][:, None]
    heights[table.words[alone]] = pushed
    usual = rarities / max(1.0, float(np.median(lengths)))
    for output, always in enumerate(height * slopes[-1] - prior):
        heights[:-1, output] *= height * usual
        heights[:-1, output] += always * (usual * usual)
    if outputs > 1:
        heights -= (row_totals(heights) / outputs)[:, None]
    heights /= GRID
    np.rint(heights, out=heights)
    heights *= GRID
    heights += 0.0
    most = np.maximum(heights.max(axis=1), -heights.min(axis=1))
    kept = np.argsort(-counts, kind="stable")[: MOST_VALUES // outputs]
    kept = kept[(most[kept] > 0) & (counts[kept] > 0)]
    asked = kept[np.argsort(-most[kept], kind="stable")]
    chosen = np.append(asked, table.n_columns)
    return WordList(asked.astype(np.int32), heights[chosen], every=True)
