"""Turn any kind of rows into numbers, independently of any model.

Texts become numbers by a hash. ``plain_rows`` gives equal numbers to equal rows only; ``read_rows``
also returns the names of the columns, and ``Binning`` turns their cells into small codes, with cuts
taken from reference rows.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.errors import DataError
from pacboost.numerics.memory import in_host_memory
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.dataframe import numbers_of
from pacboost.sources.optional import collected
from pacboost.sources.rows import NamedRows, Rows
from pacboost.sources.table import Table
from pacboost.sources.values import is_missing, pieces


def plain_rows(X: Any) -> ArrayTable:
    """Return numbers unchanged, and a hash in place of every text.

    >>> plain_rows([["a", 1], ["b", 2]]).n_rows
    2
    """
    if isinstance(X, ArrayTable):
        return X
    given = Rows.of(X)
    if isinstance(given, NamedRows):
        return ArrayTable(np.column_stack([_hashed(column) for column in given.cells()]))
    if sparse.issparse(X):
        matrix: Any = X
        rows = matrix.tocsr(copy=True)
        rows.sum_duplicates()
        ends = zip(rows.indptr, rows.indptr[1:], strict=False)
        keys = [rows.indices[a:b].tobytes() + rows.data[a:b].tobytes() for a, b in ends]
        return ArrayTable(np.array([[_hash(key)] for key in keys]))
    values = np.asarray(X, None if hasattr(X, "__array__") else object)
    if values.ndim == 1:
        return ArrayTable(_hashed(values)[:, None])
    lines = values.reshape(len(values), -1)
    columns = [_hashed(lines[:, j]) for j in range(lines.shape[1])]
    return ArrayTable(np.column_stack(columns) if columns else lines)


def _hashed(cells: NDArray[Any]) -> NDArray[np.float64]:
    if cells.dtype.kind in "fiub":
        return cells.astype(np.float64)
    return np.array([_hash(str(cell).encode()) for cell in cells.tolist()])


def _hash(key: bytes) -> float:
    return float(int.from_bytes(hashlib.blake2b(key, digest_size=6).digest(), "big"))


Codes = NDArray[np.uint8]
MAX_QUANTILES = 31
"""Maximum number of quantiles that divide a column."""
MAX_COLUMNS = 1000
# A hash must not lie among numbers, or a text would count as a large value of its column.
HASHED = 2.0**100
"""Cells that are not numbers become numbers from this one on."""


def read_rows(X: Any) -> tuple[NDArray[np.float64], list[str]]:
    """Return rows as numbers, with the names of the columns.

    Numbers are unchanged; any other cell becomes a hash of its text. No model is involved, because
    one trained on the reference rows knows their categories but not those of new rows.

    >>> values, names = read_rows([["a", 1], ["b", None], ["a", "3.5"]])
    >>> bool(values[0, 0] == values[2, 0] != values[1, 0]), values[:, 1].tolist(), names
    (True, [1.0, nan, 3.5], ['x0', 'x1'])
    """
    columns = _columns(in_host_memory(collected(X)))
    if not 1 <= len(columns) <= MAX_COLUMNS:
        raise DataError(
            f"the rows have {len(columns):,} columns; drift can be tested in 1 to {MAX_COLUMNS:,}"
        )
    return np.column_stack([_numbers(cells) for cells in columns.values()]), list(columns)


def _columns(X: Any) -> Mapping[str, Any]:
    named = Rows.of(X).named
    if named is not None:
        rows = named.dates_read()
        return {
            name: numbers_of(cells)
            if isinstance(cells, nw.Series) and cells.dtype.is_numeric()
            else cells
            for name, cells in rows.cells.items()
        }
    if isinstance(X, Table):
        columns = {j: X.block(j, j + 1)[:, 0] for j in range(X.n_columns)}
        return {
            X.name(j): X.levels.values(j, column) if j in X.levels else column
            for j, column in columns.items()
        }
    dense = X.toarray() if hasattr(X, "toarray") else X
    values = np.asarray(dense, None if hasattr(dense, "__array__") else object)
    if values.ndim == 1 and values.dtype.kind in "OU":  # of a model that reads texts
        values = values[:, None]
    if values.ndim != 2:
        raise DataError(f"the rows have shape {values.shape}; give a table of rows and columns")
    return {f"x{j}": values[:, j] for j in range(values.shape[1])}


def _numbers(cells: Any) -> NDArray[np.float64]:
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiub":
        return cells.astype(np.float64)
    return np.array([_number(cell) for part in pieces(cells) for cell in part], dtype=np.float64)


def _number(cell: Any) -> float:
    if is_missing(cell):
        return math.nan
    try:
        return float(cell)
    except (TypeError, ValueError):
        digest = hashlib.blake2b(str(cell).encode(errors="surrogatepass"), digest_size=6).digest()
        return HASHED * (1 + int.from_bytes(digest, "big") / 2**48)
    except OverflowError:
        return math.inf


class Binning:
    """The cuts of every column, which turn cells into codes: 0 for missing, then 1, 2, ...

    The lowest bin lies below all rows used for the cuts, the highest one above them.

    >>> binning = Binning(np.array([[1.0], [2.0], [3.0]]))
    >>> binning.codes(np.array([[np.nan], [0.0], [1.0], [2.5], [9.0]])).ravel().tolist()
    [0, 1, 2, 4, 5]
    """

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.cuts = [_cuts(column) for column in values.T]

    def codes(self, values: NDArray[np.float64]) -> Codes:
        codes = np.empty(values.shape, dtype=np.uint8)
        for j, cuts in enumerate(self.cuts):
            column = np.ascontiguousarray(values[:, j])
            codes[:, j] = np.searchsorted(cuts, column, side="left") + 1
            codes[np.isnan(column), j] = 0
        return codes


def _cuts(column: NDArray[np.float64]) -> NDArray[np.float64]:
    present = column[~np.isnan(column)]
    if not present.size:
        return np.empty(0)
    # values that occur: between the hashes of two texts there is nothing to interpolate
    inner = np.unique(np.quantile(present, np.linspace(0, 1, MAX_QUANTILES), method="lower"))
    return np.concatenate([[np.nextafter(inner[0], -np.inf)], inner])
