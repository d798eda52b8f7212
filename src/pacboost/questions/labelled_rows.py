"""Rows and labels in memory, where columns may be given by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, ParameterError
from pacboost.numerics.checks import meant
from pacboost.samples.groups import with_missing
from pacboost.sources.dataframe import open_frame
from pacboost.sources.optional import collected, is_collection
from pacboost.sources.oracles.row_block import split_frame
from pacboost.sources.rows import FrameRows, Rows


def rows_and_labels(X: object, y: object) -> tuple[Any, Any]:
    """Return rows in memory and their labels; y may be the name of a column of X."""
    if is_collection(X):
        from pacboost.questions.fetched_rows import fetched

        return fetched(X, y)
    if y is None:
        raise DataError("y is None; give the labels, or the name of the column that holds them")
    if not isinstance(y, str):
        return X, y
    X = collected(X)
    if not isinstance(Rows.of(X), FrameRows):
        raise ParameterError(
            f"y is {y!r}, which names a column, and X is no data frame; give the labels",
            parameter="y",
        )
    rows, labels = split_frame(X, y)
    return rows, labels.to_numpy()


def by_column(model: object, X: Any, by: Any, name: str = "by") -> tuple[Any, Any]:
    """Return rows as the model reads them, and the groups, from the name of a column or values."""
    if not isinstance(by, str):
        return X, by
    if not isinstance(Rows.of(X), FrameRows):
        raise ParameterError(
            f"{name} is {by!r}, which names a column, and X is no data frame; give an array with "
            "a value for every row"
        )
    frame = open_frame(X)
    if by not in frame.columns:
        raise ParameterError(
            f"{name} is {by!r}{meant(by, frame.columns)}; the columns are "
            f"{', '.join(map(repr, frame.columns))}"
        )
    features = getattr(model, "feature_names_in_", None)
    # a column that only names groups would be refused as one that the fit did not have
    if features is not None and by not in [str(name) for name in features]:
        X = frame.drop(by).to_native()
    return X, frame[by].to_list()


def groups_of_rows(by: object, rows: int) -> NDArray[Any]:
    """Return the name of the group of every row."""
    groups = np.asarray(by, dtype=object) if isinstance(by, list) else np.asarray(by)
    if groups.shape != (rows,):
        raise DataError(f"by has shape {groups.shape}; one group for each of {rows} rows is needed")
    return np.array([str(group) for group in with_missing(groups, "by").tolist()])
