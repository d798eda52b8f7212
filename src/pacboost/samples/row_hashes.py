"""Salted hashes of rows: equal rows have equal hashes, and so have rows that are nearly equal.

A row is hashed twice. The *exact* hash takes every value rounded to 32 bits, as thresholds do. The
*near* hash takes every value rounded to a multiple of its column's step, about a thousandth of what
values of the column typically are: a copy that was multiplied by 1 + 1e-6 or written with seven
digits mostly has the same near hash. Categories are hashed by the text of their level, so that the
numbers of levels do not matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import hashing
from pacboost.kernels.hashing import LARGEST_CELL, MISSING
from pacboost.kernels.runtime.threads import each_rows, span_size
from pacboost.numerics.same_bits import log2
from pacboost.sources.levels import Levels
from pacboost.sources.table import Entries, Table, Values

ROWS_LOOKED_AT = 1024
STEPS_PER_VALUE = 10
"""A step is 2**-10 of the geometric mean of a column's absolute values."""

Hashes = NDArray[np.uint64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class RowHasher:
    """Hashes rows with a salt; ``steps`` says how values of each column are rounded."""

    salt: int
    steps: NDArray[np.float64]

    @classmethod
    def of(cls, table: Table) -> RowHasher:
        """Take salt and steps from some rows of a table: the same table gives the same hashes."""
        steps, some = steps_of(table), _some_rows(table)
        first = cls(table.n_rows, steps).hashes(table, some)
        return cls(int(mixed(first.sum(keepdims=True, dtype=np.uint64))[0]), steps)

    def near_below(self, table: Table, columns: NDArray[np.int64], limit: int) -> Rows:
        """Return the rows whose near hash of some columns is below a limit."""
        far = table.in_place() if table.far else None
        plain = table.entries is None and not table.levels and table.width >= table.n_columns
        few = not plain or table.n_rows * columns.size <= hashing.CELLS_WORTH_COMPILING
        if few and far is None:
            every = columns.size == table.n_columns
            hashes = self.hashes(table, None, None if every else columns.tolist(), near=True)
            return np.flatnonzero(hashes < np.uint64(limit))
        values, chosen = (table.rows(), None) if far is None else far
        fixed = columns, self.steps, self._factors, self.salt, limit
        return hashing.rows_below(values, chosen, *fixed)

    def hashes(
        self,
        table: Table,
        rows: Rows | None = None,
        columns: Iterable[int] | None = None,
        *,
        near: bool = False,
        compiled: bool = False,
    ) -> Hashes:
        """Hash rows by their values rounded to 32 bits, or to steps if ``near``.

        Large tables are hashed by ``compiled`` loops. So may be small ones, if there are many: then
        threads that hash one each do not wait for each other.
        """
        if table.far and rows is not None:
            return self.hashes(table.take(rows), None, columns, near=near, compiled=compiled)
        total = np.full(table.n_rows if rows is None else rows.size, self.salt, dtype=np.uint64)
        if columns is None and table.entries is not None and not table.levels:
            total += mixed(self._factors).sum() + self._stored(table.entries, rows, near=near)
            return mixed(total)
        for first, last in _spans(table, columns):
            known = _level_hashes(table.levels, first) if first in table.levels else None
            step = self.steps[first:last] if near else None
            values, factors = table.block(first, last), self._factors[first:last]
            _add_columns(values, rows, step, known, factors, total, compiled=compiled)
        if not compiled:
            return mixed(total)
        hashing.finish(total)
        return total

    @cached_property
    def _factors(self) -> Hashes:
        generator = np.random.default_rng(self.salt)
        return generator.integers(2**63, size=self.steps.size, dtype=np.uint64, endpoint=True)

    def _stored(self, entries: Entries, rows: Rows | None, *, near: bool) -> Hashes:
        """Sum for each row what its stored values add to the hash of a row of zeros."""
        columns = entries.columns
        factors = self._factors[columns]
        cells = _cells(entries.values, self.steps[columns] if near else None)
        more = mixed(cells + factors) - mixed(factors)
        sums = np.zeros(entries.n_rows, dtype=np.uint64)
        np.add.at(sums, entries.rows, more)
        return sums if rows is None else sums[rows]


def row_hashes(table: Table, rows: Rows | None = None, salt: int = 0) -> Hashes:
    """Hash every row, or some; equal rows have equal hashes in any table."""
    return RowHasher(salt, np.ones(table.n_columns)).hashes(table, rows)


def _add_columns(
    values: Values,
    rows: Rows | None,
    step: NDArray[np.float64] | None,
    known: Hashes | None,
    factors: Hashes,
    total: Hashes,
    *,
    compiled: bool,
) -> None:
    """Add the hashes of some columns; ``known`` are those of levels, if it is one that has some."""
    at_once = span_size(factors.size)
    compiled = compiled or (rows is None and values.size > hashing.CELLS_WORTH_COMPILING)

    def task(first: int, last: int) -> None:
        if compiled and known is None:
            part = values[first:last] if rows is None else values[rows[first:last]]
            if step is None:
                hashing.add_exact_hashes(part, factors, total[first:last])
            else:
                hashing.add_near_hashes(part, step, factors, total[first:last])
            return
        for start in range(first, last, at_once):
            own = slice(start, min(start + at_once, last))
            part = values[own if rows is None else rows[own]]
            cells = _cells(part, step) if known is None else _level_cells(part, known)
            total[own] += mixed(cells + factors).sum(axis=1)

    each_rows(task, total.size, width=factors.size)


def steps_of(table: Table) -> NDArray[np.float64]:
    """Return step of every column: a power of two, a thousandth of what its values typically are.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> steps_of(ArrayTable(np.array([[1000.0, 0.0], [1000.0, 1.0]]))).tolist()
    [1.0, 0.0009765625]
    """
    if table.entries is not None:
        columns = table.entries.columns
        sums, counts = _magnitudes(table.entries.values, columns, table.n_columns)
    else:
        sums, counts = np.zeros(table.n_columns), np.zeros(table.n_columns)
        for first, block in table.take(_some_rows(table)).blocks():
            width = block.shape[1]
            columns = np.tile(np.arange(width), len(block))
            own = _magnitudes(block.reshape(-1), columns, width)
            sums[first : first + width], counts[first : first + width] = own
    typical = np.rint(sums / np.maximum(counts, 1))
    return np.asarray(2.0 ** (np.clip(typical, -900, 900) - STEPS_PER_VALUE))


def _spans(table: Table, columns: Iterable[int] | None) -> Iterator[tuple[int, int]]:
    """Return the columns that are hashed at once, as the first and the one after the last.

    Categories are hashed column by column, and so are columns that are named one by one.
    """
    every = range(table.n_columns) if columns is None else columns
    if table.levels or not isinstance(every, range) or every.step != 1:
        yield from ((j, j + 1) for j in every)
        return
    for first in range(every.start, every.stop, table.width):
        yield first, min(first + table.width, every.stop)


def _some_rows(table: Table) -> Rows:
    count = min(ROWS_LOOKED_AT, table.n_rows)
    return np.linspace(0, table.n_rows - 1, count).astype(np.intp)


def _magnitudes(
    values: Values, columns: NDArray[np.integer], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Add up, for each column, the binary logarithms of its absolute values, and count them."""
    known = np.isfinite(values) & (values != 0)
    logs = log2(np.abs(values[known], dtype=np.float64))
    places = columns[known]
    sums = np.bincount(places, logs, count).astype(np.float64)
    return sums, np.bincount(places, minlength=count).astype(np.float64)


def _cells(values: Values, step: NDArray[np.float64] | float | None) -> Hashes:
    """Return a whole number for each value; zeros have 0, and missing values are all alike."""
    missing = np.isnan(values)
    with np.errstate(over="ignore", invalid="ignore"):
        if step is None:
            rounded = values.astype(np.float32) + np.float32(0)  # -0 becomes 0
            cells = rounded.view(np.uint32).astype(np.uint64)
        else:
            whole = np.rint(values.astype(np.float64) / step)
            whole = np.clip(whole, -LARGEST_CELL, LARGEST_CELL)
            cells = np.where(missing, 0.0, whole).astype(np.int64).view(np.uint64)
    if missing.any():
        cells[missing] = MISSING
    return cells


def _level_hashes(levels: Levels, column: int) -> Hashes:
    """Hash the text of every level of a column; the last entry stands for missing values."""
    digests = b"".join(
        hashlib.blake2b(str(level).encode(errors="surrogatepass"), digest_size=8).digest()
        for level in levels.columns[column]
    )
    return np.concatenate([np.frombuffer(digests, dtype="<u8"), [MISSING]]).astype(np.uint64)


def _level_cells(numbers: Values, known: Hashes) -> Hashes:
    outside = np.isnan(numbers) | (numbers < 0) | (numbers >= known.size - 1)
    places = np.where(outside, known.size - 1, numbers).astype(np.intp)
    return known[places]


def among(hashes: Hashes, known: Hashes) -> NDArray[np.bool_]:
    """Return which hashes are among those known, which are sorted.

    >>> among(np.array([3, 4], dtype=np.uint64), np.array([1, 3], dtype=np.uint64)).tolist()
    [True, False]
    """
    if not known.size:
        return np.zeros(hashes.size, dtype=np.bool_)
    places = np.minimum(np.searchsorted(known, hashes), known.size - 1)
    return np.asarray(known[places] == hashes)


def mixed(x: Hashes) -> Hashes:
    """Spread bits over the whole word (the finaliser of splitmix64)."""
    x = x ^ (x >> np.uint64(30))
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x
