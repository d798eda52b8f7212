"""Columns read alike whatever they came in, and what is no column of a table is named."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pacboost.errors import DataError
from pacboost.sources.columns import Columns
from tests.frames import LIBRARIES, as_rows

HELD: dict[str, list[Any]] = {
    "said": ["lost card", None, ""],
    "age": [30, None, 50],
    "city": ["Rome", None, "Bern"],
    "vip": [True, False, None],
    "never": [None, None, None],
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_all_kinds_of_tables_read_alike(library: str) -> None:
    rows = Columns.of(as_rows(HELD, library))
    assert rows.n_rows == 3
    assert rows.texts("said") == ["lost card", "", ""]
    np.testing.assert_array_equal(rows.numbers("age"), [30, np.nan, 50])
    assert np.isnan(rows.numbers("never")).all()
    assert [rows.is_category(name) for name in HELD] == [True, False, True, True, False]
    assert rows.missing("city").tolist() == [False, True, False]
    assert rows.lines(["age", "city"]) == ["30.0\x1fRome", "\x1f", "50.0\x1fBern"]
    some = rows.take(np.array([2, 0]))
    assert some.texts("said") == ["", "lost card"]
    assert some.numbers("age").tolist() == [50, 30]


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_is_no_text_is_named_with_column_and_row(library: str) -> None:
    with pytest.raises(DataError, match=r"column 'said', row 1 holds 7"):
        Columns.of(as_rows({"said": [None, 7]}, library)).texts("said")


@pytest.mark.parametrize("library", LIBRARIES)
def test_text_is_no_number(library: str) -> None:
    with pytest.raises(DataError, match=r"'age' holds text, and held numbers in fit"):
        Columns.of(as_rows({"age": ["30", "40"]}, library)).numbers("age")


@pytest.mark.parametrize("library", LIBRARIES[:3])
def test_dates_are_neither_number_nor_category(library: str) -> None:
    rows = Columns.of(as_rows({"day": pd.to_datetime([date(2020, 1, 1)] * 2)}, library))
    with pytest.raises(DataError, match="'day' holds Datetime"):
        rows.is_category("day")


def test_infinite_numbers_are_named() -> None:
    with pytest.raises(DataError, match="column 'age' holds inf in row 1"):
        Columns.of(pd.DataFrame({"age": [1.0, np.inf]})).numbers("age")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("a text", "a data frame is needed, or a list of mappings"),
        (["a text"], "and list came"),
        (None, "and NoneType came"),
        ([], "a data frame is needed"),
        (pd.DataFrame({"a": []}), "0 samples"),
        (pd.DataFrame(), "0 samples"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "must differ"),
        ([{"a": 1}, {"b": 1}], "row 1 names 'b', and row 0 names 'a'"),
        ([{"a": 1}, {}], "row 1 names nothing"),
    ],
)
def test_what_is_no_table_is_refused(data: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        Columns.of(data)
