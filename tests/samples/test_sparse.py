"""Cuts and codes of sparse tables are those of the same tables opened up; few are stored."""

import numpy as np
import pytest
from scipy import sparse

from pacboost import BoostClassifier
from pacboost.errors import DataError
from pacboost.samples import bins as bins_of
from pacboost.samples import sparse_codes
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.samples.sparse_codes import SparseCodes
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.sparse import SparseTable, words_of
from tests.equal_bins import equal_bins
from tests.grids import each_value
from tests.sparse_samples import twins

pytestmark = pytest.mark.usefixtures("keep_sparse")


@each_value
@pytest.mark.parametrize("looked_at", [7, 200_000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_bins", [2, 3, 8, 255])
def test_the_cuts_are_those_of_the_dense_table(
    monkeypatch: pytest.MonkeyPatch, max_bins: int, weighted: bool, looked_at: int
) -> None:
    monkeypatch.setattr(bins_of, "MAX_ROWS_FOR_QUANTILES", looked_at)
    generator = np.random.default_rng(max_bins)
    for _ in range(20):
        X, matrix = twins(generator)
        weights = generator.random(len(X)) + 0.01 if weighted else None
        expected = fit_bins(ArrayTable(X), max_bins, weights)
        actual = fit_bins(SparseTable(matrix), max_bins, weights)
        assert equal_bins(expected, actual)
        np.testing.assert_array_equal(actual.middle, expected.middle)


def test_columns_without_a_value_have_no_cut() -> None:
    matrix = sparse.csc_array(np.array([[np.nan, 0.0], [np.nan, 0.0]]))
    bins = fit_bins(SparseTable(matrix))
    assert [cuts.size for cuts in bins.thresholds] == [0, 0]
    np.testing.assert_array_equal(bins.middle, [0, 0])


@pytest.mark.parametrize("max_bins", [2, 6, 255, 300])
def test_codes_are_those_of_the_dense_table(max_bins: int) -> None:
    generator = np.random.default_rng(max_bins)
    for _ in range(10):
        X, matrix = twins(generator, rows=400)
        bins = fit_bins(ArrayTable(X), max_bins)
        expected = bins.encode(ArrayTable(X))
        actual = SparseCodes.from_entries(SparseTable(matrix).entries, bins)
        np.testing.assert_array_equal(actual.dense(), expected)
        assert actual.dense().dtype == actual.column(0).dtype == expected.dtype
        for j, own in enumerate(expected):
            np.testing.assert_array_equal(actual.column(j), own)
        assert actual.rows.size == np.count_nonzero(expected != actual.defaults[:, None])


@pytest.mark.parametrize("cells", [1, 40, 1 << 24])
def test_blocks_of_rows(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    monkeypatch.setattr(sparse_codes, "MAX_CELLS_PER_BLOCK", cells)
    X, matrix = twins(np.random.default_rng(4), 50, 9)
    bins = fit_bins(ArrayTable(X))
    blocks = list(SparseCodes.from_entries(SparseTable(matrix).entries, bins).blocks())
    assert [first for first, _ in blocks] == list(range(0, 50, max(1, min(50, cells // 9))))
    actual = np.concatenate([codes for _, codes in blocks], axis=1)
    np.testing.assert_array_equal(actual, bins.encode(ArrayTable(X)))


def test_samples_of_sparse_tables_and_of_words() -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    signs = np.array([[1], [-1], [1]], dtype=np.int8)
    listed = SparseTable(sparse.csr_array(X))
    for table in (listed, words_of(listed), words_of(ArrayTable(X))):
        sample = Sample(table, signs, bins=fit_bins(table))
        assert sample.sparse is not None
        assert sample.sparse.rows.size == 4
        np.testing.assert_array_equal(sample.codes, X.T)
        np.testing.assert_array_equal(sample.column(1), X[:, 1])
        assert Sample(table, signs).sparse is None
    assert Sample(ArrayTable(X), signs, bins=fit_bins(ArrayTable(X))).sparse is None


@pytest.mark.parametrize("columns", [2**27 + 1, 2**31, 2**40])
def test_more_columns_than_memory_can_list_are_refused_at_once(columns: int) -> None:
    """SciPy would take minutes, and 16 GB for 2**31 columns, to list their rows."""
    rows = np.arange(20)
    matrix = sparse.csr_array((np.ones(20), (rows, rows)), shape=(20, columns))
    with pytest.raises(DataError, match=f"X has {columns:,} columns"):
        BoostClassifier(n_estimators=2).fit(matrix, rows % 2)
