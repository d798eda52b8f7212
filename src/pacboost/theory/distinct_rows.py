"""Estimators whose training rows also certify, so that copies of a row may have to count once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from pacboost.errors import DataError
from pacboost.estimators.inputs.estimator import RemembersRows
from pacboost.fit.division import Division, undivided
from pacboost.models.schema import Schema
from pacboost.samples.same_example import Examples, check_copies
from pacboost.sources.table import Table


class CountsDistinctRows(RemembersRows):
    """An estimator that notes which of its training rows are one example."""

    _examples: Examples | None = None

    def _take_rows(self, table: Table, X: ArrayLike, y: ArrayLike, copies: str) -> Division:
        """Remember the rows; with ``copies="distinct"`` keep one of several equal ones."""
        check_copies(copies)
        self._remember(table)
        divided = undivided(X, y, copies, once=True)
        self._examples = divided.examples
        return divided

    def _read_numbers(
        self, X: ArrayLike, *, reset: bool, allow_nan: bool = False
    ) -> NDArray[np.float64]:
        """Read rows as doubles; reject sparse matrices, and NaN unless ``allow_nan``."""
        if sparse.issparse(X):
            raise DataError("X is sparse; this classifier needs dense rows. Give X.toarray().")
        if reset:
            self._schema, table = Schema.learn(X, self._column_options())
        else:
            table = self._schema.read(X)
        rows = np.asarray(table.rows(), dtype=np.float64)
        missing = np.argwhere(np.isnan(rows))
        if missing.size and not allow_nan:
            row, column = missing[0].tolist()
            raise DataError(
                f"column {table.name(column)} has NaN in row {row}; {type(self).__name__} takes no "
                "missing values. Fill them in or drop those rows."
            )
        return rows
