"""What every table can do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.errors import DataError
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.table import SomeRows, refuse_infinite, refuse_text


@settings(max_examples=50)
@given(rows=st.integers(0, 5), columns=st.integers(1, 20), width=st.integers(1, 25))
def test_blocks_cover_every_column_once_and_in_order(rows: int, columns: int, width: int) -> None:
    table = ArrayTable(np.arange(float(rows * columns)).reshape(rows, columns))
    table.width = width
    found = list(table.blocks())
    assert [first for first, _ in found] == list(range(0, columns, width))
    np.testing.assert_array_equal(np.hstack([values for _, values in found]), table.rows())


def test_columns_without_names_are_numbered() -> None:
    assert ArrayTable(np.zeros((1, 3))).name(2) == "x2"


def test_columns_with_names_are_called_by_them() -> None:
    assert ArrayTable(np.zeros((1, 2)), ("a", "b")).name(1) == "b"


def test_some_rows_are_those_chosen_in_the_order_chosen() -> None:
    array = np.arange(60.0).reshape(5, 12)
    table = SomeRows(ArrayTable(array, tuple("abcdefghijkl")), np.array([3, 0, 3]))
    assert (table.n_rows, table.n_columns, table.name(1)) == (3, 12, "b")
    np.testing.assert_array_equal(table.rows(), array[[3, 0, 3]])
    np.testing.assert_array_equal(
        np.hstack([values for _, values in table.blocks()]), array[[3, 0, 3]]
    )


def test_some_rows_do_not_share_memory_with_the_table() -> None:
    array = np.zeros((3, 2))
    assert not np.shares_memory(SomeRows(ArrayTable(array), np.array([0, 1])).rows(), array)


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_an_infinite_value_is_told_by_column_and_row(bad: float) -> None:
    with pytest.raises(DataError, match=f"column 'a' holds {bad} in row 2"):
        refuse_infinite(np.array([0.0, np.nan, bad, bad]), "'a'")


def test_finite_and_missing_values_pass() -> None:
    refuse_infinite(np.array([np.nan, 1e308, -1e308]), "'a'")
    refuse_infinite(np.empty(0), "'a'")


def test_all_of_five_text_columns_are_named() -> None:
    assert ": a, b, c, d, e." in str(refuse_text(list("abcde")))


def test_of_six_text_columns_five_are_named() -> None:
    assert ": a, b, c, d, e, …." in str(refuse_text(list("abcdef")))
