"""Labels that are whole numbers close to each other: many of them are numbered by counting.

To sort ten million labels takes a second, to count them a hundredth of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.threads import ROWS_PER_SPAN

ROWS_WORTH_COUNTING = 100_000
MOST_APART = 256
"""Labels further apart than this are sorted."""


def lowest_label(labels: NDArray[Any]) -> int | None:
    """Give the lowest of many whole numbers that lie close together; None for any other labels.

    >>> lowest_label(np.array([7, 8] * 100_000)), lowest_label(np.array([7, 8]))
    (7, None)
    """
    if labels.ndim != 1 or labels.size < ROWS_WORTH_COUNTING or labels.dtype.kind not in "biuf":
        return None
    low, high = labels.min(), labels.max()
    if not (np.isfinite(low) and np.isfinite(high)) or float(high) - float(low) >= MOST_APART:
        return None
    if max(abs(float(low)), abs(float(high))) >= 2**53:
        return None
    if labels.dtype.kind == "f" and not all(_are_whole(part) for part in _parts(labels)):
        return None
    return int(low)


def number_classes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.integer]]:
    """Give the classes, ascending, and the number of each label's class: as numpy.unique does.

    >>> classes, numbers = number_classes(np.array([7, 9] * 100_000))
    >>> classes.tolist(), numbers[:3].tolist()
    ([7, 9], [0, 1, 0])
    """
    low = lowest_label(labels)
    if low is None:
        return np.unique(labels, return_inverse=True)
    places = np.empty(labels.size, dtype=np.uint8)
    counts = np.zeros(MOST_APART, dtype=np.int64)
    wide = np.int64 if labels.dtype.kind in "bu" else labels.dtype
    for start, part in zip(range(0, labels.size, ROWS_PER_SPAN), _parts(labels), strict=True):
        own = places[start : start + part.size]
        np.subtract(part, part.dtype.type(low), out=own, dtype=wide, casting="unsafe")
        counts += np.bincount(own, minlength=MOST_APART)
    found = np.flatnonzero(counts)
    classes = (found + low).astype(labels.dtype)
    if found[-1] == found.size - 1:  # no number between them is missing
        return classes, places
    ranks = np.zeros(MOST_APART, dtype=np.uint8)
    ranks[found] = np.arange(found.size)
    return classes, ranks[places]


def _parts(labels: NDArray[Any]) -> list[NDArray[Any]]:
    return [labels[k : k + ROWS_PER_SPAN] for k in range(0, labels.size, ROWS_PER_SPAN)]


def _are_whole(part: NDArray[Any]) -> bool:
    """Tell whether all floats are whole numbers; -0, which would print as such, is none."""
    whole = part.astype(np.int64).astype(part.dtype)
    return bool((whole == part).all() and not np.signbit(part[part == 0]).any())
