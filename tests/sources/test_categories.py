"""Categorical columns: levels by value, the same from every kind of frame and array."""

import json
import math
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.errors import DataError, InputWarning, ParameterError
from pacboost.sources.arrays import ArrayTable, CategorisedArray
from pacboost.sources.categories import find_levels
from pacboost.sources.dataframe import is_frame
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.levels import Levels
from pacboost.sources.sparse import SparseTable
from pacboost.sources.table import RecodedTable, SomeRows, Table
from pacboost.sources.targets import refuse_unsaved_labels
from pacboost.sources.values import MAX_CELLS_FOR_PYTHON
from tests.examples import examples

NAN = np.nan
Make = Callable[[list[Any]], Any]


def objects(cells: list[Any]) -> NDArray[Any]:
    return np.array(cells, dtype=object)


MAKERS: dict[str, Make] = {
    "pandas category": lambda cells: pd.DataFrame({"a": pd.Categorical(cells)}),
    "pandas object": lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype=object)}),
    "pandas str": lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype="str")}),
    "pandas string": lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype="string")}),
    "pandas arrow": lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype="string[pyarrow]")}),
    "pandas arrow dictionary": lambda cells: pd.DataFrame(
        {"a": pd.Series(pd.arrays.ArrowExtensionArray(pa.array(cells).dictionary_encode()))}
    ),
    "polars String": lambda cells: pl.DataFrame({"a": cells}, schema={"a": pl.String}),
    "polars Categorical": lambda cells: pl.DataFrame({"a": cells}, schema={"a": pl.Categorical}),
    "polars Enum": lambda cells: pl.DataFrame(
        {"a": pl.Series(cells, dtype=pl.Enum(sorted({c for c in cells if c}, reverse=True)))}
    ),
    "polars Object": lambda cells: pl.DataFrame({"a": pl.Series(cells, dtype=pl.Object)}),
    "arrow string": lambda cells: pa.table({"a": pa.array(cells, pa.string())}),
    "arrow large string": lambda cells: pa.table({"a": pa.array(cells, pa.large_string())}),
    "arrow dictionary": lambda cells: pa.table({"a": pa.array(cells).dictionary_encode()}),
    "numpy object": lambda cells: objects(cells)[:, None],
}
TEXT = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())

NUMBERS: dict[str, Make] = {
    "pandas": lambda cells: pd.DataFrame({"a": cells}),
    "pandas category": lambda cells: pd.DataFrame({"a": pd.Categorical(cells)}),
    "pandas object": lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype=object)}),
    "pandas nullable": lambda cells: pd.DataFrame({"a": cells}).convert_dtypes(),
    "polars": lambda cells: pl.DataFrame({"a": cells}),
    "arrow": lambda cells: pa.table({"a": cells}),
    "arrow dictionary": lambda cells: pa.table({"a": pa.array(cells).dictionary_encode()}),
    "numpy object": lambda cells: objects(cells)[:, None],
}
NUMERIC = pytest.mark.parametrize("make", NUMBERS.values(), ids=NUMBERS.keys())


def coded(data: Any, levels: Levels) -> Table:
    return FrameTable.like(data, None, levels) if is_frame(data) else CategorisedArray(data, levels)


def numbers(data: Any, levels: Levels) -> list[float]:
    values = coded(data, levels).block(0, 1)[:, 0]
    assert values.dtype == np.float64
    return [float(value) for value in values]


def same(one: list[float], other: list[float]) -> bool:
    return np.array_equal(one, other, equal_nan=True)


@TEXT
def test_text_is_numbered_in_sorted_order_and_nulls_are_missing(make: Make) -> None:
    data = make(["red", None, "blue", "red", "green"])
    levels = find_levels(data)
    assert levels == Levels({0: ("blue", "green", "red")})
    assert same(numbers(data, levels), [2, NAN, 0, 2, 1])
    assert coded(data, levels).levels == levels


@TEXT
def test_other_frames_with_other_levels_give_the_numbers_of_the_fit(make: Make) -> None:
    levels = find_levels(objects(["b", "c", "a"])[:, None])
    for times in (1, MAX_CELLS_FOR_PYTHON):  # one by one, and by the frame's own library
        cells = ["c", "unseen", None, "a"] * times
        assert same(numbers(make(cells), levels), [2, NAN, NAN, 0] * times)
    assert same(numbers(make([None, None]), levels), [NAN, NAN])
    assert same(numbers(make(["unseen"]), levels), [NAN])


@TEXT
def test_a_column_without_values_has_no_levels(make: Make) -> None:
    data = make([None, None])
    levels = find_levels(data, [0])
    assert levels == Levels({0: ()})
    assert same(numbers(data, levels), [NAN, NAN])
    assert levels.counts(2).tolist() == [0, 0]


