"""Tables from pandas, polars and Arrow."""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pacboost import BoostClassifier, StrongClassifier, load
from pacboost.errors import DataError, InputWarning
from pacboost.sources.dataframe import is_frame
from pacboost.sources.file_rows import read_csv
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.kinds.dates import Dates, DayOrder
from pacboost.sources.kinds.kind import ColumnKind
from pacboost.sources.kinds.truths import Truths
from pacboost.sources.levels import Levels
from pacboost.sources.mixed import MixedFeatures
from pacboost.sources.rows import Rows
from tests.frames import LIBRARIES, as_rows
from tests.grids import each_value

NAN = np.nan
COLUMNS: dict[str, list[Any]] = {
    "flag": [True, None, False],
    "count": [1, None, -3],
    "size": [0.5, None, 2.5],
    "whole": [1, 2, 3],
    "yes": [True, True, False],
}
EXPECTED = np.array([[1, 1, 0.5, 1, 1], [NAN, NAN, NAN, 2, 1], [0, -3, 2.5, 3, 0]])
YES_NO = Truths(("no", "yes"))


def pandas_nullable(columns: dict[str, list[Any]]) -> Any:
    return pd.DataFrame(columns).convert_dtypes()


def pandas_arrow(columns: dict[str, list[Any]]) -> Any:
    return pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow")


Make = Callable[[dict[str, list[Any]]], Any]
MAKERS: list[Make] = [pandas_nullable, pandas_arrow, pl.DataFrame, pa.table]
FRAMES = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)


@FRAMES
def test_nulls_booleans_and_whole_numbers_become_numbers(make: Make) -> None:
    table = FrameTable.learn(make(COLUMNS), None)
    assert (table.n_rows, table.n_columns) == EXPECTED.shape
    assert table.names == tuple(COLUMNS)
    np.testing.assert_array_equal(table.rows(), EXPECTED)
    for first, values in table.blocks():
        np.testing.assert_array_equal(values[:, 0], EXPECTED[:, first])


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
    values = FrameTable.learn(frame).block(0, 1)
    np.testing.assert_array_equal(values[:, 0], np.array([0.1, NAN], dtype=np.float32))


@pytest.mark.parametrize(
    "frame",
    [
        *(make({"kind": ["red", None], "x": [1, 2]}) for make in MAKERS),
        pd.DataFrame({"kind": pd.Categorical(["a", "b"]), "x": [1, 2]}),
        pl.DataFrame({"kind": pl.Series(["a", "b"], dtype=pl.Categorical), "x": [1, 2]}),
        pa.table({"kind": pa.array(["a", "b"]).dictionary_encode(), "x": [1, 2]}),
    ],
    ids=lambda frame: type(frame).__module__,
)
def test_columns_of_text_and_categories_are_refused_by_name(frame: Any) -> None:
    with pytest.raises(DataError, match=r"not numbers: kind\."):
        FrameTable.learn(frame, None)


@each_value
@FRAMES
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_values_are_refused_by_column_and_row(make: Make, bad: float) -> None:
    with pytest.raises(DataError, match=f"'size' holds {bad} in row 1"):
        FrameTable.learn(make({"x": [1.0, 2.0], "size": [0.5, bad]}))


@FRAMES
def test_whole_numbers_too_large_for_a_double_are_rounded(make: Make) -> None:
    table = FrameTable.learn(make({"x": [2**60 + 1, 3]}))
    np.testing.assert_array_equal(table.block(0, 1)[:, 0], [2.0**60, 3.0])


def test_columns_named_by_numbers_are_taken_by_place() -> None:
    table = FrameTable.learn(pd.DataFrame([[10.0, 20.0, 30.0]], columns=[2, 0, 1]))
    assert table.names == ("2", "0", "1")
    assert [table.block(j, j + 1)[0, 0] for j in range(3)] == [10.0, 20.0, 30.0]


@pytest.mark.parametrize("thing", [np.zeros((2, 2)), [[1, 2]], pl.LazyFrame({"x": [1]}), None])
def test_frames_are_told_from_other_things(thing: object) -> None:
    assert not is_frame(thing)
    assert all(map(is_frame, (pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), pa.table(COLUMNS))))


def test_sparse_pandas_columns_are_filled_in() -> None:
    columns: dict[str, Any] = {"count": [0, 3, 0], "flag": [False, True, False]}
    frame = pd.DataFrame({name: pd.arrays.SparseArray(v) for name, v in columns.items()})
    assert FrameTable.learn(frame).rows().tolist() == [[0, 0], [3, 1], [0, 0]]


def test_columns_of_other_kinds_are_not_called_text() -> None:
    frame = pd.DataFrame({"when": pd.period_range("2024", periods=3, freq="D")})
    with pytest.raises(DataError, match=r"'when' holds period\[D\].*to_"):
        FrameTable.learn(frame)


# Dates in data frames become the same columns as dates in files.

