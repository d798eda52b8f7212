"""Pairs of columns, ranked by how much they would reduce the loss of a vote of single columns.

As in FAST (Lou, Caruana, Gehrke and Hooker 2013), a pair is evaluated on a grid: both columns are
divided into a few groups of about equal size, and a cell of the grid adds the mean pull of its
rows. The gain of a row is measured with the mean of the other rows of its cell, so that a pair of
pure noise gains nothing on average, for any number of cells.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Booster
from pacboost.hypotheses.vote import Vote
from pacboost.numerics.same_bits import total
from pacboost.samples.sample import Sample

ROWS_PER_CELL = 50
MIN_GROUPS, MAX_GROUPS = 3, 12
"""Number of groups of a column, which grows with the number of rows."""
MAX_COLUMNS = 150
"""Maximum number of columns whose pairs are evaluated: those that the vote uses most."""
ROWS_OF_SHRINKAGE = 40.0
"""Rows of mean weight and no pull that are added to each cell."""

Groups = NDArray[np.intp]
Floats = NDArray[np.float64]


def best_pairs(
    count: int, vote: Vote, booster: Booster[Any], sample: Sample
) -> list[tuple[int, int]]:
    """Return the pairs of columns that reduce the loss of a vote most, best first."""
    bins = sample.bins
    assert bins is not None
    columns = np.flatnonzero(bins.sizes > 0)
    if columns.size > MAX_COLUMNS:
        used = np.argsort(-vote.gains(bins.sizes.size)[columns], kind="stable")
        columns = np.sort(columns[used[:MAX_COLUMNS]])
    pulls, weights = _pulls_and_weights(vote, booster, sample)
    size = int(min(MAX_GROUPS, max(MIN_GROUPS, (sample.n_rows / ROWS_PER_CELL) ** 0.5)))
    groups = {j: _groups(sample, j, size) for j in columns.tolist()}
    gains = {
        (i, j): _gain(groups[i] * (size + 1) + groups[j], pulls, weights)
        for i, j in combinations(groups, 2)
    }
    return sorted(gains, key=lambda pair: (-gains[pair], pair))[:count]


def _pulls_and_weights(vote: Vote, booster: Booster[Any], sample: Sample) -> tuple[Floats, Floats]:
    """Return the pulls and weights of rows after a vote, (outputs, rows)."""
    scores = vote.scores(sample.table).reshape(sample.n_rows, -1)
    margins = scores if sample.targets is not None else scores * sample.signs
    state = booster.init(sample.signs, sample.base, sample.targets)
    memory = booster.memory(state)
    request = booster.request(booster.resume(state, margins, vote.votes.tolist(), memory))
    pulls = request.weights * request.pulls if request.signed else request.pulls
    return np.array(pulls.T, np.float64), np.array(request.weights.T, np.float64)


def _groups(sample: Sample, column: int, size: int) -> Groups:
    """Return the group of every row: ranges of numbers, or levels; rare levels share one group."""
    bins, codes = sample.bins, sample.column(column)
    assert bins is not None
    rows = np.bincount(codes, minlength=bins.missing + 1)
    rows[bins.missing] = 0
    if bins.levels[column]:
        group = np.full(rows.size, size - 1)
        group[np.argsort(-rows, kind="stable")[: size - 1]] = np.arange(min(size - 1, rows.size))
    else:
        group = (np.cumsum(rows) - (rows + 1) // 2) * size // max(1, int(rows.sum()))
    group[bins.missing] = size
    return group[codes]


def _gain(cells: Groups, pulls: Floats, weights: Floats) -> float:
    """Return how much a grid reduces the loss, if other rows of a cell predict each row."""
    gain = 0.0
    for pull, weight in zip(pulls, weights, strict=True):
        columns = pull, pull * pull, weight
        sums, squares, masses = (np.bincount(cells, column) for column in columns)
        gain += total((sums * sums - squares) / (masses + ROWS_OF_SHRINKAGE * weight.mean()))
    return gain
