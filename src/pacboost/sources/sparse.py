"""Tables from SciPy sparse matrices: memory goes with what they store."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.sources.table import Entries, Table, Values


class SparseTable(Table):
    """A SciPy sparse matrix, column by column; the cells that it does not store are 0.

    >>> table = SparseTable(sparse.csr_array([[0.0, 2.0], [1.5, 0.0]]))
    >>> table.entries.rows.tolist(), table.entries.values.tolist()
    ([1, 0], [1.5, 2.0])
    >>> table.rows().tolist()
    [[0.0, 2.0], [1.5, 0.0]]
    """

    width = 1
    entries: Entries

    def __init__(
        self, matrix: Any, names: tuple[str, ...] | None = None, form: type[Any] | None = None
    ) -> None:
        self.n_rows, self.n_columns = matrix.shape
        self.names = names
        self._form = form or type(matrix)
        columns = _in_order(matrix)
        values = columns.data
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
        starts = columns.indptr.astype(np.int64, copy=False)
        rows = columns.indices.astype(np.int32, copy=False)
        self.entries = Entries(self.n_rows, starts, rows, values)

    def block(self, first: int, last: int) -> Values:
        """Open up these columns."""
        dense = np.zeros((last - first, self.n_rows))
        own, starts = self.entries, self.entries.starts
        for j in range(first, last):
            stored = slice(starts[j], starts[j + 1])
            dense[j - first, own.rows[stored]] = own.values[stored]
        return dense.T

    @property
    def matrix(self) -> sparse.csc_array:
        """The table as a SciPy matrix."""
        own = self.entries
        shape = (self.n_rows, self.n_columns)
        return sparse.csc_array((own.values, own.rows, own.starts), shape=shape)

    @property
    def as_given(self) -> Any:
        """The table as a SciPy matrix of the class that it came in.

        Its indices have 32 bits if that is enough, because many classifiers take no others.
        """
        matrix = self._form(self.matrix)
        if matrix.format in ("csc", "csr") and matrix.nnz < 2**31:
            matrix.indices = matrix.indices.astype(np.int32, copy=False)
            matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
        return matrix

    def take(self, rows: NDArray[np.intp]) -> SparseTable:
        """Copy some rows."""
        return SparseTable(self.matrix[rows], self.names, self._form)


def _in_order(matrix: Any) -> Any:
    """Return a matrix column by column, each in the order of its rows, and no cell twice.

    The given matrix is not changed.
    """
    columns = matrix.tocsc()
    if not columns.has_canonical_format:
        columns = columns.copy()
        columns.sum_duplicates()
    return columns
