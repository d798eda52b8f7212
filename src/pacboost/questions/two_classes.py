"""Rows of two classes, as questions about a weak learner take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.learners.learner import Learner
from pacboost.samples.bins import MOST_BINS, fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.dataframe import FrameTable, is_frame
from pacboost.sources.optional import collected
from pacboost.sources.table import Table, refuse_infinite


def two_classes(X: Any, y: Any) -> tuple[Table, NDArray[np.int8]]:
    """Read rows, and their labels as -1 and +1 in the order of the classes."""
    table = table_of(collected(X))
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if classes.size != 2 or codes.size != table.n_rows:
        raise DataError(
            f"y holds {classes.size} classes in {codes.size} rows for {table.n_rows} rows of X; "
            "two classes, and one label a row, are needed"
        )
    return table, np.where(codes == 1, np.int8(1), np.int8(-1))


def whole_sample(learner: Learner, X: Any, y: Any) -> Sample:
    """Return a sample of all rows, with a bin for every value where the learner reads bins."""
    table, signs = two_classes(X, y)
    bins = fit_bins(table, MOST_BINS) if learner.codes else None
    return Sample(table, signs[:, None], bins=bins)


def table_of(X: Any) -> Table:
    """Read rows of numbers, or of a data frame."""
    if isinstance(X, Table):
        return X
    if is_frame(X):
        return FrameTable(X)
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or 0 in values.shape:
        raise DataError(f"X has shape {values.shape}; rows and columns are needed, some of each")
    for column in range(values.shape[1]):
        refuse_infinite(values[:, column], str(column))
    return ArrayTable(values)
