"""Rows that depend on each other: which group each belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError


def numbered(groups: NDArray[Any], rows: int) -> NDArray[np.intp]:
    """Number the groups 0, 1, ... row by row.

    >>> numbered(np.array(["b", "a", "b"]), 3).tolist()
    [1, 0, 1]
    """
    if groups.shape != (rows,):
        raise DataError(f"groups has shape {groups.shape}; one label for each of {rows} rows")
    missing = sum(label is None or label != label for label in groups.tolist())  # noqa: PLR0124
    if missing:
        raise DataError(
            f"groups holds missing values in {missing:,} of {rows:,} rows; give every row its "
            "group, or leave those rows out"
        )
    try:
        return np.unique(groups, return_inverse=True)[1].astype(np.intp)
    except TypeError:  # text and numbers mixed
        return np.unique(groups.astype(str), return_inverse=True)[1].astype(np.intp)
