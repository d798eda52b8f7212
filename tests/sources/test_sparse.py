"""Sparse tables: what is stored, whatever form it came in, and nothing else."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import DTypeLike, NDArray

from pacboost.errors import DataError
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.row_block import hold
from pacboost.sources.sparse import SparseTable, WordTable, words_of
from tests.examples import examples
from tests.grids import each_value
from tests.sparse_samples import twins
from tests.word_samples import some_presence

DENSE = np.array([[0.0, 2.0, 0.0], [1.5, 0.0, np.nan], [0.0, -1.0, 0.0], [4.0, 0.0, 0.0]])


def joined(table: SparseTable) -> NDArray[np.floating]:
    return np.hstack([values for _, values in table.blocks()])


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_array, sp.coo_array, sp.csr_array])
def test_a_sparse_table_equals_the_dense_one(make: Any) -> None:
    table = SparseTable(make(DENSE))
    assert (table.n_rows, table.n_columns) == DENSE.shape
    np.testing.assert_array_equal(joined(table), DENSE)
    np.testing.assert_array_equal(table.rows(), DENSE)
    np.testing.assert_array_equal(table.block(1, 3), DENSE[:, 1:3])


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.bool_])
def test_sparse_numbers_of_any_kind_become_doubles(dtype: DTypeLike) -> None:
    array = np.array([[1, 0], [0, 1]]).astype(dtype)
    table = SparseTable(sp.csr_array(array))
    assert table.rows().dtype == np.float64
    np.testing.assert_array_equal(table.rows(), array.astype(np.float64))


@pytest.mark.parametrize("seed", range(10))
def test_entries_are_the_stored_cells_column_by_column(seed: int) -> None:
    X, matrix = twins(np.random.default_rng(seed))
    own = SparseTable(matrix).entries
    np.testing.assert_array_equal(own.values, X[own.rows, own.columns])
    assert own.rows.size == matrix.nnz
    assert np.count_nonzero(X) == np.count_nonzero(own.values)
    assert (np.diff(own.columns * len(X) + own.rows) > 0).all()


def test_cells_that_come_twice_are_added_and_the_matrix_is_left_as_it_was() -> None:
    rows, columns = np.array([1, 0, 1, 2]), np.array([0, 0, 0, 1])
    for kind in (sp.csr_array, sp.csc_array):
        shape = (3, 2)
        starts = np.array([0, 1, 3, 4]) if kind is sp.csr_array else np.array([0, 3, 4])
        places = columns[[1, 0, 2, 3]] if kind is sp.csr_array else rows
        values = np.array([5.0, 1.0, 2.0, 7.0])
        matrix: Any = kind((values, places, starts), shape=shape)
        wanted = matrix.toarray()
        table = SparseTable(matrix)
        np.testing.assert_array_equal(table.rows(), wanted)
        assert table.entries.rows.size == 3
        np.testing.assert_array_equal(matrix.data, [5.0, 1.0, 2.0, 7.0])
        np.testing.assert_array_equal(matrix.indices, places)


def test_a_matrix_in_order_is_not_copied() -> None:
    matrix = sp.csc_array(DENSE)
    assert np.shares_memory(SparseTable(matrix).entries.values, matrix.data)


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_taken_in_any_order_and_more_than_once(seed: int) -> None:
    generator = np.random.default_rng(seed)
    X, matrix = twins(generator, rows=30)
    for rows in (np.array([3, 1, 1, 29]), np.arange(0), np.sort(generator.permutation(30)[:9])):
        taken = SparseTable(matrix).take(rows)
        np.testing.assert_array_equal(taken.rows(), X[rows])
        assert (np.diff(taken.entries.columns * 30 + taken.entries.rows) > 0).all()


@each_value
@pytest.mark.parametrize("number", [-(10**7), 10**8])
@pytest.mark.parametrize(
    ("form", "indices"),
    [("csr", "indices"), ("csr", "indptr"), ("csc", "indices"), ("bsr", "indptr"), ("coo", "row")],
)
def test_indices_outside_the_matrix_are_refused(form: str, indices: str, number: int) -> None:
    """SciPy would read or write outside its arrays."""
    matrix = sp.csr_array(DENSE).asformat(form)  # type: ignore[call-overload]
    getattr(matrix, indices)[1] = number
    with pytest.raises(DataError, match="damaged"):
        SparseTable(matrix)
    with pytest.raises(DataError, match="damaged"):
        hold(matrix, np.arange(len(DENSE)))


def test_only_blocks_that_are_asked_for_are_opened() -> None:
    table = SparseTable(sp.csr_array(DENSE))
    found = list(table.blocks_of([2, 0]))
    assert [first for first, _ in found] == [0, 2]
    np.testing.assert_array_equal(found[1][1][:, 0], DENSE[:, 2])


def test_infinite_values_are_refused_by_row_and_column() -> None:
    matrix = sp.csr_array(DENSE)
    matrix.data[matrix.data == 4.0] = -np.inf
    with pytest.raises(DataError, match="column 0 holds -inf in"):
        SparseTable(matrix).entries.refuse_infinite()


# A table of words holds what a dense table of zeros and ones would.

MANY = examples(60)


def dense(table: WordTable) -> NDArray[np.floating]:
    parts = [block for _, block in table.blocks()]
    return np.concatenate(parts, axis=1) if parts else np.zeros((table.n_rows, 0))


@given(some_presence())
@MANY
def test_opened_up_it_is_what_it_was_made_of(presence: NDArray[np.float64]) -> None:
    table = words_of(ArrayTable(presence))
    from_sparse = words_of(SparseTable(sp.csr_matrix(presence)))
    assert np.array_equal(from_sparse.words, table.words)
    assert np.array_equal(dense(table), presence)
    assert np.array_equal(table.rows(), presence)
    for word in range(table.n_columns):
        assert table.holding(word).tolist() == np.flatnonzero(presence[:, word]).tolist()


@given(some_presence(), st.data())
@MANY
def test_some_rows_in_any_order_and_more_than_once(
    presence: NDArray[np.float64], data: st.DataObject
) -> None:
    places = st.lists(st.integers(0, len(presence) - 1), max_size=12)
    rows = np.array(data.draw(places), dtype=np.intp)
    taken = words_of(ArrayTable(presence)).take(rows)
    assert taken.n_rows == rows.size
    assert np.array_equal(dense(taken), presence[rows])


def test_missing_and_zero_are_no_words_and_any_other_number_is() -> None:
    values = np.array([[0.0, -3.0, np.nan], [0.5, 0.0, 1.0]])
    assert dense(words_of(ArrayTable(values))).tolist() == [[0, 1, 0], [1, 0, 1]]


def test_memory_goes_with_the_words_there_are() -> None:
    table = WordTable(np.arange(1001), np.arange(1000), 1_000_000)
    starts, rows = table.by_word
    held = table.starts.nbytes + table.words.nbytes + starts.nbytes + rows.nbytes
    assert held < 9 * 1_000_000
