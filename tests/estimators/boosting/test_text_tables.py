"""Boosting over mixed tables: texts next to numbers and categories, by the names of columns."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from pacboost import BoostClassifier, TextBoostClassifier, load
from pacboost.errors import DataError, InputWarning, ParameterError
from pacboost.models.file.format import model_bytes
from pacboost.sources import mixed, text
from tests.frames import LIBRARIES, as_rows

WORDS = ["lost", "card", "top", "up", "rate", "please", "my"]


def callers(rows: int = 400, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Who is older than 45 and from Paris goes to the first desk, whatever is said."""
    generator = np.random.default_rng(seed)
    age = generator.integers(18, 80, rows).astype(float)
    age[generator.random(rows) < 0.1] = np.nan
    frame = pd.DataFrame(
        {
            "said": [" ".join(generator.choice(WORDS, 4)) for _ in range(rows)],
            "age": age,
            "city": generator.choice(["Paris", "Rome", "Bern"], rows),
            "vip": generator.random(rows) < 0.5,
        }
    )
    lost = np.array(["lost" in said for said in frame["said"]])
    first = (frame["city"] == "Paris").to_numpy() & (age > 45)
    return frame, np.where(first, "first", np.where(lost, "lost", "other"))


def quick(**options: Any) -> TextBoostClassifier:
    given = {"n_estimators": 120, "length": 8, "learning_rate": 0.5, "random_state": 0} | options
    return TextBoostClassifier(**{"text_columns": ["said"], **given})


@pytest.fixture(scope="module")
def fitted() -> TextBoostClassifier:
    return quick().fit(*callers())


def test_it_learns_from_all_kinds_of_columns(fitted: TextBoostClassifier) -> None:
    fresh, truth = callers(seed=1)
    assert fitted.score(fresh, truth) > 0.95
    rules = "\n".join(fitted.rules(None))
    assert "if said contains 'lost' → lost +" in rules
    assert "if city is Paris → first +" in rules
    assert re.search(r"if age > [\d.]+ → first \+", rules)
    assert "if age is missing →" in rules
    assert "if age ≤" in "\n".join(fitted.model_.words())
    texts_alone = TextBoostClassifier(n_estimators=120, learning_rate=0.5, random_state=0)
    first, labels = callers()
    assert texts_alone.fit(first["said"], labels).score(fresh["said"], truth) < 0.85


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_gives_the_same_model(fitted: TextBoostClassifier, library: str) -> None:
    frame, labels = callers()
    held = {name: frame[name].astype(object).where(frame[name].notna(), None) for name in frame}
    rows = as_rows(held, library)
    assert model_bytes(quick().fit(rows, labels).model_) == model_bytes(fitted.model_)
    assert np.array_equal(fitted.decision_function(rows), fitted.decision_function(frame))


def test_a_file_keeps_how_tables_are_read(fitted: TextBoostClassifier, tmp_path: Path) -> None:
    frame, labels = callers()
    fitted.save(tmp_path / "model.pacb")
    back = load(tmp_path / "model.pacb")
    assert back.features_ == fitted.features_
    strange = frame.assign(city="Oslo", said="", vip=None)
    assert np.array_equal(back.decision_function(strange), fitted.decision_function(strange))
    assert str(back.explain(frame[:1])) == str(fitted.explain(frame[:1]))
    assert clone(back).fit(frame, labels).features_ == fitted.features_


def test_grounds_name_columns_and_add_up(fitted: TextBoostClassifier) -> None:
    frame, _ = callers()
    row = {"said": "lost my card", "age": 70, "city": "Paris", "vip": None}
    told = fitted.explain(row, top=100, for_class="first")
    said = [entry.words for entry in told.entries]
    assert "city is Paris" in said
    assert any(words.startswith("age > ") for words in said)
    assert any(words.startswith("said contains ") for words in said)
    assert not any("vip" in words for words in said)
    assert sum(entry.contribution for entry in told.entries) + told.rest == told.score
    assert told.score == fitted.decision_function([row])[0, 0]
    with pytest.raises(DataError, match="x has 2 rows"):
        fitted.explain(frame[:2])