@NUMERIC
def test_numbers_named_as_categories_are_levels(make: Make) -> None:
    data = make([30, 10, None, 20, 10])
    levels = find_levels(data, [0])
    assert levels.to_dict() == {"0": [10, 20, 30]}
    assert [type(level) for level in levels.columns[0]] == [int] * 3
    assert same(numbers(data, levels), [2, 0, NAN, 1, 0])
    assert same(numbers(np.array([[20.0], [NAN], [10.5]]), levels), [1, NAN, NAN])


@NUMERIC
def test_booleans_are_levels(make: Make) -> None:
    data = make([True, None, False])
    levels = find_levels(data, [0])
    assert json.dumps(levels.to_dict()) == '{"0": [false, true]}'
    assert same(numbers(data, levels), [1, NAN, 0])
    assert same(numbers(np.array([[1], [0], [2]]), levels), [1, 0, NAN])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_float_columns_may_be_categories(make: Callable[[dict[str, Any]], Any]) -> None:
    data = make({"a": np.array([0.5, NAN, -0.0, 2.0])})
    levels = find_levels(data, ["a"])
    assert levels == Levels({0: (0, 0.5, 2)})
    assert same(numbers(data, levels), [1, NAN, 0, 2])


def test_whole_numbers_too_large_for_a_double_stay_apart() -> None:
    array = np.array([[2**60], [2**60 + 1]])
    assert numbers(array, find_levels(array, [0])) == [0, 1]


@pytest.mark.parametrize("missing", [None, NAN, pd.NA, pd.NaT])
def test_pandas_knows_several_missing_values(missing: object) -> None:
    cells = objects(["a", missing, "b"])
    for data in (cells[:, None], pd.DataFrame({"a": cells})):
        assert same(numbers(data, find_levels(data)), [0, NAN, 1])


@pytest.mark.parametrize("array", [np.array([["b", "x"], ["a", "x"]]), np.array([["b"], ["a"]])])
def test_columns_of_a_text_array_are_categorical(array: NDArray[Any]) -> None:
    levels = find_levels(array)
    assert list(levels.columns) == list(range(array.shape[1]))
    assert numbers(array, levels) == [1, 0]


def test_only_columns_with_text_are_found_in_an_object_array() -> None:
    array = objects([["a", 1, None], [None, True, 2.5]])
    levels = find_levels(array)
    assert levels == Levels({0: ("a",)})
    np.testing.assert_array_equal(
        CategorisedArray(array, levels).rows(), [[0, 1, NAN], [NAN, 1, 2.5]]
    )


def test_frame_columns_are_found_by_their_kind() -> None:
    frame = pd.DataFrame({"x": [1.5, 2], "a": ["p", "q"], "k": pd.Categorical([7, 8]), "f": True})
    assert find_levels(frame) == Levels({1: ("p", "q"), 2: (7, 8)})
    assert find_levels(frame, None) == find_levels(frame, []) == Levels()
    assert find_levels(objects(["", "a"])[:, None]) == Levels({0: ("", "a")})


