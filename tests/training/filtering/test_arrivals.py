"""Rows of a stream are recognised by their content."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from pacboost.samples.content_sample import ContentKeys
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.sparse import SparseTable
from pacboost.sources.table import Table
from pacboost.training.filtering import arrivals
from pacboost.training.filtering.arrivals import Arrivals, RoundedRows

KEY = np.uint64(11)


def hashes_of(table: Table, key: np.uint64) -> NDArray[np.uint64]:
    return ContentKeys(key).ids(table, np.arange(table.n_rows, dtype=np.uint64))


def test_equal_rows_have_equal_hashes_whatever_holds_them() -> None:
    X = np.random.default_rng(0).integers(3, size=(50, 4)).astype(np.float64)
    X[3, 1] = np.nan
    known = hashes_of(ArrayTable(X), KEY)
    np.testing.assert_array_equal(hashes_of(ArrayTable(X.astype(np.float32)), KEY), known)
    np.testing.assert_array_equal(hashes_of(SparseTable(sparse.csr_array(X)), KEY), known)
    np.testing.assert_array_equal(hashes_of(ArrayTable(np.where(X == 0, -0.0, X)), KEY), known)
    _, rows = np.unique(X, axis=0, return_inverse=True)
    _, hashed = np.unique(known, return_inverse=True)
    assert np.unique(np.column_stack([rows, hashed]), axis=0).shape[0] == hashed.max() + 1


def test_the_order_of_columns_and_the_key_matter() -> None:
    X = np.random.default_rng(0).random((20, 3))
    known = hashes_of(ArrayTable(X), KEY)
    assert not np.isin(hashes_of(ArrayTable(X[:, ::-1].copy()), KEY), known).any()
    assert not np.isin(hashes_of(ArrayTable(X), np.uint64(12)), known).any()


@pytest.mark.parametrize("sizes", [[1], [7, 2], [30]])
def test_parts_change_nothing(sizes: list[int]) -> None:
    rows = np.array([*range(20), 5, *range(20, 29)], dtype=np.uint64)
    seen, made, at = [], Arrivals(), 0
    for size in sizes * 30:
        seen.append(made.first_time(rows[at : at + size]))
        at += size
    np.testing.assert_array_equal(np.concatenate(seen), np.arange(rows.size) < 20)
    assert made.repeated


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "REMEMBERED", 10)
    made = Arrivals()
    assert made.first_time(np.arange(50, dtype=np.uint64)).all()
    assert made.known.size == 10
    assert made.first_time(np.array([45], dtype=np.uint64)).all()
    assert not made.first_time(np.array([60, 46], dtype=np.uint64), np.array([60], np.uint64)).any()


def told(X: NDArray[np.float64], size: int) -> list[NDArray[Any]]:
    """Return what is found of rows that come so many at a time."""
    made = RoundedRows()
    for first in range(0, len(X), size):
        table = ArrayTable(X[first : first + size])
        made.look(table, hashes_of(table, KEY))
    return [np.array([made.come_again]), *made.state().values()]


@pytest.mark.parametrize("digits", ["%.3f", "%.2f", "%.1f", "%.3g"])
@pytest.mark.parametrize("kind", ["again", "draws", "few values"])
def test_rows_that_come_again_with_fewer_digits(
    digits: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "ROUNDED_ROWS", 512)
    X = np.random.default_rng(0).normal(size=(1500, 3))
    if kind == "few values":
        X = np.rint(2 * X)
    elif kind == "again":
        X[700:] = np.array([[float(digits % x) for x in row] for row in X[:800].tolist()])
    found = told(X, 1500)
    assert found[0] == (kind == "again")
    for size in (1, 90, 700):
        for one, other in zip(told(X, size), found, strict=True):
            np.testing.assert_array_equal(one, other)
    made = RoundedRows()
    for part in (X[:900], X[900:]):
        state, made = made.state(), RoundedRows()
        made.restore(state)
        made.look(ArrayTable(part), hashes_of(ArrayTable(part), KEY))
    for one, other in zip(made.state().values(), found[1:], strict=True):
        np.testing.assert_array_equal(one, other)
