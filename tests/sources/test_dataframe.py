"""Tables from pandas, polars and Arrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pacboost.errors import DataError
from pacboost.sources.dataframe import FrameTable, is_frame

NAN = np.nan
COLUMNS: dict[str, list[Any]] = {
    "flag": [True, None, False],
    "count": [1, None, -3],
    "size": [0.5, None, 2.5],
    "whole": [1, 2, 3],
    "yes": [True, True, False],
}
EXPECTED = np.array([[1, 1, 0.5, 1, 1], [NAN, NAN, NAN, 2, 1], [0, -3, 2.5, 3, 0]])


def pandas_nullable(columns: dict[str, list[Any]]) -> Any:
    return pd.DataFrame(columns).convert_dtypes()


def pandas_arrow(columns: dict[str, list[Any]]) -> Any:
    return pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow")


Make = Callable[[dict[str, list[Any]]], Any]
FRAMES = pytest.mark.parametrize(
    "make", [pandas_nullable, pandas_arrow, pl.DataFrame, pa.table], ids=lambda make: make.__name__
)


@FRAMES
def test_nulls_booleans_and_whole_numbers_become_numbers(make: Make) -> None:
    table = FrameTable(make(COLUMNS))
    assert (table.n_rows, table.n_columns) == EXPECTED.shape
    assert table.names == tuple(COLUMNS)
    np.testing.assert_array_equal(table.rows(), EXPECTED)
    for first, values in table.blocks():
        np.testing.assert_array_equal(values[:, 0], EXPECTED[:, first])


def test_plain_pandas_columns_become_numbers() -> None:
    frame = pd.DataFrame({"a": [1.5, NAN], "b": [True, False], "c": [1, 2]}, index=[7, 7])
    np.testing.assert_array_equal(FrameTable(frame).rows(), [[1.5, 1, 1], [NAN, 0, 2]])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": np.array([0.1, NAN], dtype=np.float32)}),
        pl.DataFrame({"x": pl.Series([0.1, NAN], dtype=pl.Float32)}),
        pl.DataFrame({"x": pl.Series([0.1, None], dtype=pl.Float32)}),
        pa.table({"x": pa.array([0.1, None], pa.float32())}),
    ],
    ids=["pandas", "polars", "polars null", "arrow null"],
)
def test_float32_columns_keep_their_values(frame: Any) -> None:
    values = FrameTable(frame).block(0, 1)
    np.testing.assert_array_equal(values[:, 0], np.array([0.1, NAN], dtype=np.float32))


@FRAMES
def test_text_columns_are_refused_by_name(make: Make) -> None:
    with pytest.raises(DataError, match="text, not numbers: colour, town") as caught:
        FrameTable(make({"colour": ["red", None], "x": [1, 2], "town": ["a", "b"]}))
    assert "x" not in str(caught.value).split("Encode")[0].split(": ")[1].split(", ")


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"kind": pd.Categorical(["a", "b"]), "x": [1, 2]}),
        pl.DataFrame({"kind": pl.Series(["a", "b"], dtype=pl.Categorical), "x": [1, 2]}),
        pa.table({"kind": pa.array(["a", "b"]).dictionary_encode(), "x": [1, 2]}),
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_categorical_columns_are_refused_by_name(frame: Any) -> None:
    with pytest.raises(DataError, match=r": kind\. Encode"):
        FrameTable(frame)


@FRAMES
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_values_are_refused_by_column_and_row(make: Make, bad: float) -> None:
    with pytest.raises(DataError, match=f"column 'size' holds {bad} in row 1"):
        FrameTable(make({"x": [1.0, 2.0], "size": [0.5, bad]}))


@FRAMES
def test_whole_numbers_too_large_for_a_double_are_rounded(make: Make) -> None:
    table = FrameTable(make({"x": [2**60 + 1, 3]}))
    np.testing.assert_array_equal(table.block(0, 1)[:, 0], [2.0**60, 3.0])


def test_columns_named_by_numbers_are_taken_by_place() -> None:
    table = FrameTable(pd.DataFrame([[10.0, 20.0, 30.0]], columns=[2, 0, 1]))
    assert table.names == ("2", "0", "1")
    assert [table.block(j, j + 1)[0, 0] for j in range(3)] == [10.0, 20.0, 30.0]


@FRAMES
def test_frames_are_told_from_other_things(make: Make) -> None:
    assert is_frame(make({"x": [1, 2]}))


@pytest.mark.parametrize("thing", [np.zeros((2, 2)), [[1, 2]], pl.LazyFrame({"x": [1]}), None])
def test_other_things_are_no_frames(thing: object) -> None:
    assert not is_frame(thing)


def test_sparse_pandas_columns_are_filled_in() -> None:
    frame = pd.DataFrame(
        {
            "count": pd.arrays.SparseArray([0, 3, 0]),
            "flag": pd.arrays.SparseArray([False, True, False]),
        }
    )
    assert FrameTable(frame).rows().tolist() == [[0, 0], [3, 1], [0, 0]]


def test_columns_of_other_kinds_are_not_called_text() -> None:
    frame = pd.DataFrame({"when": pd.period_range("2024", periods=3, freq="D")})
    with pytest.raises(DataError, match=r"'when' holds period\[D\].*to_timestamp"):
        FrameTable(frame)
