"""Mixed tables become words: by the names of columns, and the same way every time."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from pacboost.errors import DataError, ParameterError, PrunedWarning
from pacboost.sources.mixed import MixedFeatures, read_features
from pacboost.sources.text import TextFeatures
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
    with pytest.raises(DataError, match=r"no column 'age'; its columns are 'subject', 'years'"):
        features.transform(frame().rename(columns={"age": "years"}))
    with pytest.raises(DataError, match="no column 'body'"):
        OPTIONS.learn(frame().drop(columns="body"))


def test_a_table_of_one_text_reads_lists_as_well() -> None:
    features, table = MixedFeatures(TextFeatures(), ("body",)).learn(frame()[["body"]])
    texts = ["card gone", "", "lost", "what rate"]
    assert features.transform(texts).words.tolist() == table.words.tolist()
    more, _ = OPTIONS.learn(frame())
    with pytest.raises(DataError, match="a data frame is needed"):
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


def test_too_many_words_of_a_column_are_pruned() -> None:
    with pytest.warns(PrunedWarning, match="the 2 that most texts contain"):
        features, _ = MixedFeatures(TextFeatures(max_features=2), ("body",)).learn(
            frame()[["body"]]
        )
    assert len(features.vocabulary) == 2


@pytest.mark.parametrize("columns", ["said", 3, [1], [None]])
def test_bad_names_of_columns(columns: Any) -> None:
    with pytest.raises(ParameterError, match="text_columns is"):
        MixedFeatures(TextFeatures(), columns)


def test_a_table_that_tells_nothing_apart_is_refused() -> None:
    with pytest.raises(DataError, match="tells rows apart"):
        MixedFeatures(TextFeatures(), ()).learn(pd.DataFrame({"a": [1, 1], "b": [2.0, 2.0]}))
