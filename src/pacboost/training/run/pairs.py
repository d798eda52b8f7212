"""Pairs of columns, ranked by what they would add to a vote of single ones.

As in FAST (Lou, Caruana, Gehrke and Hooker 2013), a pair is looked at on a grid: both columns are
divided into a few groups of about as many rows each, and a cell of the grid adds the mean pull of
its rows. How much loss that takes off a row is measured with the mean of the other rows of its
cell, so a pair whose cells follow chance alone takes off nothing, however many cells it has.
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
FEWEST_GROUPS, MOST_GROUPS = 3, 12
"""A column has so many groups, as there are rows for their pairs."""
MOST_COLUMNS = 150
"""Pairs are looked for among so many columns, those that the vote uses most."""
SHRUNK = 40.0
"""Rows of mean weight without pull that are added to each cell."""

Groups = NDArray[np.intp]
Floats = NDArray[np.float64]


def best_pairs(
    count: int, vote: Vote, booster: Booster[Any], sample: Sample
) -> list[tuple[int, int]]:
    """Return the pairs of columns that take most off the loss of a vote, best first."""
    bins = sample.bins
    assert bins is not None
    columns = np.flatnonzero(bins.sizes > 0)
    if columns.size > MOST_COLUMNS:
        used = np.argsort(-vote.gains(bins.sizes.size)[columns], kind="stable")
        columns = np.sort(columns[used[:MOST_COLUMNS]])
    pulls, weights = _asked(vote, booster, sample)
    size = int(min(MOST_GROUPS, max(FEWEST_GROUPS, (sample.n_rows / ROWS_PER_CELL) ** 0.5)))
    groups = {j: _groups(sample, j, size) for j in columns.tolist()}
    gains = {
        (i, j): _gain(groups[i] * (size + 1) + groups[j], pulls, weights)
        for i, j in combinations(groups, 2)
    }
    return sorted(gains, key=lambda pair: (-gains[pair], pair))[:count]


def _asked(vote: Vote, booster: Booster[Any], sample: Sample) -> tuple[Floats, Floats]:
    """Return the pulls and weights of rows after a vote, (outputs, rows)."""
    scores = vote.scores(sample.table).reshape(sample.n_rows, -1)
    margins = scores if sample.targets is not None else scores * sample.signs
    state = booster.init(sample.signs, sample.base, sample.targets)
    memory = booster.memory(state)
    request = booster.request(booster.resume(state, margins, vote.votes.tolist(), memory))
    pulls = request.weights * request.pulls if request.signed else request.pulls
    return np.array(pulls.T, np.float64), np.array(request.weights.T, np.float64)


def _groups(sample: Sample, column: int, size: int) -> Groups:
    """Return the group of every row: neighbours of numbers, rare levels; missing is the last."""
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
    """Return how much loss a grid takes off rows, each by what the others of its cell ask for."""
    gain = 0.0
    for pull, weight in zip(pulls, weights, strict=True):
        sums, squares, weighs = (np.bincount(cells, own) for own in (pull, pull * pull, weight))
        gain += total((sums * sums - squares) / (weighs + SHRUNK * weight.mean()))
    return gain
