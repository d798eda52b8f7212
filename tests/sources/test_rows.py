"""Rows of every form are counted and taken alike, so that no other code asks what they are."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from pacboost.errors import DataError
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.columns import Columns
from pacboost.sources.rows import FrameRows, NamedRows, PlainRows, Rows, SparseRows, TableRows

VALUES = np.array([[1.0, 2.0], [3.0, 0.0], [5.0, 6.0]])
FORMS: list[tuple[Callable[[], Any], type[Rows]]] = [
    (lambda: VALUES, PlainRows),
    (VALUES.tolist, PlainRows),
    (lambda: sparse.csr_array(VALUES), SparseRows),
    (lambda: sparse.coo_array(VALUES), SparseRows),
    (lambda: pd.DataFrame(VALUES, columns=["a", "b"]), FrameRows),
    (lambda: pl.DataFrame(VALUES, schema=["a", "b"]), FrameRows),
    (lambda: pa.table({"a": VALUES[:, 0], "b": VALUES[:, 1]}), FrameRows),
    (lambda: Columns({"a": VALUES[:, 0], "b": VALUES[:, 1]}), NamedRows),
    (lambda: ArrayTable(VALUES), TableRows),
]


@pytest.mark.parametrize(("make", "form"), FORMS)
def test_rows_of_any_form_are_counted_and_taken(make: Callable[[], Any], form: type[Rows]) -> None:
    rows = Rows.of(make())
    assert type(rows) is form
    assert Rows.of(rows) is rows
    assert rows.count == 3
    some = rows.take(np.array([2, 0]))
    assert type(some) is form
    assert some.count == 2
    if form is SparseRows:
        assert some.given.toarray().tolist() == VALUES[[2, 0]].tolist()
        assert list(some.cells()) == []
    else:
        np.testing.assert_array_equal(np.stack(list(some.cells()), axis=1), VALUES[[2, 0]])


def test_columns_have_names_where_the_rows_have() -> None:
    mappings = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    for X in (mappings, pd.DataFrame(mappings), pl.DataFrame(mappings)):
        named = Rows.of(X).named
        assert named is not None
        assert list(named.cells) == ["a", "b"]
    assert Rows.of(VALUES).named is None
    assert Rows.of(["a text"]).named is None


@pytest.mark.parametrize("X", ["text", b"text", np.float64(3), sparse.coo_array(np.ones(3)), 3])
def test_what_is_no_table_is_refused(X: Any) -> None:
    with pytest.raises(DataError, match=r"X (is|has)|rows of X"):
        _ = Rows.of(X).count
