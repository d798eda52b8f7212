"""Which columns of a source are features, and whether several files agree on them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.levels import is_missing

INDEX = "__index_level_"
"""How pandas names the columns in which it stores the index of a frame: they are no features."""


def features(
    names: Sequence[str], target: str, drop: Collection[str] = (), where: str = "the source"
) -> tuple[str, ...]:
    """Return the columns that are neither the target nor dropped.

    >>> features(["id", "a", "y", "b"], "y", drop=["id"])
    ('a', 'b')
    """
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"{where}: names these columns twice: {', '.join(twice)}")
    for name in (target, *drop):
        if name not in names:
            raise DataError(
                f"{where}: has no column {name!r}; its columns are {', '.join(map(repr, names))}"
            )
    left = {target, *drop}
    kept = tuple(name for name in names if name not in left and not name.startswith(INDEX))
    if not kept:
        raise DataError(f"{where}: has no column but {', '.join(map(repr, names))}: no feature")
    return kept


def refuse_other(
    names: Collection[str], where: str, expected: Collection[str], elsewhere: str
) -> None:
    """Raise if a file has other features than another; their order has no part in it."""
    lacking = [name for name in expected if name not in set(names)]
    besides = [name for name in names if name not in set(expected)]
    if lacking or besides:
        differences = [
            f"{word} {', '.join(map(repr, some[:5]))}{', …' if len(some) > 5 else ''}"
            for word, some in (("lacks", lacking), ("has besides", besides))
            if some
        ]
        raise DataError(
            f"{where}: has other columns than {elsewhere}: it {' and '.join(differences)}. All "
            "files of a source have the same columns; drop those that some lack."
        )


# Labels: which there are, found a piece at a time, and which are missing.

NO_LABEL = "has no label. Rows without one teach nothing: drop them."


def distinct(pieces: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Return the distinct labels, sorted.

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
    """Return the place of the first label that is missing.

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
