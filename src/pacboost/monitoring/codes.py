"""Rows as small numbers: the bin of every cell, with cuts from reference rows set apart for it."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.dataframe import is_frame
from pacboost.sources.lazy import collected

Codes = NDArray[np.uint8]
CUTS = 31
"""The most quantiles that divide a column."""
MOST_COLUMNS = 1000


def read_rows(model: Any, X: Any) -> tuple[NDArray[np.float64], list[str]]:
    """Read rows as numbers, with the names of the columns.

    A pacboost model reads them as in ``predict``, so categories are numbered as in its fit; for
    other models all columns have to be numbers.
    """
    X = collected(X)
    if getattr(model, "remembers_rows", False):
        table = model._rows_to_compare(X)
        _check_width(table.n_columns)
        values = np.asarray(table.rows(), dtype=np.float64)
        return values, [table.name(j) for j in range(table.n_columns)]
    names = [str(name) for name in X.columns] if is_frame(X) else None
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise DataError(
            f"the rows hold something that is no number ({problem}); encode it as the model's "
            "input does, or give a pacboost model, which reads categories itself"
        ) from problem
    if values.ndim != 2:
        raise DataError(f"the rows have shape {values.shape}; give a table of rows and columns")
    _check_width(values.shape[1])
    return values, names or [f"x{j}" for j in range(values.shape[1])]


def _check_width(columns: int) -> None:
    if not 1 <= columns <= MOST_COLUMNS:
        raise DataError(
            f"the rows have {columns:,} columns; drift is looked for in 1 to {MOST_COLUMNS:,}"
        )


def fingerprint(values: NDArray[np.float64]) -> str:
    """Give a digest of rows, to know them again."""
    text = f"{values.shape}".encode() + np.ascontiguousarray(values + 0.0).tobytes()
    return hashlib.sha256(text).hexdigest()


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
        """Give the code of every cell."""
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