TIMES = pd.to_datetime(["2024-01-31 08:30", "1999-12-31 00:00", None, "2024-02-29 23:59"])
DATED = pd.DataFrame(
    {
        "when": TIMES,
        "wait": pd.to_timedelta(["1 days", "90 s", None, "0 s"]),
        "label": ["x", "y", "x", "y"],
    }
)
KINDS: list[Callable[[Any], Any]] = [lambda f: f, pl.from_pandas, pa.Table.from_pandas]


@pytest.mark.parametrize("make", KINDS, ids=["pandas", "polars", "arrow"])
def test_frames_read_as_files_do(tmp_path: Path, make: Callable[[Any], Any]) -> None:
    path = tmp_path / "rows.parquet"
    DATED.to_parquet(path)
    read = read_csv(path, "label").table
    table = FrameTable.learn(make(DATED.drop(columns="label")))
    assert table.names == read.names
    np.testing.assert_allclose(table.rows(), read.rows())
    np.testing.assert_array_equal(table.rows()[:, -1], [86_400, 90, np.nan, 0])


def test_local_clocks_are_taken_as_they_read() -> None:
    frame = pd.DataFrame({"when": TIMES[:2].tz_localize("Asia/Tokyo")})
    np.testing.assert_array_equal(FrameTable.learn(frame).rows()[:, 4], [8, 0])


def test_estimators_learn_from_dates() -> None:
    generator = np.random.default_rng(0)
    hours = generator.integers(0, 17_000, 400)
    when = np.datetime64("2023-01-01T00:00", "s") + hours.astype("timedelta64[h]")
    frame = pd.DataFrame({"when": when, "x": generator.normal(size=400)})
    y = np.where(hours % 24 > 12, "late", "early")
    for model in (BoostClassifier(random_state=0), StrongClassifier(random_state=0)):
        model.fit(frame, y)
        assert "when: hour" in (model.schema_.names or ())
        assert model.score(frame, y) > 0.95
        assert (model.predict(pl.from_pandas(frame)) == model.predict(frame)).all()


