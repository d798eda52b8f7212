"""The same rows twice, dense and sparse, with all that a sparse matrix may hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.samples.bins import Bins, fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.sparse import SparseTable

Rows = NDArray[np.float64]

SHARES = (0.0, 0.02, 0.2, 0.7, 1.0)
"""How many cells of a column may be away from zero."""
SCALES = (1.0, 1.0, 1e-46, 1e-300, 1e39)
"""Some values vanish in 32 bits, some exceed them."""


def twins(
    generator: np.random.Generator, rows: int | None = None, columns: int | None = None
) -> tuple[Rows, Any]:
    """Draw columns that are empty, sparse or full, of whole or other numbers, of either sign.

    Some cells are missing, and some zeros are stored. Gives the rows, and the same as a matrix.
    """
    rows = int(generator.integers(1, 150)) if rows is None else rows
    columns = int(generator.integers(1, 15)) if columns is None else columns
    X = np.zeros((rows, columns))
    for j in range(columns):
        away = generator.random(rows) < generator.choice(SHARES)
        values = generator.normal(size=rows) * generator.choice(SCALES)
        if generator.random() < 0.4:
            values = generator.integers(-3, 4, rows)
        X[away, j] = values[away]
        if generator.random() < 0.3:
            X[generator.random(rows) < generator.choice([0.05, 0.5, 1.0]), j] = np.nan
    stored = (X != 0) | (generator.random(X.shape) < 0.05)
    row, column = np.nonzero(stored)
    matrix: Any = sparse.coo_array((X[stored], (row, column)), shape=X.shape)
    return X, matrix.asformat(str(generator.choice(["csr", "csc"])))


def twin_samples(
    generator: np.random.Generator, rows: int, columns: int, outputs: int = 1, max_bins: int = 255
) -> tuple[Sample, Sample]:
    """Make a dense and a sparse sample of twins; the signs depend on the first columns."""
    X, matrix = twins(generator, rows, columns)
    pull = np.nan_to_num(np.sign(X[:, : outputs + 1])).sum(axis=1)
    noise = generator.normal(size=(rows, outputs))
    signs = np.where(pull[:, None] + noise > 0.3, 1, -1).astype(np.int8)
    dense, listed = ArrayTable(X), SparseTable(matrix)
    bins: Bins = fit_bins(dense, max_bins)
    return Sample(dense, signs, bins=bins), Sample(listed, signs, bins=bins)
