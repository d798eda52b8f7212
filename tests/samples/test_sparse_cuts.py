"""Bins of sparse tables are those of the same tables opened up."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from pacboost.samples import bins as bins_of
from pacboost.samples.bins import fit_bins
from pacboost.samples.cuts import distinct
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.sparse import SparseTable
from tests.sparse_samples import twins


@pytest.mark.parametrize("looked_at", [7, 200_000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_bins", [2, 3, 8, 255])
def test_the_cuts_are_those_of_the_dense_table(
    monkeypatch: pytest.MonkeyPatch, max_bins: int, weighted: bool, looked_at: int
) -> None:
    monkeypatch.setattr(bins_of, "ROWS_LOOKED_AT", looked_at)
    generator = np.random.default_rng(max_bins)
    for _ in range(20):
        X, matrix = twins(generator)
        weights = generator.random(len(X)) + 0.01 if weighted else None
        wanted = fit_bins(ArrayTable(X), max_bins, weights)
        found = fit_bins(SparseTable(matrix), max_bins, weights)
        assert not wanted.differ(found)
        np.testing.assert_array_equal(found.middle, wanted.middle)


def test_distinct_values_with_their_weights() -> None:
    X = np.array([[0.0, -2.0], [3.0, -0.0], [3.0, np.nan], [0.0, 1.0]])
    matrix = sparse.csc_array(X)
    matrix.data[matrix.data == 1.0] = 0.0  # a zero that is stored
    found = distinct(SparseTable(matrix).entries, np.array([1.0, 2.0, 4.0, 8.0]))
    np.testing.assert_array_equal(found.starts, [0, 2, 4])
    np.testing.assert_array_equal(found.values, [0, 3, -2, 0])
    np.testing.assert_array_equal(found.mass, [9, 6, 1, 10])


def test_columns_without_a_value_have_no_cut() -> None:
    matrix = sparse.csc_array(np.array([[np.nan, 0.0], [np.nan, 0.0]]))
    bins = fit_bins(SparseTable(matrix))
    assert [cuts.size for cuts in bins.thresholds] == [0, 0]
    np.testing.assert_array_equal(bins.middle, [0, 0])
