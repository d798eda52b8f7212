"""What every table can do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import DTypeLike, NDArray

from pacboost.errors import DataError
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.table import SomeRows, Table, refuse_infinite, refuse_text
from tests.examples import examples
from tests.grids import each_value

DENSE = np.array([[0.0, 2.0, 0.0], [1.5, 0.0, np.nan], [0.0, -1.0, 0.0], [4.0, 0.0, 0.0]])


def joined(table: Table) -> NDArray[np.floating]:
    return np.hstack([values for _, values in table.blocks()])


@examples(50)
@given(rows=st.integers(0, 5), columns=st.integers(1, 20), width=st.integers(1, 25))
def test_blocks_cover_every_column_once_and_in_order(rows: int, columns: int, width: int) -> None:
    table = ArrayTable(np.arange(float(rows * columns)).reshape(rows, columns))
    table.width = width
    found = list(table.blocks())
    assert [first for first, _ in found] == list(range(0, columns, width))
    np.testing.assert_array_equal(np.hstack([values for _, values in found]), table.rows())


def test_some_rows_are_those_chosen_in_the_order_chosen() -> None:
    array = np.arange(60.0).reshape(5, 12)
    table = SomeRows(ArrayTable(array, tuple("abcdefghijkl")), np.array([3, 0, 3]))
    assert (table.n_rows, table.n_columns, table.name(1)) == (3, 12, "b")
    assert ArrayTable(array).name(2) == "x2"
    np.testing.assert_array_equal(table.rows(), array[[3, 0, 3]])
    assert not np.shares_memory(SomeRows(ArrayTable(array), np.array([0, 1])).rows(), array)
    np.testing.assert_array_equal(joined(table), array[[3, 0, 3]])


@each_value
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_floats_are_used_in_place(dtype: DTypeLike, order: str) -> None:
    array = np.asarray(DENSE, dtype=dtype, order="F" if order == "F" else "C")
    table = ArrayTable(array)
    assert np.shares_memory(table.rows(), array)
    assert table.rows().dtype == dtype
    np.testing.assert_array_equal(joined(table), array)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, np.bool_, np.float16, ">f8"])
def test_other_numbers_become_doubles_column_by_column(dtype: DTypeLike) -> None:
    array = np.array([[1, 0], [0, 1], [1, 1]]).astype(dtype)
    table = ArrayTable(array)
    assert table.width == 1
    assert table.rows().dtype == np.float64
    assert table.rows().dtype.isnative
    np.testing.assert_array_equal(joined(table), array.astype(np.float64))


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_a_table_without_columns_has_no_blocks(dtype: DTypeLike) -> None:
    assert list(ArrayTable(np.empty((3, 0), dtype=dtype)).blocks()) == []


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_an_infinite_value_is_told_by_column_and_row(bad: float) -> None:
    with pytest.raises(DataError, match=f"column 'a' holds {bad} in row 2"):
        refuse_infinite(np.array([0.0, np.nan, bad, bad]), "'a'")
    refuse_infinite(np.array([np.nan, 1e308, -1e308]), "'a'")


def test_five_columns_of_text_are_named() -> None:
    assert ": a, b, c, d, e." in str(refuse_text(list("abcde")))
    assert ": a, b, c, d, e, …." in str(refuse_text(list("abcdef")))
