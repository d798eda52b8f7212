"""What is learned of columns once: categories of every kind of rows."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray

from pacboost import BoostClassifier
from pacboost.errors import InputWarning, ParameterError
from pacboost.models.file.format import model_bytes
from tests.grids import each_value

Labels = NDArray[np.int64]


def same(one: BoostClassifier, other: BoostClassifier) -> bool:
    return model_bytes(one.model_) == model_bytes(other.model_)


def coloured(rows: int = 300) -> tuple[dict[str, NDArray[Any]], Labels]:
    generator = np.random.default_rng(0)
    colour = generator.choice(["red", "green", "blue", "grey"], size=rows)
    size = generator.normal(size=rows)
    warm = np.where(np.isin(colour, ["red", "blue"]), 1, -1)
    return {"colour": colour, "size": size}, (warm + size > 0).astype(np.int64)


def test_categories_are_the_same_from_every_frame() -> None:
    columns, y = coloured()
    text = pd.DataFrame(columns)
    colour = columns["colour"]
    frames = [
        text.astype({"colour": "category"}),
        text.astype({"colour": pd.CategoricalDtype(["grey", "red", "green", "blue", "none"])}),
        pl.DataFrame(columns),
        pl.DataFrame({**columns, "colour": pl.Series(colour).cast(pl.Categorical)}),
    ]
    expected = BoostClassifier(n_estimators=8, random_state=0).fit(text, y)
    assert expected.levels_.to_dict() == {"0": ["blue", "green", "grey", "red"]}
    assert expected.score(text, y) > 0.95
    for frame in frames:
        assert same(BoostClassifier(n_estimators=8, random_state=0).fit(frame, y), expected)
        assert np.array_equal(expected.decision_function(frame), expected.decision_function(text))
    cells = np.array(list(zip(*columns.values(), strict=True)), dtype=object)
    assert same(BoostClassifier(n_estimators=8, random_state=0).fit(cells, y), expected)


@each_value
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("options", [{}, {"learner": "stump"}, {"booster": "adaboost"}])
def test_unseen_levels_act_as_missing_ones(options: dict[str, Any], holes: bool) -> None:
    columns, y = coloured()
    frame = pd.DataFrame(columns)
    if holes:
        frame.loc[::7, "colour"] = None
    model = BoostClassifier(n_estimators=8, **options).fit(frame, y)

    def scores(colour: Any, make: Any = pd.DataFrame) -> Any:
        return model.decision_function(make({"colour": [colour, "red"], "size": [0.1, 0.1]}))

    unseen = scores("pink")
    assert unseen[0] != unseen[1]
    for colour, make in [(None, pd.DataFrame), (np.nan, pd.DataFrame), (None, pl.DataFrame)]:
        assert np.array_equal(scores(colour, make), unseen)
    assert np.array_equal(scores("pink", pl.DataFrame), unseen)
    only = model.decision_function(pd.DataFrame({"colour": ["pink"], "size": [0.1]}))
    assert only.tolist() == unseen[:1].tolist()


def test_frequent_levels_of_many_are_learned_from() -> None:
    users = [f"u{i}" for i in range(300)] + ["good", "bad"] * 100
    y = np.array([0, 1] * 150 + [1, 0] * 100)
    with pytest.warns(InputWarning, match="the 2 most frequent"):
        model = BoostClassifier(n_estimators=20).fit(pd.DataFrame({"user": users}), y)
    assert model.predict(pd.DataFrame({"user": ["good", "bad"]})).tolist() == [1, 0]
    rare = model.decision_function(pd.DataFrame({"user": ["u3", "never seen", None]}))
    assert rare[0] == rare[1] == rare[2]


def test_numbers_are_categories_if_named() -> None:
    generator = np.random.default_rng(0)
    kind = generator.integers(6, size=300)
    y = kind % 2
    frame = pd.DataFrame({"kind": kind, "noise": generator.normal(size=300)})
    options: dict[str, Any] = {
        "n_estimators": 1,
        "max_leaves": 2,
        "min_leaf_rows": 1,
        "learning_rate": 1.0,
    }
    plain = BoostClassifier("adaboost", **options).fit(frame, y)
    assert plain.score(frame, y) < 0.8
    for choice in (["kind"], [0], [True, False]):
        named = BoostClassifier("adaboost", categorical_features=choice, **options).fit(frame, y)
        assert named.levels_.to_dict() == {"0": [0, 1, 2, 3, 4, 5]}
        assert named.score(frame, y) == 1
    with pytest.raises(ParameterError, match=r"'nope'.*'kind'"):
        BoostClassifier(categorical_features=["nope"]).fit(frame, y)


def test_a_monotone_category_is_refused() -> None:
    columns, y = coloured()
    frame = pd.DataFrame(columns)
    with pytest.raises(ParameterError, match="'colour', a category"):
        BoostClassifier(monotone_constraints={"colour": 1}).fit(frame, y)
    with pytest.raises(ParameterError, match=r"'nope'.* colour, size"):
        BoostClassifier(monotone_constraints={"nope": 1}).fit(frame, y)
    free = BoostClassifier(monotone_constraints={"colour": 0, "size": 1}, n_estimators=50)
    assert free.fit(frame, y).score(frame, y) > 0.95
