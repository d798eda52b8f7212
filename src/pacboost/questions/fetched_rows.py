"""A random choice of the rows of a Dask collection, fetched into memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.kernels.hashing import BITS
from pacboost.kernels.native import native
from pacboost.sources.optional import need
from pacboost.sources.oracles.choose import open_source
from pacboost.sources.oracles.row_block import RowBlock

MAX_ROWS_TO_FETCH = 200_000
"""Maximum number of rows read from a Dask collection. A certificate then has a width of a quarter
of a percent, and more rows hardly narrow it."""
COIN_KEY = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class ByCoin:
    """Chooses every row of a Dask collection with the same chance, by its partition and number."""

    share: float

    def __call__(self, rows: NDArray[np.uint64], held: RowBlock) -> NDArray[np.bool_]:
        """Return which rows are chosen."""
        drawn = np.empty(rows.size, dtype=np.uint64)
        native.draw(rows, COIN_KEY, drawn)
        return np.asarray(drawn * 2.0**-BITS < self.share)


def fetched(X: object, y: object) -> tuple[Any, NDArray[Any]]:
    """Return the chosen rows and their labels; y may be the name of a column of X."""
    source, target = (X, y) if isinstance(y, str) else ((X, y), None)
    with open_source(source, target, 0) as oracle:
        share = min(1.0, MAX_ROWS_TO_FETCH / max(1, oracle.n_rows or 1))
        batches = list(oracle.select(ByCoin(share)))
        if not batches:
            raise DataError("the Dask collection holds no rows; at least one is needed")
        rows = np.concatenate([batch.table.rows() for batch in batches])
        labels = np.concatenate([batch.labels for batch in batches])
        if oracle.names is None:
            return rows, labels
        return need("pandas").DataFrame(rows, columns=list(oracle.names)), labels
