"""Salted hashes of the rows of a table: rows that a model cannot distinguish have equal hashes.

Values are rounded to 32 bits, as thresholds are, so that a row has the same hash from an array, a
frame or a file; ``exact`` hashes are of values as they are. Categories are hashed by the text of
their level, so that the numbers of levels do not matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import hashing
from pacboost.kernels.native import native
from pacboost.kernels.threads import each_rows
from pacboost.sources.table import Entries, Table
from pacboost.sources.values import Values

MAX_ROWS_FOR_SALT = 1024

Hashes = NDArray[np.uint64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class RowHasher:
    """Hashes the rows of tables of ``n_columns`` columns with a salt."""

    salt: int
    n_columns: int

    @classmethod
    def for_table(cls, table: Table) -> RowHasher:
        """Derive the salt from some rows: the same table always gives the same hashes."""
        # the salt follows from the rows, so that equal fits write equal files
        # (docs/decisions/0004-certificates.md)
        count = min(MAX_ROWS_FOR_SALT, table.n_rows)
        some = np.linspace(0, table.n_rows - 1, count).astype(np.intp)
        first = cls(table.n_rows, table.n_columns).hashes(table, some)
        return cls(int(mixed(first.sum(keepdims=True, dtype=np.uint64))[0]), table.n_columns)

    def below(self, table: Table, columns: NDArray[np.int64], limit: int) -> Rows:
        """Return the rows whose hash of some columns is below a limit."""
        far = table.in_place() if table.far else None
        one_block = table.entries is None and not table.levels and table.width >= table.n_columns
        if not one_block and far is None:
            every = columns.size == table.n_columns
            hashes = self.hashes(table, None, None if every else columns.tolist())
            return np.flatnonzero(hashes < np.uint64(limit))
        values, chosen = (table.block(0, table.n_columns), None) if far is None else far
        return hashing.rows_below(values, chosen, columns, self._factors, self.salt, limit)

    def hashes(
        self,
        table: Table,
        rows: Rows | None = None,
        columns: Iterable[int] | None = None,
        *,
        exact: bool = False,
    ) -> Hashes:
        """Hash all rows or some of them, by all columns or some of them."""
        if table.far and rows is not None:
            return self.hashes(table.take(rows), None, columns, exact=exact)
        total = np.full(table.n_rows if rows is None else rows.size, self.salt, dtype=np.uint64)
        if columns is None and table.entries is not None and not table.levels:
            # a sum over columns: zeros are added once for all rows, and stored values correct it,
            # in time of the stored values alone
            total += mixed(self._factors).sum() + self._stored(table.entries, rows, exact)
            return mixed(total)
        for first, last in _spans(table, columns):
            levels = None
            if first in table.levels:  # the last entry stands for missing values
                levels = np.append(
                    text_hashes(table.levels.columns[first]), np.uint64(hashing.MISSING)
                )
            values, factors = table.block(first, last), self._factors[first:last]
            _add_columns(values, rows, levels, factors, total, exact)
        native.mix(total)
        return total

    @cached_property
    def _factors(self) -> Hashes:
        generator = np.random.default_rng(self.salt)
        return generator.integers(2**63, size=self.n_columns, dtype=np.uint64, endpoint=True)

    def _stored(self, entries: Entries, rows: Rows | None, exact: bool) -> Hashes:
        """Return what the stored values of each row add to the hash of a row of zeros."""
        factors = self._factors[entries.columns]
        cells = _exact_cells(entries.values) if exact else _cells(entries.values)
        terms = mixed(cells + factors) - mixed(factors)
        sums = np.zeros(entries.n_rows, dtype=np.uint64)
        np.add.at(sums, entries.rows, terms)
        return sums if rows is None else sums[rows]


def row_hashes(
    table: Table, rows: Rows | None = None, salt: int = 0, *, exact: bool = False
) -> Hashes:
    """Hash all rows or some of them; equal rows of any tables have equal hashes."""
    return RowHasher(salt, table.n_columns).hashes(table, rows, exact=exact)


def _add_columns(
    values: Values,
    rows: Rows | None,
    levels: Hashes | None,
    factors: Hashes,
    total: Hashes,
    exact: bool,
) -> None:
    """Add the hashes of some columns to ``total``; ``levels`` has those of a category's levels."""

    def task(first: int, last: int) -> None:
        part = values[first:last] if rows is None else values[rows[first:last]]
        cells = part if levels is None else _level_cells(part, levels)
        if exact and levels is None:
            cells = _exact_cells(part)
        native.add_hashes(cells, factors, total[first:last])

    each_rows(task, total.size, width=factors.size)


def _spans(table: Table, columns: Iterable[int] | None) -> Iterator[tuple[int, int]]:
    """Yield spans of columns to hash together."""
    every = range(table.n_columns) if columns is None else columns
    if table.levels or not isinstance(every, range) or every.step != 1:
        yield from ((j, j + 1) for j in every)
        return
    for first in range(every.start, every.stop, table.width):
        yield first, min(first + table.width, every.stop)


def _cells(values: Values) -> Hashes:
    """Return an integer for each value: 0 for zeros, and one for all missing values."""
    missing = np.isnan(values)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = values.astype(np.float32) + np.float32(0)  # turns -0 into 0
    cells = rounded.view(np.uint32).astype(np.uint64)
    if missing.any():
        cells[missing] = hashing.MISSING
    return cells


def _exact_cells(values: Values) -> Hashes:
    """Return an integer for each value; those with 32 bits have the integer of ``_cells``."""
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        is_rounded = (numbers.astype(np.float32) == numbers) | np.isnan(numbers)
    return np.where(is_rounded, _cells(numbers), numbers.view(np.uint64))


def text_hashes(texts: Iterable[object]) -> Hashes:
    """Hash the text of every object."""
    digests = b"".join(
        hashlib.blake2b(str(text).encode(errors="surrogatepass"), digest_size=8).digest()
        for text in texts
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _level_cells(numbers: Values, level_hashes: Hashes) -> Hashes:
    outside = np.isnan(numbers) | (numbers < 0) | (numbers >= level_hashes.size - 1)
    places = np.where(outside, level_hashes.size - 1, numbers).astype(np.intp)
    return level_hashes[places]


def among(hashes: Hashes, others: Hashes) -> NDArray[np.bool_]:
    """Return a mask of the hashes that are among the sorted ``others``."""
    if not others.size:
        return np.zeros(hashes.size, dtype=np.bool_)
    places = np.minimum(np.searchsorted(others, hashes), others.size - 1)
    return np.asarray(others[places] == hashes)


def mixed(x: Hashes) -> Hashes:
    """Spread bits over the whole word (the finalizer of splitmix64)."""
    words = np.array(x, dtype=np.uint64)
    native.mix(words)
    return words
