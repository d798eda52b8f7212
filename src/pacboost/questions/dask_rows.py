"""Rows of Dask collections for a certificate: workers read all of them, and a random choice comes.

Every row of the collection has the same chance to be chosen, by a coin keyed to its partition and
its number there, so the rows that come are a simple random sample: what held for all rows (that
they are new, and independent draws) holds for these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, ParameterError
from pacboost.kernels import hashing
from pacboost.sources.dataframe import is_frame
from pacboost.sources.optional import collected, need
from pacboost.sources.oracles.choose import is_collection, open_source
from pacboost.sources.oracles.held import Held, split_frame
from pacboost.sources.oracles.oracle import SettlingChooser

MOST_ROWS = 200_000
"""More rows hardly make a certificate smaller: its width is a quarter of a percent then."""
KEY = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class ByCoin(SettlingChooser):
    """Chooses every row with the same chance."""

    share: float

    def __call__(self, rows: NDArray[np.uint64], held: Held) -> NDArray[np.bool_]:
        """Return which rows are chosen."""
        drawn = np.empty(rows.size, dtype=np.uint64)
        hashing.numbers(rows, KEY, drawn)
        return np.asarray(drawn * 2.0**-hashing.BITS < self.share)

    def settle(self, first: SettlingChooser) -> None:
        """Do nothing: the share is settled."""


def rows_and_labels(X: Any, y: Any, target: str | None) -> tuple[Any, Any]:
    """Return rows in memory and their labels; ``target`` names the column of labels of a frame."""
    if is_collection(X):
        return _chosen(X if target is not None else (X, y), target)
    if target is None:
        if y is None:
            raise DataError("y is None; give the labels, or name their column by target=")
        return X, y
    X = collected(X)
    if not is_frame(X):
        raise ParameterError(f"target is {target!r}, and X is no data frame; give y instead")
    rows, labels = split_frame(X, target)
    return rows, labels.to_numpy()


def _chosen(source: Any, target: str | None) -> tuple[Any, NDArray[Any]]:
    with open_source(source, target, 0) as oracle:
        share = min(1.0, MOST_ROWS / max(1, oracle.n_rows or 1))
        batches = list(oracle.select(ByCoin(share)))
        if not batches:
            raise DataError("the Dask collection holds no rows; at least one is needed")
        rows = np.concatenate([batch.table.rows() for batch in batches])
        labels = np.concatenate([batch.labels for batch in batches])
        if oracle.names is None:
            return rows, labels
        return need("pandas", "frames").DataFrame(rows, columns=list(oracle.names)), labels