@pytest.mark.parametrize(
    "choice", [["c", "a"], [True, False, True], np.array([0, 2]), ("a", 2)], ids=str
)
def test_columns_are_chosen_by_name_number_or_mask(choice: Any) -> None:
    frame = pl.DataFrame({"a": [1, 2], "b": [3, 4], "c": ["x", "y"]})
    assert find_levels(frame, choice) == Levels({0: (1, 2), 2: ("x", "y")})


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (["town"], "'town', which is not a column of X; its columns are 'a', 'b'"),
        ([2], "column number 2, but X has 2 columns: give 0 to 1"),
        ([-1], "column number -1"),
        ([True], "holds 1 booleans, but X has 2 columns"),
        ([0.5], "holds 0.5; it may hold column names"),
        ([0, True], "holds True; it may hold column names"),
        ("town", "is 'town'; it may be 'from_dtype', None, or a list"),
        (3, "is 3; it may be 'from_dtype', None, or a list"),
    ],
)
def test_impossible_choices_are_explained(choice: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        find_levels(pd.DataFrame({"a": [1], "b": [2]}), choice)
    with pytest.raises(ParameterError, match="have no names; give"):
        find_levels(np.zeros((2, 2)), ["a"])


def test_the_most_frequent_of_too_many_levels_are_kept_with_a_warning() -> None:
    cells = [f"level {k}" for k in range(70_000)] + [f"level {k}" for k in (9, 5, 5, 77)]
    for data, name in ((pl.DataFrame({"id": cells}), "'id'"), (objects(cells)[:, None], "0")):
        with pytest.warns(InputWarning, match=f"column {name} .*70,000 .*254"):
            levels = find_levels(data)
        assert levels == Levels({0: ("level 5", "level 77", "level 9")})
    with pytest.warns(InputWarning, match="the 2 most frequent are"):
        assert find_levels(objects(cells)[:, None], max_levels=2) == Levels(
            {0: ("level 5", "level 77")}
        )
    numbers = np.append(np.arange(70_000.0), [3.0, 3.0, 2.0])[:, None]
    with pytest.warns(InputWarning, match="70,000 levels"):
        assert find_levels(numbers, [0]) == Levels({0: (2, 3)})


def test_a_level_in_every_row_teaches_nothing() -> None:
    with pytest.warns(InputWarning, match="unique in every row"):
        assert find_levels(np.arange(300.0)[:, None], [0]) == Levels({0: ()})


@pytest.mark.parametrize(
    "data",
    [
        objects(["a", 1, None])[:, None],
        pd.DataFrame({"0": objects(["a", 1, None])}),
        pd.DataFrame({"0": pd.Categorical(["a", 1, None])}),
        pd.DataFrame({"0": objects(["a"] * 500 + [1])}),
    ],
    ids=["array", "pandas object", "pandas category", "late"],
)
def test_text_and_numbers_in_one_column_are_refused(data: Any) -> None:
    with pytest.raises(DataError, match="mixes text and numbers"):
        find_levels(data)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (date(2020, 1, 1), r"holds date values \(row 0\); categories are text, numbers or"),
        (b"a", r"holds bytes values \(row 0\)"),
        (["a"], "contains lists, which cannot be categories"),
        (math.inf, r"holds infinity \(row 0\)"),
    ],
)
def test_what_is_no_category_is_refused(cell: Any, message: str) -> None:
    array = np.empty((1, 1), dtype=object)
    array[0, 0] = cell
    with pytest.raises(DataError, match=f"column 0 .*{message}|column 0 {message}"):
        find_levels(array, [0])
    if isinstance(cell, list):
        with pytest.raises(DataError, match="column 0 contains lists, which"):
            numbers(array, Levels({0: ("a",)}))


@pytest.mark.parametrize(("fitted", "came"), [(["1", "2"], [1, 2]), ([1, 2], ["1", "2"])])
def test_numbers_where_text_was_seen_are_refused(fitted: list[Any], came: list[Any]) -> None:
    levels = find_levels(objects(fitted)[:, None], [0])
    framed = [pd.DataFrame({"a": came}), pl.DataFrame({"a": came})]
    if isinstance(came[0], str):  # text in a frame is read as what it holds
        assert [coded(data, levels).column(0).tolist() for data in framed] == [[0, 1]] * 2
        framed = []
    for data in (objects(came)[:, None], *framed):
        with pytest.raises(DataError, match="never the same level"):
            numbers(data, levels)


@pytest.mark.parametrize(
    "data", [objects([["a", "p"]]), pd.DataFrame([["a", "p"]]), np.array([["a", "p"]])]
)
def test_other_text_is_refused_and_categories_are_spoken_of(data: Any) -> None:
    said = r"text, not numbers: x?1\. Encode .*categorical_features|row 0 holds .p."
    with pytest.raises(DataError, match=said):
        coded(data, Levels({0: ("a",)}))


def test_other_columns_of_an_object_array_have_to_be_finite_numbers() -> None:
    with pytest.raises(DataError, match="column 1 holds inf in"):
        CategorisedArray(objects([["a", math.inf]]), Levels({0: ("a",)}))
    with pytest.raises(DataError, match="column 'b' holds"):
        CategorisedArray(objects([["a", {}]]), Levels({0: ("a",)}), ("a", "b"))


LEVEL = st.one_of(
    st.lists(st.text(max_size=3), min_size=1, max_size=8),
    st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=8),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8),
    st.lists(st.booleans(), min_size=1, max_size=8),
)


@examples(75)
@given(cells=LEVEL, seed=st.integers(0, 2**32))
def test_levels_survive_json_and_do_not_depend_on_order(cells: list[Any], seed: int) -> None:
    levels = find_levels(objects(cells)[:, None], [0])
    assert Levels.from_dict(json.loads(json.dumps(levels.to_dict()))) == levels
    order = np.random.default_rng(seed).permutation(len(cells))
    shuffled = objects([cells[k] for k in order])[:, None]
    again = find_levels(shuffled, [0])
    assert json.dumps(again.to_dict()) == json.dumps(levels.to_dict())
    own = levels.columns[0]
    assert [own[int(n)] for n in numbers(shuffled, levels)] == [cells[k] for k in order]
    np.testing.assert_array_equal(
        levels.values(0, np.array(numbers(shuffled, levels))), shuffled[:, 0]
    )


