"""Columns of means: what rows of each rarer level of a category had on average.

Codes tell 254 levels of a category apart, and the rarer ones are grouped. Their means are one
column of numbers more. A row that is learned from gets the mean of the rows before it, in a random
order, so that it does not see its own label; a new row gets the mean of all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.same_bits import total
from pacboost.sources.derived import DerivedColumn
from pacboost.sources.look_up import Level
from pacboost.sources.table import Table
from pacboost.sources.values import Values

MEANS: Final = "mean"
MIN_PRIOR_ROWS, MAX_PRIOR_ROWS = 1.0, 20.0
"""The rows of the mean of all rows that are added to those of a level; with more, there is none."""
MIN_LEVEL_ROWS = 2
"""Levels of fewer rows have no mean, and no model holds their names."""
DEVIATIONS_TO_BE_DEALT = 4.0
"""Labels were dealt to levels of a size if F is lower than 1 by this many standard deviations."""
LEVELS_TO_BE_JUDGED = 100
"""Sizes of few levels, among which even F = 0 may be chance, are judged with neighbours, together
so many levels."""
MAX_TARGET = 1e30


@dataclass(frozen=True)
class LevelMeans(DerivedColumn):
    """A column of the means of some levels of another column.

    >>> column = LevelMeans("mean", 0, 0, ("Ulm",), (0.25,))
    >>> column.name(["town"])
    'mean of town'
    """

    learned_otherwise: ClassVar[bool] = True
    levels: tuple[Level, ...] = ()
    means: tuple[float, ...] = ()

    def name(self, names: Sequence[str] | Mapping[int, str]) -> str:
        """Return the name of the column, by the names of all others."""
        return f"mean of {names[self.first]}"

    def of(self, table: Table) -> NDArray[np.float32]:
        """Return the mean of each row's level, NaN for levels without one."""
        if isinstance(table, LearningRows):
            return table.means[self.first]
        numbers = table.level_numbers(self.first, self.levels)
        means = np.array([*self.means, np.nan], dtype=np.float32)
        return means[np.where(np.isnan(numbers), -1, numbers).astype(np.intp)]


class LearningRows(Table):
    """Another table, whose rows were given means of rows before them."""

    def __init__(self, table: Table, means: Mapping[int, NDArray[np.float32]]) -> None:
        self._table, self.means = table, means
        self.n_rows, self.n_columns, self.width = table.n_rows, table.n_columns, table.width
        self.names, self.levels = table.names, table.levels

    def block(self, first: int, last: int) -> Values:
        """Return these columns of the other table."""
        return self._table.block(first, last)

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Return some of the rows, with the means that they were given."""
        means = {column: values[rows] for column, values in self.means.items()}
        return LearningRows(self._table.take(rows), means)

    def given(self, column: int, row: int) -> Any:
        """Return a cell as it was given."""
        return self._table.given(column, row)


def level_means(
    table: Table,
    column: int,
    targets: Values,
    weights: NDArray[np.float64] | None,
    seed: int,
) -> tuple[LevelMeans, NDArray[np.float32]] | None:
    """Return the means of grouped levels, and those that rows are given; None if they say nothing.

    >>> from pacboost.sources.arrays import CategorisedArray
    >>> from pacboost.sources.levels import Levels
    >>> towns = np.array(["Ulm", "Bonn", "Rom", "Rom", "Bonn", "Rom"], dtype=object)
    >>> rows = CategorisedArray(towns[:, None], Levels({0: ("Ulm",)}))
    >>> column, given = level_means(rows, 0, np.array([1.0, 0, 1, 1, 0, 1]), None, seed=0)
    >>> column.levels
    ('Bonn', 'Rom')
    """
    kept = set(table.levels.columns[column])
    others = tuple(level for level in table.every_level(column) if level not in kept)
    if not others or np.abs(targets).max() > MAX_TARGET:
        return None
    found = table.level_numbers(column, others)
    numbers = np.where(np.isnan(found), len(others), found).astype(np.intp)
    counts = np.bincount(numbers, minlength=len(others) + 1)[:-1]
    several = np.append((counts >= MIN_LEVEL_ROWS) & ~_dealt(numbers, targets, counts), False)
    if not several.any():
        return None
    each = np.ones(targets.size)
    if weights is not None:
        each = weights * (np.count_nonzero(weights) / total(weights))
    mean = total(each * targets) / total(each)
    is_level = several[numbers]
    prior = _prior_rows(numbers[is_level], targets[is_level] - mean, each[is_level])
    if prior is None:
        return None
    order = np.random.default_rng((seed, column)).permutation(targets.size)
    order = order[np.argsort(numbers[order], kind="stable")]  # level by level
    sums, sizes = each[order] * (targets[order] - mean), each[order]
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    before, after = _running(sums, starts)
    rows, all_rows = _running(sizes, starts)
    row_means = np.full(targets.size, np.nan, dtype=np.float32)
    row_means[order] = mean + before / (rows + prior)
    # of the first row of a level no more is known than of a new one
    row_means[order[starts]] = row_means[~is_level] = np.nan
    means = (mean + after / (all_rows + prior)).astype(np.float32)
    present = numbers[order[starts]]
    stored = {int(k): float(m) for k, m in zip(present, means, strict=True) if several[k]}
    levels = tuple(others[k] for k in stored)
    return LevelMeans(MEANS, column, column, levels, tuple(stored.values())), row_means


def _dealt(
    numbers: NDArray[np.intp], targets: Values, counts: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return a mask of the levels that differ by less than chance from others of their size.

    Of six runners of a race one wins: the rows before tell the label of the last one, and all rows
    together tell nothing. Trees would learn the first and predict by the second. Sizes of which
    there are few levels are judged together with the next ones.
    """
    some = numbers < counts.size
    values = targets - total(targets) / targets.size
    sums = np.bincount(numbers[some], values[some], minlength=counts.size)
    squares = np.bincount(numbers[some], values[some] ** 2, minlength=counts.size)
    dealt = np.zeros(counts.size, dtype=np.bool_)
    for sizes in _judged_together(counts[counts >= MIN_LEVEL_ROWS]):
        excess = variance = 0.0
        for size in sizes:
            own = counts == size
            levels = int(np.count_nonzero(own))
            rows = size * levels
            of_levels = total(sums[own] ** 2) / size
            between = of_levels - total(sums[own]) ** 2 / rows
            expected = (levels - 1) * (total(squares[own]) - of_levels) / (rows - levels)
            excess += between - expected
            variance += (expected * _deviation(size, levels)) ** 2
        if excess < -DEVIATIONS_TO_BE_DEALT * math.sqrt(variance):
            dealt |= np.isin(counts, sizes)
    return dealt


