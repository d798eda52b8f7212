"""Tables from arrays."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import DTypeLike, NDArray

from pacboost.sources.arrays import ArrayTable
from pacboost.sources.table import Table

DENSE = np.array([[0.0, 2.0, 0.0], [1.5, 0.0, np.nan], [0.0, -1.0, 0.0], [4.0, 0.0, 0.0]])


def joined(table: Table) -> NDArray[np.floating]:
    return np.hstack([values for _, values in table.blocks()])


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


def test_the_shape_and_the_names_are_kept() -> None:
    table = ArrayTable(DENSE, ("a", "b", "c"))
    assert (table.n_rows, table.n_columns, table.names) == (4, 3, ("a", "b", "c"))
    assert ArrayTable(DENSE).names is None


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_a_table_without_columns_has_no_blocks(dtype: DTypeLike) -> None:
    assert list(ArrayTable(np.empty((3, 0), dtype=dtype)).blocks()) == []
