"""A fingerprint of the rows that a run learned from, and of their order."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.sample import Sample
from pacboost.sources.words import WordTable


def fingerprint(sample: Sample) -> str:
    """Give the SHA-256 of what learners saw: codes or words or raw rows, labels and weights.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> signs = np.array([[1], [-1]], dtype=np.int8)
    >>> one, other = (Sample(ArrayTable(np.array([[x], [2.0]])), signs) for x in (0.0, 1.0))
    >>> fingerprint(one) == fingerprint(one), fingerprint(one) == fingerprint(other)
    (True, False)
    """
    found = hashlib.sha256()
    for array in (*_known(sample), *_seen(sample)):
        found.update(f"{array.dtype.str[1:]}{array.shape}".encode())
        found.update(memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8)))  # type: ignore[arg-type]
    return found.hexdigest()


def _known(sample: Sample) -> list[NDArray[np.generic]]:
    given = (sample.signs, sample.base, sample.labels, sample.targets)
    return [array for array in given if array is not None]


def _seen(sample: Sample) -> list[NDArray[np.generic]]:
    if sample.sparse is not None:
        own = sample.sparse
        return [own.starts, own.rows, own.codes, own.defaults]
    if sample.codes is not None:
        return [sample.codes]
    if isinstance(sample.table, WordTable):
        return [sample.table.starts, sample.table.words]
    return [sample.rows]