def test_a_fit_on_days_predicts_times() -> None:
    frame = pl.DataFrame({"when": [date(2024, 1, 1) + timedelta(k) for k in range(60)]})
    model = BoostClassifier(random_state=0).fit(frame, [0] * 30 + [1] * 30)
    times = frame.with_columns(pl.col("when").cast(pl.Datetime))
    assert (model.predict(times) == model.predict(frame)).all()


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_dates_stand_beside_texts(kind: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    days = np.datetime64("2024-01-01") + rng.integers(0, 366, 300)
    late = days >= np.datetime64("2024-07-01")
    said = [f"please look at order number {k}" for k in range(300)]
    rows = kind({"bought": days.astype("datetime64[ms]"), "said": said})
    model = StrongClassifier(n_estimators=20, text_columns=["said"], random_state=0)
    model.fit(rows, np.where(late, "late", "early"))
    assert (model.predict(rows) == np.where(late, "late", "early")).mean() > 0.95
    assert isinstance(model.model_.text, MixedFeatures)
    assert "bought: month" in model.model_.text.names
    model.save(tmp_path / "m.pacb")
    again = load(tmp_path / "m.pacb")
    assert (again.predict(rows) == model.predict(rows)).all()


# Columns read alike whatever they came in, and what is not a column of a table is named.

HELD: dict[str, list[Any]] = {
    "said": ["lost card", None, ""],
    "age": [30, None, 50],
    "city": ["Rome", None, "Bern"],
    "vip": [True, False, None],
    "never": [None, None, None],
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_all_kinds_of_tables_read_alike(library: str) -> None:
    rows = Rows.of(as_rows(HELD, library)).columns()
    assert rows.n_rows == 3
    assert rows.texts("said") == ["lost card", "", ""]
    assert rows.lines(["age", "city"]) == ["30.0\x1fRome", "\x1f", "50.0\x1fBern"]
    table = rows.table(["said"])
    assert table.levels.columns == {1: ("Bern", "Rome")}
    np.testing.assert_array_equal(
        table.rows(), [[30, 1, 1, NAN], [NAN, NAN, 0, NAN], [50, 0, NAN, NAN]]
    )
    some = rows.take(np.array([2, 0]))
    assert some.texts("said") == ["", "lost card"]
    assert some.table(["said"]).column(0).tolist() == [50, 30]


@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers_for_texts_and_texts_for_numbers_are_named(library: str) -> None:
    with pytest.raises(DataError, match=r"column 'said', row 1 holds 7"):
        Rows.of(as_rows({"said": [None, 7]}, library)).columns().texts("said")
    rows = Rows.of(as_rows({"age": ["30", "abc"], "x": [1, 2]}, library)).columns()
    with pytest.raises(DataError, match="'age' held numbers in"):
        rows.like(["age", "x"], Levels())


@pytest.mark.parametrize("library", LIBRARIES)
def test_text_is_read_as_what_it_holds(library: str) -> None:
    columns: dict[str, list[Any]] = {
        "day": ["2024-01-31", "1.2.2025", "?"],
        "paid": ["Yes", "no", None],
        "price": ["1,234.5", "7", "NA"],
        "share": ["1,5", "2", ""],
        "code": ["7", "A7", " 7"],
    }
    table = FrameTable.learn(Rows.of(as_rows(columns, library)).columns().cells)
    assert table.names == ("day", "day: year", "day: month", "day: weekday", *list(columns)[1:])
    assert table.levels.columns == {7: ("7", "A7")}
    np.testing.assert_array_equal(
        table.rows(),
        [
            [8796, 2024, 1, 3, 1, 1234.5, 1.5, 0],
            [9163, 2025, 2, 6, 0, 7, 2, 1],
            [NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0],
        ],
    )
    again = FrameTable.like(
        Rows.of(as_rows(columns, library)).columns().cells, table.names, table.levels
    )
    np.testing.assert_array_equal(again.rows(), table.rows())


def test_categories_overrule_what_text_holds() -> None:
    frame = pd.DataFrame({"zip": ["01234", "99999"], "paid": ["yes", "no"]})
    assert FrameTable.learn(frame).levels == Levels({}, {1: YES_NO})
    table = FrameTable.learn(frame, ["zip"])
    assert table.levels == Levels({0: ("01234", "99999")}, {1: YES_NO})


@pytest.mark.parametrize(
    ("kind", "cells", "said"),
    [
        (Dates(), ["2024-01-31", "soon"], "held dates in fit; row 1 holds 'soon'"),
        (
            Dates(order=DayOrder.DAY_MONTH),
            ["13/13/2024"],
            "held dates written as day/month/year in fit",
        ),
        (YES_NO, ["yes", "perhaps"], "held yes and no in fit; row 1 holds 'perhaps'"),
        (Dates(), [7, 8], "held dates in fit, but holds numbers now"),
        (YES_NO, pd.to_datetime(["2024-01-31"]), "held yes and no in fit, but holds dates now"),
    ],
)
def test_other_cells_than_in_fit_are_named(kind: ColumnKind, cells: Any, said: str) -> None:
    names = ["a", "a: year"] if kind == Dates() else ["a"]
    levels = Levels({}, {0: kind, 1: Dates("year")} if kind == Dates() else {0: kind})
    with pytest.raises(DataError, match=f"'a' {said}"):
        FrameTable.like(pd.DataFrame({"a": cells}), names, levels)


@pytest.mark.parametrize("cells", [[None], [""], [np.nan], [pd.NaT]])
def test_a_date_may_be_missing_in_all_new_rows(cells: list[Any]) -> None:
    frame = pd.DataFrame({"when": TIMES, "x": [1.0, 2, 3, 4]})
    learned = FrameTable.learn(frame)
    new = FrameTable.like(pd.DataFrame({"when": cells, "x": [1.0]}), learned.names, learned.levels)
    np.testing.assert_array_equal(new.rows(), [[*[NAN] * 5, 1]])
    days = pl.DataFrame({"when": [date(2024, 1, 31), None], "x": [1.0, 2]})
    hours = FrameTable.like(days, learned.names, learned.levels).column(4)
    np.testing.assert_array_equal(hours, [0, NAN])


@pytest.mark.parametrize("name", ["order_id", "orderID", "Kunden-Nr"])
def test_ids_are_not_used(name: str) -> None:
    names = [f"n{k}" for k in range(60)]
    frame = pd.DataFrame({name: np.arange(60) * 7, "who": names, "x": np.arange(60)})
    with pytest.warns(InputWarning, match=f"'{name}', 'who' are unique"):
        table = FrameTable.learn(frame)
    assert table.levels == Levels({0: (), 1: ()})
    assert np.isnan(table.rows()[:, :2]).all()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("a text", "pass a data frame, or a list of mappings"),
        (["a text"], "the input is a list"),
        (None, "the input is a NoneType"),
        ([], "pass a data frame"),
        (pd.DataFrame({"a": []}), "0 samples"),
        (pd.DataFrame(), "0 samples"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "must differ"),
        ([{"a": 1}, {"b": 1}], "row 1 has the column 'b'; a row has a"),
        ([{"a": 1}, {}], "row 1 lacks the column 'a'"),
    ],
)
def test_what_is_no_table_is_refused(data: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        Rows.of(data).columns()


def test_few_cells_of_pandas_are_read_together_as_they_are_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame = pd.DataFrame(
        {
            "whole": [1, 2**53 + 1, -3],
            "text": ["a", None, "b"],
            "half": np.array([0.5, np.nan, 2], dtype=np.float16),
            "single": np.array([0.1, np.nan, 2], dtype=np.float32),
            "truth": [True, False, True],
            "byte": np.array([1, 255, 3], dtype=np.uint8),
            "day": pd.to_datetime(["2024-01-31", None, "2025-02-01"]),
            "maybe": pd.array([1, None, 3], dtype="Int64"),
        }
    )
    together = FrameTable.learn(frame)
    monkeypatch.setattr("pacboost.sources.dataframe.MAX_CELLS_TO_COPY", 0)
    monkeypatch.setattr("pacboost.sources.frame_table.MAX_CELLS_PER_BLOCK", 1)
    one_by_one = FrameTable.learn(frame)
    assert together.names == one_by_one.names
    np.testing.assert_array_equal(together.rows(), one_by_one.rows())
