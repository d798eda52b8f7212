"""Number groups of rows that depend on each other; missing labels form one group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, InputWarning, warn


def with_missing(groups: NDArray[Any], name: str) -> NDArray[Any]:
    """Label rows whose group is missing as one group, 'missing', and warn.

    >>> with_missing(np.array(["b", "a"]), "by").tolist()
    ['b', 'a']
    """
    labels = groups.tolist()
    absent = [label is None or label != label for label in labels]  # noqa: PLR0124
    if not any(absent):
        return groups
    warn(
        f"{name} is missing in {sum(absent):,} of {len(labels):,} rows; "
        "they form the group 'missing'",
        InputWarning,
    )
    names = ["missing" if lost else label for label, lost in zip(labels, absent, strict=True)]
    return np.array(names, dtype=object)


def numbered(groups: NDArray[Any], rows: int) -> NDArray[np.intp]:
    """Return the number of each row's group: 0, 1, ...

    >>> numbered(np.array(["b", "a", "b"]), 3).tolist()
    [1, 0, 1]
    """
    if groups.shape != (rows,):
        raise DataError(f"groups has shape {groups.shape}; give one label for each of {rows} rows")
    groups = with_missing(groups, "groups")
    try:
        return np.unique(groups, return_inverse=True)[1].astype(np.intp)
    except TypeError:  # text and numbers mixed
        return np.unique(groups.astype(str), return_inverse=True)[1].astype(np.intp)
