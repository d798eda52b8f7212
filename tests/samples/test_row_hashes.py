"""Hashes of rows by kernels and by NumPy."""

from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.kernels import hashing
from pacboost.samples.gathering import Gathering
from pacboost.samples.row_hashes import RowHasher
from pacboost.sources.arrays import ArrayTable


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_large_tables_are_hashed_by_a_kernel_with_the_same_result(
    kind: type, order: Literal["C", "F"], monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(0)
    X: NDArray[Any] = np.array(draw.normal(size=(500, 4)), dtype=kind, order=order)
    X[draw.random(X.shape) < 0.1] = np.nan
    X[0], X[1], X[2] = -0.0, 1e30, 1e-30
    hasher = RowHasher.for_table(ArrayTable(X))
    actual = hasher.hashes(ArrayTable(X))
    columns, limit = np.array([0, 2, 3]), 2**62
    below = hasher.below(ArrayTable(X), columns, limit)
    assert np.array_equal(
        below, np.flatnonzero(hasher.hashes(ArrayTable(X), None, [0, 2, 3]) < limit)
    )
    assert 0 < below.size < len(X)
    monkeypatch.setattr(hashing, "MIN_CELLS_TO_COMPILE", 0)
    assert np.array_equal(hasher.hashes(ArrayTable(X)), actual)
    assert np.array_equal(hasher.below(ArrayTable(X), columns, limit), below)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_pieces_of_a_table_are_hashed_by_kernels_with_the_same_result(kind: type) -> None:
    draw = np.random.default_rng(1)
    X: NDArray[Any] = draw.normal(size=(400, 5)).astype(kind)
    X[draw.random(X.shape) < 0.1] = np.nan
    X[0], X[1], X[2] = -0.0, 1e30, 0.0
    table, rows = ArrayTable(X), np.arange(399, 0, -3)
    hasher = RowHasher.for_table(table)
    for columns in (None, range(3), [0, 4]):
        for some in (None, rows):
            plain, compiled = (
                hasher.hashes(table, some, columns, compiled=way) for way in (False, True)
            )
            assert np.array_equal(compiled, plain)
    assert hasher.hashes(table)[0] == hasher.hashes(table)[2]


def test_sketches_are_the_same_by_kernels() -> None:
    X = np.random.default_rng(2).normal(size=(300, 6))
    gathering = Gathering()
    later, rows = ArrayTable(X[200:]), np.arange(200, 300, dtype=np.uint64)
    gathering.add(ArrayTable(X[100:200]), np.arange(100, 200, dtype=np.uint64))
    read = gathering.read(later, rows)
    assert np.array_equal(gathering.read(later, rows, compiled=True), read)
