"""The fingerprint of a sample: a digest of its rows, labels and weights, in order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.sample import Sample
from pacboost.sources.sparse import WordTable

Array = NDArray[np.generic]


class StoredCodes(Protocol):
    """Codes of a sample that a search has laid out for its own use."""

    @property
    def on_gpu(self) -> bool:
        """Whether they are in the memory of a GPU."""

    def columns(self) -> Iterator[NDArray[np.uint8]]:
        """Return the codes feature by feature."""


class Fingerprint:
    """The SHA-256 of a sample: of its codes, words or raw rows, labels and weights.

    ``stored`` are codes that exist already, so that none have to be computed.
    """

    def __init__(self, sample: Sample, stored: StoredCodes | None = None) -> None:
        self._sample, self._stored = sample, stored
        self._begun: Future[str] | None = None

    def begin(self) -> None:
        """Start in a thread if codes are on a GPU, because the cores are idle then."""
        if self._stored is not None and self._stored.on_gpu:
            executor = ThreadPoolExecutor(1, thread_name_prefix="pacboost")
            self._begun = executor.submit(self._compute)
            executor.shutdown(wait=False)

    def digest(self) -> str:
        return self._compute() if self._begun is None else self._begun.result()

    def _compute(self) -> str:
        sample, digest = self._sample, hashlib.sha256()
        labels: list[Array | None] = [sample.signs, sample.base, sample.labels, sample.targets]
        is_listed = "codes" in vars(sample) or sample.table.entries is not None
        stored = None if is_listed else self._stored
        arrays = [array for array in labels if array is not None]
        for array in arrays if stored else [*arrays, *_features(sample)]:
            digest.update(f"{array.dtype.str[1:]}{array.shape}".encode())
            digest.update(_bytes(array))
        if stored is not None:
            digest.update(f"u1{(sample.table.n_columns, sample.n_rows)}".encode())
            for column in stored.columns():
                digest.update(_bytes(column))
        return digest.hexdigest()


def _bytes(array: Array) -> memoryview:
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))  # type: ignore[arg-type]


def _features(sample: Sample) -> list[Array]:
    if sample.bins is not None and sample.table.entries is not None:
        codes = sample.listed()
        return [codes.starts, codes.rows, codes.codes, codes.defaults]
    if sample.codes is not None:
        return [sample.codes]
    if isinstance(sample.table, WordTable):
        return [sample.table.starts, sample.table.words]
    return [sample.table.block(0, sample.table.n_columns)]
