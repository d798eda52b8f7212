"""Hashes of rows equal those of a twin in whole numbers."""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.samples.row_hashes import RowHasher
from pacboost.sources.arrays import ArrayTable
from tests.grids import each_value


def hashes_twin(hasher: RowHasher, X: NDArray[Any], columns: Iterable[int]) -> list[int]:
    """Hash in whole numbers of any size, cell by cell."""
    word = 2**64 - 1

    def mixed(x: int) -> int:
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & word
        x = (x ^ x >> 27) * 0x94D049BB133111EB & word
        return x ^ x >> 31

    def cell(value: float) -> int:
        bits = (np.float32(value) + np.float32(0)).view(np.uint32)
        return 0x9E3779B97F4A7C15 if np.isnan(value) else int(bits)

    factors = hasher._factors.tolist()
    return [
        mixed(
            (hasher.salt + sum(mixed((cell(row[j]) + factors[j]) & word) for j in columns)) & word
        )
        for row in X
    ]


@each_value
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_hashes_equal_the_twins(kind: type, order: Literal["C", "F"]) -> None:
    draw = np.random.default_rng(0)
    X: NDArray[Any] = np.array(draw.normal(size=(300, 4)), dtype=kind, order=order)
    X[draw.random(X.shape) < 0.1] = np.nan
    X[0], X[1], X[2], X[3] = -0.0, 1e30, 1e-30, 0.0
    table, rows, limit = ArrayTable(X), np.arange(299, 0, -3), 2**62
    hasher = RowHasher.for_table(table)
    for columns in (None, range(3), [0, 2, 3]):
        expected = hashes_twin(hasher, X, range(4) if columns is None else columns)
        actual = hasher.hashes(table, None, columns)
        assert actual.tolist() == expected
        assert actual[0] == actual[3]
        assert np.array_equal(hasher.hashes(table, rows, columns), actual[rows])
    below = hasher.below(table, np.array([0, 2, 3]), limit)
    assert np.array_equal(below, np.flatnonzero(actual < limit))
    assert 0 < below.size < len(X)