@examples(60)
@given(
    cells=st.lists(st.one_of(st.none(), st.sampled_from("abcdefg")), min_size=1, max_size=20),
    seed=st.integers(0, 2**32),
)
def test_rows_and_categories_may_come_in_any_order(cells: list[str | None], seed: int) -> None:
    """A value has the same number however the frame orders its rows and its own categories."""
    generator = np.random.default_rng(seed)
    levels = find_levels(pl.DataFrame({"a": cells}, schema={"a": pl.String}))
    expected = dict(zip(levels.columns[0], range(7), strict=False))
    order = generator.permutation(len(cells))
    shuffled = [cells[k] for k in order]
    kinds = [str(kind) for kind in generator.permutation(list("abcdefgz"))]
    codes = [None if cell is None else kinds.index(cell) for cell in shuffled]
    frames = [
        pd.DataFrame({"a": pd.Categorical(shuffled, categories=kinds)}),
        pl.DataFrame({"a": pl.Series(shuffled, dtype=pl.Enum(kinds))}),
        pa.table({"a": pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), kinds)}),
    ]
    for frame in frames:
        assert find_levels(frame) == levels
        wanted = [NAN if cell is None else expected[cell] for cell in shuffled]
        assert same(numbers(frame, levels), wanted)


def test_many_rows_are_numbered_piece_by_piece() -> None:
    codes = np.random.default_rng(0).integers(0, 5, 150_000)
    array = objects(list("abcde"))[codes][:, None]
    assert numbers(array, find_levels(array)) == codes.tolist()


def test_damaged_levels_are_refused() -> None:
    with pytest.raises(ValueError, match="column 0 are not in"):
        Levels.from_dict({"0": ["b", "a"]})
    with pytest.raises(ValueError, match="column -1"):
        Levels.from_dict({"-1": ["a"]})


def test_a_table_keeps_its_levels_when_rows_are_taken() -> None:
    frame = pl.DataFrame({"x": [1, 2, 3], "a": ["p", "q", None]})
    some = SomeRows(FrameTable.like(frame, None, find_levels(frame)), np.array([2, 1]))
    assert some.cells(1).tolist() == [None, "q"]
    assert some.cells(0).tolist() == [3, 2]
    assert find_levels(some) == Levels({1: ("q",)})


def test_a_table_is_numbered_anew_by_the_levels_of_a_fit() -> None:
    table = ArrayTable(np.array([[0, 7], [1, 8], [NAN, NAN]]), ("a", "b"), Levels({0: ("p", "q")}))
    levels = Levels({0: ("m", "q"), 1: (8,)})
    again = RecodedTable(table, levels)
    np.testing.assert_array_equal(again.rows(), [[NAN, NAN], [1, 0], [NAN, NAN]])
    assert (again.names, again.levels) == (table.names, levels)
    assert find_levels(table, ["a", "b"]) == Levels({0: ("p", "q"), 1: (7, 8)})
    np.testing.assert_array_equal(
        RecodedTable(table, table.levels).rows(), [[0, 7], [1, 8], [NAN, NAN]]
    )


def test_text_of_a_table_that_is_not_to_be_categorical_is_refused() -> None:
    table = ArrayTable(np.zeros((1, 1)), ("a",), Levels({0: ("p",)}))
    with pytest.raises(DataError, match="text, not numbers: a"):
        RecodedTable(table, find_levels(table, None))


def test_columns_of_a_sparse_table_may_be_categories() -> None:
    table = SparseTable(sp.csr_array(np.array([[0.0, 5.0], [3.0, 0.0]])))
    levels = find_levels(table, [1])
    assert levels == Levels({1: (0, 5)})
    np.testing.assert_array_equal(RecodedTable(table, levels).rows(), [[0, 1], [3, 0]])


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        (date(2024, 1, 31), "to_datetime"),
        (Decimal("1.5"), "astype"),
        (pd.Interval(1, 5), r"column 'when' holds Interval values \(row 0\); .* Turn"),
    ],
)
def test_objects_that_pandas_can_convert_come_with_advice(cell: Any, advice: str) -> None:
    frame = pd.DataFrame({"when": pd.Series([cell, cell], dtype=object)})
    with pytest.raises(DataError, match=advice):
        find_levels(frame, "from_dtype")


@pytest.mark.parametrize("label", [2**63, "a\0", b"a\0"])
def test_labels_that_no_model_file_holds_are_refused(label: object) -> None:
    for labels in (np.array([1, 2**63], dtype=np.uint64), np.array([label, label], dtype=object)):
        with pytest.raises(DataError, match="y holds"):
            refuse_unsaved_labels(labels)
