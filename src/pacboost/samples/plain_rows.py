"""Rows of whatever a model takes as plain numbers, which no model has a part in.

Texts become numbers by a hash. ``plain_rows`` tells rows apart, whatever they are; ``read_rows``
also keeps the names of columns, whose cells ``Binning`` turns into small codes.
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
from pacboost.samples.same_example import column_values
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.columns import Columns
from pacboost.sources.dataframe import is_frame, numbers_of
from pacboost.sources.levels import is_missing, pieces
from pacboost.sources.optional import collected
from pacboost.sources.table import Table


def plain_rows(X: Any) -> ArrayTable:
    """Return numbers as they are, and a number made from every text.

    >>> plain_rows([["a", 1], ["b", 2]]).n_rows
    2
    """
    if isinstance(X, ArrayTable):
        return X
    if is_frame(X) or isinstance(X, Columns):
        return ArrayTable(np.column_stack([_hashed(own) for own in column_values(X)]))
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


# Rows as small numbers: the bin of every cell, with cuts from reference rows set apart for it.

Codes = NDArray[np.uint8]
CUTS = 31
"""The most quantiles that divide a column."""
MOST_COLUMNS = 1000
HASHED = 2.0**100
"""Cells that are no numbers become numbers from this one on."""


def read_rows(X: Any) -> tuple[NDArray[np.float64], list[str]]:
    """Return rows as numbers, with the names of the columns.

    A number stands for itself, and any other cell for a number made by a hash of its text. No model
    has a part in it: one that has learned from the reference rows knows their categories, and not
    those of new rows.

    >>> values, names = read_rows([["a", 1], ["b", None], ["a", "3.5"]])
    >>> bool(values[0, 0] == values[2, 0] != values[1, 0]), values[:, 1].tolist(), names
    (True, [1.0, nan, 3.5], ['x0', 'x1'])
    """
    columns = _columns(in_host_memory(collected(X)))
    if not 1 <= len(columns) <= MOST_COLUMNS:
        raise DataError(
            f"the rows have {len(columns):,} columns; drift is looked for in 1 to {MOST_COLUMNS:,}"
        )
    return np.column_stack([_numbers(cells) for cells in columns.values()]), list(columns)


def _columns(X: Any) -> Mapping[str, Any]:
    if is_frame(X) or isinstance(X, Columns) or (isinstance(X, list) and isinstance(X[0], Mapping)):
        rows = Columns.of(X).dates_read()
        return {
            name: numbers_of(cells)
            if isinstance(cells, nw.Series) and cells.dtype.is_numeric()
            else cells
            for name, cells in rows.cells.items()
        }
    if isinstance(X, Table):
        found = {j: X.block(j, j + 1)[:, 0] for j in range(X.n_columns)}
        return {
            X.name(j): X.levels.values(j, own) if j in X.levels else own for j, own in found.items()
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
    """Cuts of every column, and codes by them: 0 for missing, then one for each bin.

    The lowest bin lies below, the highest above all rows that made the cuts.

    >>> made = Binning(np.array([[1.0], [2.0], [3.0]]))
    >>> made.codes(np.array([[np.nan], [0.0], [1.0], [2.5], [9.0]])).ravel().tolist()
    [0, 1, 2, 4, 5]
    """

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.cuts = [_cuts(column) for column in values.T]

    def codes(self, values: NDArray[np.float64]) -> Codes:
        """Return the code of every cell."""
        found = np.empty(values.shape, dtype=np.uint8)
        for j, cuts in enumerate(self.cuts):
            column = np.ascontiguousarray(values[:, j])
            found[:, j] = np.searchsorted(cuts, column, side="left") + 1
            found[np.isnan(column), j] = 0
        return found


def _cuts(column: NDArray[np.float64]) -> NDArray[np.float64]:
    there = column[~np.isnan(column)]
    if not there.size:
        return np.empty(0)
    inner = np.unique(np.quantile(there, np.linspace(0, 1, CUTS), method="lower"))
    return np.concatenate([[np.nextafter(inner[0], -np.inf)], inner])
