"""A fingerprint of the rows that a run learned from, and of their order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.sample import Sample
from pacboost.sources.words import WordTable

Pieces = Callable[[], Iterator[NDArray[np.generic]]]

_begun: WeakKeyDictionary[Sample, Future[str]] = WeakKeyDictionary()
_elsewhere: WeakKeyDictionary[Sample, Pieces] = WeakKeyDictionary()


def take_codes_from(sample: Sample, pieces: Pieces) -> None:
    """Take the codes of a sample from where they are already, feature by feature."""
    _elsewhere[sample] = pieces


def begin(sample: Sample) -> None:
    """Compute the fingerprint of a sample on another thread, while a GPU boosts."""
    pieces = _elsewhere.get(sample)
    with_one = ThreadPoolExecutor(1, thread_name_prefix="pacboost")
    _begun[sample] = with_one.submit(_fingerprint, sample, None if pieces is None else pieces())
    with_one.shutdown(wait=False)


def fingerprint(sample: Sample) -> str:
    """Return the SHA-256 of what learners saw: codes or words or raw rows, labels and weights.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> signs = np.array([[1], [-1]], dtype=np.int8)
    >>> one, other = (Sample(ArrayTable(np.array([[x], [2.0]])), signs) for x in (0.0, 1.0))
    >>> fingerprint(one) == fingerprint(one), fingerprint(one) == fingerprint(other)
    (True, False)
    """
    begun, pieces = _begun.pop(sample, None), _elsewhere.get(sample)
    if begun is not None:
        return begun.result()
    return _fingerprint(sample, None if pieces is None else pieces())


def _fingerprint(sample: Sample, pieces: Iterator[NDArray[np.generic]] | None) -> str:
    found = hashlib.sha256()
    for array in (*_known(sample), *(_seen(sample) if pieces is None else ())):
        found.update(f"{array.dtype.str[1:]}{array.shape}".encode())
        _add(found, array)
    if pieces is not None:
        found.update(f"u1{(sample.table.n_columns, sample.n_rows)}".encode())
        for piece in pieces:
            _add(found, piece)
    return found.hexdigest()


def _add(found: Any, array: NDArray[np.generic]) -> None:
    flat: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    found.update(memoryview(flat))


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