def _deviation(size: int, levels: int) -> float:
    """Return the standard deviation of Fisher's F for so many levels of a size."""
    return math.sqrt(2 / levels + 2 / (levels * (size - 1)))


def _judged_together(counts: NDArray[np.intp]) -> Iterator[list[int]]:
    """Yield sizes of levels, rising: one with many levels alone, neighbours with few together."""
    few: list[int] = []
    n_few = 0
    sizes, levels_of_size = np.unique(counts, return_counts=True)
    for size, levels in zip(sizes.tolist(), levels_of_size.tolist(), strict=True):
        if DEVIATIONS_TO_BE_DEALT * _deviation(size, levels) < 1:
            yield [size]
            continue
        few.append(size)
        n_few += levels
        if n_few >= LEVELS_TO_BE_JUDGED:
            yield few
            few, n_few = [], 0
    yield few


def _prior_rows(
    numbers: NDArray[np.intp], values: NDArray[np.float64], weights: NDArray[np.float64]
) -> float | None:
    """Return how many rows say as much as a level; None if levels differ by little or by chance.

    Fisher's F is the variance between levels over that within them.
    """
    each = np.unique(numbers, return_inverse=True)[1]
    rows, sums = np.bincount(each, weights), np.bincount(each, weights * values)
    levels, counting = np.count_nonzero(rows), np.count_nonzero(weights)
    if not 1 < levels < counting:
        return None
    of_levels = total(sums[rows > 0] ** 2 / rows[rows > 0])
    between = (of_levels - total(sums) ** 2 / total(rows)) / (levels - 1)
    within = (total(weights * values**2) - of_levels) / (counting - levels)
    if between <= within * (1 + 2 * math.sqrt(2 / levels)):
        return None
    prior = total(rows) / levels * within / (between - within)
    return None if prior > MAX_PRIOR_ROWS else max(prior, MIN_PRIOR_ROWS)


def _running(
    values: NDArray[np.float64], starts: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sum before each value of its group, and the sum of each group."""
    sums = np.cumsum(values)  # one after the other, on any machine
    sizes = np.diff(np.append(starts, values.size))
    before = np.append(0.0, sums[:-1])  # without the row's own value, not even its rounding
    first = before[starts]
    ends = sums[np.append(starts[1:], values.size) - 1]
    return before - np.repeat(first, sizes), ends - first
