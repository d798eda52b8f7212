"""A table of words holds what a dense table of zeros and ones would."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from pacboost.sources.arrays import ArrayTable
from pacboost.sources.sparse import SparseTable, WordTable, words_of
from tests.word_samples import some_presence

MANY = settings(max_examples=60, deadline=None)


def dense(table: WordTable) -> NDArray[np.floating]:
    parts = [block for _, block in table.blocks()]
    return np.concatenate(parts, axis=1) if parts else np.zeros((table.n_rows, 0))


@given(some_presence())
@MANY
def test_opened_up_it_is_what_it_was_made_of(presence: NDArray[np.float64]) -> None:
    table = words_of(ArrayTable(presence))
    from_sparse = words_of(SparseTable(sparse.csr_matrix(presence)))
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
