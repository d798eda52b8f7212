"""Sparse tables: SciPy matrices, and tables of the words in each row.

Memory grows with the number of stored cells, never with rows times columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.table import Entries, Table, picked
from pacboost.sources.values import Values

if TYPE_CHECKING:
    from scipy import sparse  # at run time only where it is used: importing it takes long


class SparseTable(Table):
    """A SciPy sparse matrix by columns; cells that are not stored are 0."""

    width = 1
    entries: Entries

    def __init__(
        self, matrix: Any, names: tuple[str, ...] | None = None, form: type[Any] | None = None
    ) -> None:
        self.n_rows, self.n_columns = matrix.shape
        self.names = names
        self._form = form or type(matrix)
        columns = _in_order(matrix if form else checked_matrix(matrix))
        values = columns.data
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
        starts = columns.indptr.astype(np.int64, copy=False)
        rows = columns.indices.astype(np.int32, copy=False)
        self.entries = Entries(self.n_rows, starts, rows, values)

    def block(self, first: int, last: int) -> Values:
        dense = np.zeros((last - first, self.n_rows))
        entries, starts = self.entries, self.entries.starts
        for j in range(first, last):
            stored = slice(starts[j], starts[j + 1])
            dense[j - first, entries.rows[stored]] = entries.values[stored]
        return dense.T

    @property
    def matrix(self) -> sparse.csc_array:
        from scipy import sparse

        entries = self.entries
        shape = (self.n_rows, self.n_columns)
        return sparse.csc_array((entries.values, entries.rows, entries.starts), shape=shape)

    @property
    def as_given(self) -> Any:
        """The table as a SciPy matrix of the class of the input.

        Its indices have 32 bits if possible, because many classifiers accept no others.
        """
        matrix = self._form(self.matrix)
        if matrix.format in ("csc", "csr") and matrix.nnz < 2**31:
            matrix.indices = matrix.indices.astype(np.int32, copy=False)
            matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
        return matrix

    def take(self, rows: NDArray[np.intp]) -> SparseTable:
        return SparseTable(self.matrix[rows], self.names, self._form)


MAX_COLUMNS = 2**27
"""Lists of rows take 8 bytes for each column, also for those without values: 1 GB."""


def checked_matrix(matrix: Any) -> Any:
    """Return a SciPy matrix by rows or columns; raise if it cannot be used.

    SciPy does not check indices, and reads and writes outside arrays where they are wrong. The
    arrays are shared with the input, which is not changed.
    """
    if matrix.shape[1] > MAX_COLUMNS:
        raise DataError(
            f"X has {matrix.shape[1]:,} columns; a sparse table may have up to {MAX_COLUMNS:,}. "
            "Remove columns without values, or hash words into fewer"
        )
    try:
        if matrix.format == "coo":
            for indices, size in zip((matrix.row, matrix.col), matrix.shape, strict=True):
                if indices.size and not 0 <= indices.min() <= indices.max() < size:
                    raise ValueError(f"indices must be 0 to {size - 1}")
        if matrix.format not in ("csr", "csc", "bsr"):
            return matrix.tocsr()
        arrays = (matrix.data, matrix.indices, matrix.indptr)
        view = type(matrix)(arrays, shape=matrix.shape)
        view.check_format(full_check=True)
    except (IndexError, TypeError, ValueError) as problem:
        raise DataError(f"the sparse matrix is damaged: {problem}") from problem
    return view


def _in_order(matrix: Any) -> Any:
    """Return a matrix by columns, with sorted rows and without duplicate cells."""
    columns = matrix.tocsc()
    if not columns.has_canonical_format:
        columns = columns.copy()  # or the input would be changed
        columns.sum_duplicates()
    return columns


Places = NDArray[np.int64]
Numbers = NDArray[np.int32]


class WordTable(Table):
    """The words of each row: ``words[starts[i] : starts[i + 1]]``, sorted and without duplicates.

    As a table of numbers, a column is 1 where its word occurs, else 0.

    >>> table = WordTable(np.array([0, 2, 3]), np.array([0, 1, 1]), 2, ("card", "lost"))
    >>> table.rows().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    >>> table.holding(1).tolist()
    [0, 1]
    """

    width = 64

    def __init__(
        self,
        starts: NDArray[np.integer],
        words: NDArray[np.integer],
        n_words: int,
        names: tuple[str, ...] | None = None,
    ) -> None:
        self.starts = starts.astype(np.int64, copy=False)
        self.words = words.astype(np.int32, copy=False)
        self.n_rows, self.n_columns = starts.size - 1, n_words
        self.names = names

    @cached_property
    def by_word(self) -> tuple[Places, Numbers]:
        """The rows of each word: those of word j are ``rows[starts[j] : starts[j + 1]]``."""
        turned = _matrix(self.starts, self.words, (self.n_rows, self.n_columns)).tocsc()
        rows = turned.indices.astype(np.int32, copy=False)
        return turned.indptr.astype(np.int64, copy=False), rows

    @cached_property
    def entries(self) -> Entries:  # type: ignore[override]
        starts, rows = self.by_word
        ones = np.broadcast_to(np.float32(1), rows.shape)  # takes no memory
        return Entries(self.n_rows, starts, rows, ones)

    def holding(self, word: int) -> Numbers:
        starts, rows = self.by_word
        return rows[starts[word] : starts[word + 1]]

    def block(self, first: int, last: int) -> Values:
        dense = np.zeros((self.n_rows, last - first), dtype=np.float32)
        for word in range(first, last):
            dense[self.holding(word), word - first] = 1
        return dense

    def take(self, rows: NDArray[np.intp]) -> WordTable:
        starts, places = picked(self.starts, rows)
        return WordTable(starts, self.words[places], self.n_columns, self.names)


def renumbered(
    starts: Places, words: Numbers, places: Numbers, names: tuple[str, ...]
) -> WordTable:
    """Replace word j by ``places[j]``, drop it if that is -1, and sort each row."""
    words, shape = places[words], (starts.size - 1, len(names))
    if words.size and words.min() < 0:
        is_used = words >= 0
        before: NDArray[np.integer[Any]] = np.zeros(words.size + 1, dtype=_narrow(words.size))
        np.cumsum(is_used, out=before[1:])
        words, starts = words[is_used], before[starts].astype(np.int64)
    rows = _matrix(starts, words, shape)
    rows.sort_indices()
    return WordTable(rows.indptr, rows.indices, len(names), names)


def beside(tables: Sequence[WordTable], names: tuple[str, ...]) -> WordTable:
    """Join tables side by side: the words of each are numbered after those of the one before."""
    starts = np.sum([table.starts for table in tables], axis=0)
    words = np.empty(int(starts[-1]), dtype=np.int32)
    free, before = starts[:-1].copy(), 0  # next free index of each row, and number of words so far
    for table in tables:
        shifts = (free - table.starts[:-1]).astype(_narrow(words.size))
        places = np.repeat(shifts, np.diff(table.starts))
        places += np.arange(places.size, dtype=places.dtype)
        words[places] = table.words + before
        free += np.diff(table.starts)
        before += table.n_columns
    return WordTable(starts, words, before, names)


def _narrow(size: int) -> type[np.integer[Any]]:
    """Return the narrowest integer type that can count to ``size``."""
    return np.int32 if size < 2**31 else np.int64


def _matrix(starts: NDArray[np.integer], words: Numbers, shape: tuple[int, int]) -> Any:
    """Return rows of words as a SciPy matrix without widening the indices."""
    from scipy import sparse

    ones = np.ones(words.size, dtype=np.int8)
    narrow = starts.astype(_narrow(words.size), copy=False)
    return sparse.csr_array((ones, words, narrow), shape=shape)


def words_of(table: Table) -> WordTable:
    """Convert any table to a table of words: a column occurs where it is neither 0 nor missing."""
    from scipy import sparse

    if isinstance(table, WordTable):
        return table
    if table.entries is None:
        parts = [np.zeros((2, 0), dtype=np.intp)]
        for first, block in table.blocks():
            row, column = np.nonzero((block != 0) & ~np.isnan(block))
            parts.append(np.stack([row, column + first]))
        rows, columns = np.concatenate(parts, axis=1)
    else:
        values = table.entries.values
        there = (values != 0) & ~np.isnan(values)
        rows, columns = table.entries.rows[there], table.entries.columns[there]
    ones, shape = np.ones(rows.size, dtype=np.int8), (table.n_rows, table.n_columns)
    matrix = sparse.csr_array((ones, (rows, columns)), shape=shape)
    matrix.sort_indices()
    return WordTable(matrix.indptr, matrix.indices, table.n_columns, table.names)
