"""The rows of a table with their signs and starting weights, and requests for rules on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.threads import ROWS_FOR_CHEAP_KERNELS, each_rows
from pacboost.numerics.exact import FRESH_TOTAL
from pacboost.numerics.same_bits import total
from pacboost.samples.bins import Bins, Codes
from pacboost.samples.sparse_codes import SparseCodes
from pacboost.sources.table import Table

Signs = NDArray[np.int8]
MAX_DENSE_COLUMNS, MAX_DENSE_CELLS = 512, 2**26
"""Sparse tables of up to these sizes are learned from as dense codes, of one byte for each cell.

That takes .5 to .8 of the time up to 500 columns, whatever the density, as one-hot columns share
lanes; with 1,000 columns 1.4 times as long, with 2,000 two to three times."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Examples as the loop sees them.

    ``signs`` is (rows, outputs) in {-1, +1}: one column for two classes, else one a class or label;
    ``base`` holds the starting weight of each row, or one number when all are equal.
    """

    table: Table
    signs: Signs
    base: NDArray[np.float64] = field(default_factory=lambda: np.ones(1))
    bins: Bins | None = None
    answers: tuple[str, ...] = ("−", "+")
    """The names of -1 and +1, or of each class."""
    labels: NDArray[np.int64] | None = None
    """The number of each row's class, where there are more than two and every row has one."""
    targets: NDArray[np.float64] | None = None
    """The number each row asks for, in regression."""
    numbers: NDArray[np.intp] | None = None
    """The number of each row in the caller's table, if these are only some of its rows."""

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @cached_property
    def codes(self) -> Codes | None:
        """The codes (features, rows), where the sample has bins."""
        if self.bins is None:
            return None
        if self.table.entries is not None:
            return self.listed().dense()
        stored = getattr(self.table, "codes", None)  # a table of codes has no values to encode
        return self.bins.encode(self.table) if stored is None else stored

    @cached_property
    def sparse(self) -> SparseCodes | None:
        """The codes of a sparse table that is not small, where the sample has bins.

        Rules are the same either way.
        """
        columns = self.table.n_columns
        if self.bins is None or self.table.entries is None:
            return None
        is_small = columns <= MAX_DENSE_COLUMNS and self.n_rows * columns <= MAX_DENSE_CELLS
        return None if is_small else self.listed()

    def listed(self) -> SparseCodes:
        """Return the codes of a sparse table as lists of rows; the sample must have bins."""
        assert self.bins is not None
        assert self.table.entries is not None
        return SparseCodes.from_entries(self.table.entries, self.bins)

    def column(self, number: int) -> Codes:
        """The codes of one feature; the sample must have bins."""
        if self.sparse is not None:
            return self.sparse.column(number)
        codes: Codes = self.codes[number]  # type: ignore[index]
        return codes

    @cached_property
    def rows(self) -> Any:
        """The raw rows, for learners that are black boxes: an array, or rows as they came."""
        return self.table.rows()

    @cached_property
    def sparse_rows(self) -> Any:
        """The raw rows, as a SciPy matrix if they came as one."""
        matrix = None if self.table.entries is None else getattr(self.table, "as_given", None)
        return self.rows if matrix is None else matrix


def unlabelled(table: Table, bins: Bins | None = None) -> Sample:
    """Wrap a table without labels, for scoring."""
    return Sample(table, np.empty((table.n_rows, 0), dtype=np.int8), bins=bins)


def signs_of(numbers: NDArray[np.integer], classes: int) -> tuple[Signs, NDArray[np.int64] | None]:
    """Return the signs (rows, outputs) of class numbers, and the numbers if classes are many."""
    if classes <= 2:
        signs_of_two = np.empty(numbers.size, dtype=np.int8)

        def write(first: int, last: int) -> None:
            part = signs_of_two[first:last]
            np.equal(numbers[first:last], classes - 1, out=part.view(np.bool_))
            part *= 2
            part -= 1

        each_rows(write, numbers.size, at_least=ROWS_FOR_CHEAP_KERNELS)
        return signs_of_two[:, None], None
    labels = numbers.astype(np.int64)
    signs = np.full((labels.size, classes), -1, dtype=np.int8)
    signs[np.arange(labels.size), labels] = 1
    return signs, labels


Wholes = NDArray[np.int64]


def whole_weights(base: NDArray[np.float64], rows: int) -> Wholes:
    """Return base weights, one for each row or one for all, in whole units: one for each row."""
    shares = np.broadcast_to(base / total(base), (rows,))
    units: Wholes = np.maximum(np.rint(shares * FRESH_TOTAL), 1).astype(np.int64)
    return units


@dataclass(frozen=True, eq=False)
class Request:
    """What a booster asks a learner for: weights and pulls as integers, (rows, outputs).

    A pull is the change of the score that a row asks for, times its weight: Σ pulls / Σ weights is
    the mean that a cell would have to add. By default, rows ask for their signs.
    """

    weights: Wholes
    pulls: Wholes | Signs
    """Pulls as integers; or signs, where a pull is weight times sign."""
    weight: int
    pull: int
    criterion: str = "newton"
    """The criterion of splits for learners that do not set one."""
    penalty: float = 0.0
    """Added to the weight of every cell, in units of the weights."""

    @property
    def signed(self) -> bool:
        return self.pulls.dtype == np.int8

    def rows(self) -> Wholes:
        """Return one weight for each row: the sum of its absolute pulls."""
        amounts = self.weights if self.signed else np.abs(self.pulls)
        total: Wholes = amounts.sum(axis=1, dtype=np.int64)
        return total


@dataclass(frozen=True, eq=False)
class Sums:
    """The exact sums of pulls and weights in every cell, (cells, outputs)."""

    pulls: Wholes
    weights: Wholes
    weight: int
    pull: int
    rows: int

    def means(self, penalty: float = 0.0) -> NDArray[np.float64]:
        """The mean pull of every cell; 0 where nothing weighs."""
        below = self.weights + penalty
        means: NDArray[np.float64] = np.zeros(below.shape)
        np.divide(self.pulls, below, out=means, where=below > 0)
        return means
