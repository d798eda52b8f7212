"""Sources that tests of FilterBoostClassifier draw from."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pacboost import FilterBoostClassifier

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]


def noisy(rows: int, seed: int = 0, classes: int = 2) -> tuple[Rows, Labels]:
    """Rows of 32-bit numbers, whose classes depend on three features, with noise."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 4)).astype(np.float32).astype(np.float64)
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.4 * generator.normal(size=rows)
    return X, np.digitize(score, np.linspace(-0.7, 0.7, classes + 1)[1:-1])


def coin(rows: int, seed: int) -> tuple[Rows, Labels]:
    """Labels by the toss of a coin: every classifier errs on half of new rows."""
    generator = np.random.default_rng(seed)
    return generator.normal(size=(rows, 3)), generator.integers(2, size=rows)


def write_parquet(folder: Path, X: Rows, y: Any, files: int = 3, group: int = 500) -> Path:
    folder.mkdir(exist_ok=True)
    for k, rows in enumerate(np.array_split(np.arange(len(X)), files)):
        columns = {f"x{j}": X[rows, j] for j in range(X.shape[1])}
        table = pa.table({**columns, "y": np.asarray(y)[rows]})
        pq.write_table(table, folder / f"part{k}.parquet", row_group_size=group)
    return folder


def small(*first: Any, **told: Any) -> FilterBoostClassifier:
    return FilterBoostClassifier(
        *first, **{"n_estimators": 12, "sample_rows": 1500, "random_state": 0, **told}
    )
