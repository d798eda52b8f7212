"""Mixed tables become words: by the names of columns, and the same way every time."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.errors import DataError, InputWarning, ParameterError
from pacboost.sources.columns import Columns
from pacboost.sources.mixed import (
    MAX_THRESHOLDS,
    LevelConditions,
    MixedFeatures,
    NumberConditions,
    read_conditions,
    read_features,
)
from pacboost.sources.text import TextFeatures
from tests.examples import examples
from tests.frames import LIBRARIES, as_rows

HELD: dict[str, list[Any]] = {
    "subject": ["lost card", "top up", None, "rate"],
    "age": [30.0, None, 50.0, 30.0],
    "city": ["Rome", "Bern", None, "Rome"],
    "body": ["card gone", "", "lost", "what rate"],
}
OPTIONS = MixedFeatures(TextFeatures((1, 1)), ("subject", "body"))


def frame() -> pd.DataFrame:
    return pd.DataFrame(HELD)


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_gives_the_same_words(library: str) -> None:
    features, table = OPTIONS.learn(as_rows(HELD, library))
    wanted, held = OPTIONS.learn(frame())
    assert features == wanted
    assert table.words.tolist() == held.words.tolist()
    again = wanted.transform(as_rows(HELD, library))
    assert again.starts.tolist() == table.starts.tolist() == held.starts.tolist()
    assert again.words.tolist() == table.words.tolist()


def test_conditions_are_said_with_their_column() -> None:
    features, table = OPTIONS.learn(frame())
    row = table.words[table.starts[2] : table.starts[3]]
    assert [features.say(word) for word in row] == [
        "age > 40",
        "city is missing",
        "body contains 'lost'",
    ]
    assert [features.vocabulary[word] for word in row] == [
        "age > 40",
        "city is missing",
        "body: lost",
    ]
    assert table.names == features.vocabulary


def test_columns_are_found_by_name() -> None:
    features, table = OPTIONS.learn(frame())
    turned = frame()[["body", "city", "subject", "age"]].assign(other=1)
    assert features.transform(turned).words.tolist() == table.words.tolist()
    with pytest.raises(DataError, match="no column 'age'; its"):
        features.transform(frame().rename(columns={"age": "years"}))
    with pytest.raises(DataError, match="no column 'body'"):
        OPTIONS.learn(frame().drop(columns="body"))


def test_a_table_of_one_text_reads_lists_as_well() -> None:
    features, table = MixedFeatures(TextFeatures(), ("body",)).learn(frame()[["body"]])
    texts = ["card gone", "", "lost", "what rate"]
    assert features.transform(texts).words.tolist() == table.words.tolist()
    more, _ = OPTIONS.learn(frame())
    with pytest.raises(DataError, match="pass a data frame"):
        more.transform(texts)


def test_content_survives_json() -> None:
    turned = MixedFeatures(TextFeatures((1, 1)), ("body", "subject"))
    features, _ = turned.learn(frame().assign(vip=[True, False, True, True], floor=[1, 2, 1, 2]))
    content = json.loads(json.dumps(features.to_dict()))
    assert read_features(content, features.vocabulary) == features
    plain, _ = TextFeatures().learn(["lost card"])
    assert read_features(plain.to_dict(), plain.vocabulary) == plain
    assert features.parameters()["text_columns"] == ["subject", "body"]


@pytest.mark.parametrize("damage", ["words", "order", "name", "columns", "options"])
def test_damaged_content_is_refused(damage: str) -> None:
    features, _ = OPTIONS.learn(frame())
    content, words = features.to_dict(), list(features.vocabulary)
    if damage == "words":
        words.pop()
    elif damage == "order":
        words[0], words[1] = words[1], words[0]
    elif damage == "name":
        content["columns"][1]["name"] = "city"
    elif damage == "columns":
        content["columns"].pop()
    else:
        content["options"]["ngrams"] = [2, 1]
    with pytest.raises((ValueError, ParameterError)):
        read_features(content, tuple(words))


@pytest.mark.parametrize("columns", ["said", 3, [1], [None]])
def test_bad_names_of_columns(columns: Any) -> None:
    with pytest.raises(ParameterError, match="text_columns is"):
        MixedFeatures.checked(TextFeatures(), columns)


def test_a_table_that_tells_nothing_apart_is_refused() -> None:
    with pytest.raises(DataError, match="varies, so there is"):
        MixedFeatures(TextFeatures(), ()).learn(pd.DataFrame({"a": [1, 1], "b": [2.0, 2.0]}))


# A row holds a condition exactly if it is true of the row.

NUMBERS = st.lists(
    st.one_of(
        st.integers(-3, 3).map(float),
        st.floats(allow_infinity=False, width=64),
        st.just(float("nan")),
    ),
    min_size=1,
    max_size=60,
)


def column(cells: Any) -> Columns:
    return Columns({"x": np.array(cells)})


def words(*cells: Any) -> Columns:
    return Columns({"x": np.array(cells, dtype=object)})


@given(NUMBERS, NUMBERS)
@examples(75)
def test_thresholds_are_held_exactly_where_they_are_passed(
    seen: list[float], new: list[float]
) -> None:
    found, held = NumberConditions.learn("x", column(seen))
    cuts = np.array(found.thresholds)
    assert cuts.size <= MAX_THRESHOLDS
    assert found.missing == bool(np.isnan(seen).any())
    for values, table in ((seen, held), (new, found.held(column(new)))):
        with np.errstate(over="ignore"):
            rounded = np.array(values).astype(np.float32)
        above = rounded[:, None] > cuts
        wanted = np.hstack([above, ~above & ~np.isnan(rounded)[:, None]])
        if found.missing:
            wanted = np.hstack([wanted, np.isnan(rounded)[:, None]])
        assert np.array_equal(table.rows(), wanted)
        assert table.n_columns == len(found.words)


@given(NUMBERS)
@examples(100)
def test_few_values_are_all_told_apart(values: list[float]) -> None:
    found, held = NumberConditions.learn("x", column(values))
    with np.errstate(over="ignore"):
        distinct = np.unique(np.nan_to_num(np.array(values).astype(np.float32), nan=np.nan))
    distinct = distinct[~np.isnan(distinct)]
    if distinct.size <= MAX_THRESHOLDS + 1:
        assert len(found.thresholds) == max(0, distinct.size - 1)
    assert held.n_rows == len(values)


def test_many_values_are_cut_at_quantiles() -> None:
    found, _ = NumberConditions.learn("x", column(np.arange(3100.0)))
    assert len(found.thresholds) == MAX_THRESHOLDS
    assert np.allclose(np.diff(found.thresholds), 100)


def test_levels_and_missing_ones() -> None:
    rows = words("Rome", "Bern", None, "Rome")
    found, held = LevelConditions.learn("x", rows, 1)
    assert found.words == ("x is Bern", "x is Rome", "x is missing")
    assert held.words.tolist() == [1, 0, 2, 1]
    new = found.held(words("Oslo", None, "Bern"))
    assert np.diff(new.starts).tolist() == [0, 1, 1]
    assert new.words.tolist() == [2, 0]
    never, _ = LevelConditions.learn("x", words("a", "b"), 1)
    assert never.held(words(None, "b")).rows().tolist() == [[0, 0], [0, 1]]


def test_rare_levels_are_dropped() -> None:
    found, held = LevelConditions.learn("x", words("a", "b", "a", None), 2)
    assert found.words == ("x is a", "x is missing")
    assert held.rows().tolist() == [[1, 0], [0, 0], [1, 0], [0, 1]]


def test_a_column_that_names_rows_is_no_category() -> None:
    many = words(*(f"text number {k}" for k in range(300)))
    with pytest.warns(InputWarning, match="'x' holds 300 distinct"):
        found, _ = LevelConditions.learn("x", many, 1)
    assert found.levels == ()
    assert len(LevelConditions.learn("x", words(*list("ab" * 300)), 1)[0].levels) == 2


def test_numbers_in_the_place_of_text_are_refused() -> None:
    found, _ = LevelConditions.learn("x", words("1", "2"), 1)
    with pytest.raises(DataError, match="numbers and text are"):
        found.held(column([1, 2]))


NUMBER = {
    "kind": "number", "name": "x", "thresholds": [0.5, 1.5], "missing": True,
}  # fmt: skip
LEVEL = {"kind": "category", "name": "x", "levels": ["a", "b"], "missing": False}
TEXT = {"kind": "text", "name": "x", "words": 2}


@pytest.mark.parametrize(
    ("content", "change"),
    [
        (NUMBER, {"thresholds": [1.5, 0.5]}),
        (NUMBER, {"thresholds": [0.5, 0.5]}),
        (NUMBER, {"thresholds": [0.1]}),
        (NUMBER, {"thresholds": [float("nan")]}),
        (NUMBER, {"thresholds": [1e300]}),
        (NUMBER, {"thresholds": [[0.5], [1.5]]}),
        (NUMBER, {"thresholds": list(range(MAX_THRESHOLDS + 1))}),
        (NUMBER, {"missing": 1}),
        (NUMBER, {"name": 3}),
        (NUMBER, {"kind": "date"}),
        (NUMBER, {"more": 1}),
        (NUMBER, {"meaning": {"kind": "date", "part": "era", "order": None, "times": False}}),
        (NUMBER, {"meaning": {"kind": "tags"}}),
        (LEVEL, {"levels": ["b", "a"]}),
        (LEVEL, {"levels": ["a", 1]}),
        (LEVEL, {"levels": [None]}),
        (TEXT, {"words": -1}),
        (TEXT, {"words": 1.5}),
        (TEXT, {"missing": True}),
    ],
)
def test_damaged_conditions_are_refused(content: dict[str, Any], change: dict[str, Any]) -> None:
    own = ("x: a", "x: b")
    assert read_conditions(content, TextFeatures(), own).to_dict() == content
    with pytest.raises((ValueError, TypeError)):
        read_conditions({**content, **change}, TextFeatures(), own)
