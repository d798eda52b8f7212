"""Training rows that also certify, so that copies of a row may have to count once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from pacboost.errors import DataError
from pacboost.estimators.fitted.estimator import Estimator
from pacboost.fit.division import Division, undivided
from pacboost.models.schema import Schema
from pacboost.samples.same_example import check_copies
from pacboost.sources.table import Table


def take_rows(
    estimator: Estimator, table: Table, X: ArrayLike, y: ArrayLike, copies: str
) -> Division:
    """Remember the rows; with ``copies="distinct"`` keep one of several equal ones.

    ``_examples`` of the estimator says which of its training rows are one example.
    """
    check_copies(copies)
    # a later certificate must not use the rows learned from
    estimator._remember(table)
    divided = undivided(X, y, copies, once=True)
    estimator._examples = divided.examples
    return divided


def read_numbers(
    estimator: Estimator, X: ArrayLike, *, reset: bool, allow_nan: bool = False
) -> NDArray[np.float64]:
    """Read rows as doubles; reject sparse matrices, and NaN unless ``allow_nan``."""
    if sparse.issparse(X):
        raise DataError("X is sparse; this classifier needs dense rows. Give X.toarray().")
    if reset:
        estimator._schema, table = Schema.learn(X, estimator._column_options())
    else:
        table = estimator._schema.read(X)
    rows = np.asarray(table.rows(), dtype=np.float64)
    missing = np.argwhere(np.isnan(rows))
    if missing.size and not allow_nan:
        row, column = missing[0].tolist()
        raise DataError(
            f"column {table.name(column)} has NaN in row {row}; {type(estimator).__name__} takes "
            "no missing values. Fill them in or drop those rows."
        )
    return rows