def test_nothing_known_lets_the_prior_speak() -> None:
    """Levels never seen are no levels, and what was never missing has no word for it."""
    frame, labels = callers()
    model = quick().set_params(calibrate=None).fit(frame.drop(columns="age"), labels)
    row = {"said": "hello", "city": "Oslo", "vip": None}
    assert "no known word" in str(model.explain(row))
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    assert model.predict_proba([row])[0] == pytest.approx(shares, abs=1e-4)


def test_columns_come_in_any_order_under_their_names(fitted: TextBoostClassifier) -> None:
    frame, _ = callers()
    turned = frame[["city", "said", "vip", "age"]].assign(extra=0)
    assert np.array_equal(fitted.predict(turned), fitted.predict(frame))
    with pytest.raises(DataError, match=r"no column 'city'.*'town'"):
        fitted.predict(frame.rename(columns={"city": "town"}))
    with pytest.raises(DataError, match=r"'age' .*row 0 .*'forty'"):
        fitted.predict(frame.assign(age="forty"))
    with pytest.raises(DataError, match="column 'said', row 3 holds 7"):
        fitted.predict(frame.assign(said=[*frame["said"][:3], 7, *frame["said"][4:]]))
    with pytest.raises(DataError, match="pass a data frame"):
        fitted.predict(["lost my card"])


def test_hold_out_rows_lend_no_word_level_or_threshold() -> None:
    frame, labels = callers()
    tagged = frame.assign(said=[f"tag{k} {said}" for k, said in enumerate(frame["said"])])
    model = quick(certify="holdout", ngrams=(1, 1)).fit(tagged, labels)
    options = text.TextFeatures((1, 1), times=(2, 3, 5, 8), beginning=(1, 3, 10), prefixes=(3, 6))
    words = set(model.features_.vocabulary)
    seen = [f"said: tag{k}" in words for k in range(len(tagged))]
    assert sum(seen) == 320
    wanted, _ = mixed.MixedFeatures(options, ("said",)).learn(tagged[seen])
    assert model.features_ == wanted
    assert wanted != mixed.MixedFeatures(options, ("said",)).learn(tagged)[0]


def test_several_labels_a_row_and_no_text_at_all() -> None:
    frame, labels = callers()
    both = np.column_stack([labels == "first", frame["vip"]]).astype(np.int64)
    model = quick(text_columns=[]).fit(frame.drop(columns="said"), both)
    assert model.score(frame, both) > 0.95


def test_columns_that_read_like_sentences_are_found(fitted: TextBoostClassifier) -> None:
    frame, labels = callers()
    found = quick(text_columns=None).fit(frame, labels)
    np.testing.assert_array_equal(found.predict_proba(frame), fitted.predict_proba(frame))
    with pytest.raises(DataError, match="sentences"):
        quick(text_columns=None).fit(frame.drop(columns="said"), labels)
    frame["said"] += [f" {number}" for number in range(len(frame))]
    with pytest.warns(InputWarning) as notes:
        BoostClassifier(n_estimators=2).fit(frame, labels)
    assert any("TextBoostClassifier" in str(note.message) for note in notes)


def test_a_category_of_many_values_warns() -> None:
    with pytest.warns(InputWarning, match="'said' .* text_columns"):
        quick(text_columns=[]).fit(*callers())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"text_columns": "said"}, "text_columns is 'said'"),
        ({"text_columns": ["words"]}, "no column 'words'"),
        ({"text_columns": ["said", "age"]}, "column 'age', row 0 holds"),
    ],
)
def test_bad_columns_are_named(options: dict[str, Any], said: str) -> None:
    model = quick(**options)
    frame, labels = callers()
    with pytest.raises((DataError, ParameterError), match=said):
        model.fit(frame, labels)
    assert not hasattr(model, "model_")
