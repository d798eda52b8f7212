"""Labels: which there are, found a piece at a time, and which are missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.levels import is_missing

NO_LABEL = "has no label. Rows without one teach nothing: drop them."


def distinct(pieces: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Give the distinct labels, sorted.

    Labels already known are passed over by comparing, which for few classes takes a small part of
    the time of sorting.

    >>> distinct([np.array([2, 1, 2]), np.array([0, 1])]).tolist()
    [0, 1, 2]
    """
    known = np.empty(0)
    for piece in pieces:
        new = piece[~np.isin(piece, known)] if known.size else piece
        if new.size:
            known = _sorted(np.concatenate([known, new]) if known.size else new)
    return known


def _sorted(labels: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.unique(labels)
    except TypeError as problem:
        raise DataError(
            f"the labels are of kinds that cannot be compared ({problem}). Make them all numbers, "
            "or all text."
        ) from problem


def first_missing(labels: NDArray[Any]) -> int | None:
    """Give the place of the first label that is missing.

    >>> first_missing(np.array([1.0, np.nan]))
    1
    """
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype.kind == "O":
        missing = np.fromiter(map(is_missing, labels), np.bool_, labels.size)
    else:
        return None
    return int(missing.argmax()) if missing.any() else None
