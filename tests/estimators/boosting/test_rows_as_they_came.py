"""Learners and rules of a user get the rows of the user, in fit, predict and certificates."""

import pickle
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost import AdaBoostClassifier, AdaBoostRegressor, BoostClassifier
from pacboost.errors import DataError, FileError, NotCertified
from pacboost.sources.given import GivenRows, as_they_came
from tests.estimators.boosting.own_learners import WORLDS, World, texts


def models(learner: Any) -> list[Any]:
    return [
        BoostClassifier("adaboost", learner, n_estimators=9, certify="holdout", random_state=0),
        AdaBoostClassifier(learner, n_estimators=9, random_state=0),
    ]


@pytest.mark.parametrize("name", WORLDS)
def test_rows_reach_rules_as_they_came(name: str) -> None:
    world: World = WORLDS[name]()
    for model in models(world.learner()):
        model.fit(world.some(0, 300), world.labels[:300])
        new, truth = world.some(300, 400), world.labels[300:]
        assert model.score(new, truth) == 1.0, name
        assert pacboost.certify(model, new, truth).value < 0.05
        with pytest.raises(NotCertified, match="rows were used to train this model"):
            pacboost.certify(model, world.some(0, 300), world.labels[:300])
        assert model.predict(world.some(300, 301)).tolist() == truth[:1].tolist()
        assert str(truth[0]) in str(model.explain(world.rows[300]))
        with pytest.raises(FileError, match="Pickle"):
            model.save("m.pacb")
        again = pickle.loads(cloudpickle.dumps(model))
        assert (again.predict(new) == model.predict(new)).all()


@pytest.mark.parametrize(
    "form",
    [list, tuple, np.array, lambda rows: np.array(rows, dtype=object), pd.Series, pl.Series],
)
def test_texts_may_be_a_list_an_array_or_a_series(form: Any) -> None:
    world = texts()
    model = AdaBoostClassifier(world.learner(), n_estimators=9)
    model.fit(form(world.rows[:300]), world.labels[:300])
    assert model.score(form(world.rows[300:]), world.labels[300:]) == 1.0


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_stay_frames(library: Any) -> None:
    draw = np.random.default_rng(0)
    columns = {"size": draw.normal(size=300), "shop": draw.choice(["a", "b", "c"], 300)}
    frame, y = library.DataFrame(columns), (columns["size"] > 0) ^ (columns["shop"] == "a")
    seen = []

    def learner(X: Any, y: Any, weights: Any) -> Any:
        seen.append(X)
        rules: list[Any] = [lambda rows: rows["size"] > 0, lambda rows: rows["shop"] != "a"]
        return max(rules, key=lambda rule: weights @ (y * np.where(rule(X), 1, -1)))

    model = AdaBoostClassifier(learner, n_estimators=3).fit(frame, y)
    assert type(seen[0]) is type(frame)
    assert seen[0]["shop"].to_list() == columns["shop"].tolist()
    swapped = library.DataFrame({"shop": columns["shop"], "size": columns["size"]})
    assert (model.predict(swapped) == model.predict(frame)).all()
    assert model.feature_names_in_.tolist() == ["size", "shop"]
    importances = model.permutation_importances(frame, y)
    assert importances.mean.max() > 0
    with pytest.raises(DataError, match="missing are shop"):
        model.predict(library.DataFrame({"size": columns["size"]}))


def test_pipelines_read_columns_and_texts_themselves() -> None:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"n": draw.normal(size=300), "c": draw.choice(["a", "b", "c"], 300)})
    y = (frame["n"] > 0) ^ (frame["c"] == "a")
    columns = make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough")
    tree = make_pipeline(columns, DecisionTreeClassifier(max_depth=2, random_state=0))
    model = AdaBoostClassifier(tree, n_estimators=5, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.95
    world = texts()
    words = make_pipeline(CountVectorizer(), LogisticRegression(C=0.1))
    fitted = BoostClassifier("adaboost", words, n_estimators=5, random_state=0)
    fitted.fit(world.rows[:300], world.labels[:300])
    assert fitted.score(world.rows[300:], world.labels[300:]) > 0.9
    images = draw.random((100, 3, 3))

    class Flat:
        def fit(self, X: Any, y: Any) -> None:
            self.tree = DecisionTreeClassifier(max_depth=2).fit(X.reshape(len(X), -1), y)

        def predict(self, X: Any) -> Any:
            return self.tree.predict(X.reshape(len(X), -1))

    bright = images[:, 1, 1] > 0.5
    assert AdaBoostClassifier(Flat(), n_estimators=3).fit(images, bright).score(images, bright) == 1


def test_tables_of_numbers_are_read_as_ever() -> None:
    numbers = [[1.0, 2.0], [3.0, None], [0.5, 1.0]]
    assert as_they_came(numbers) is numbers
    assert as_they_came(np.eye(3)) is not None
    matrix = sparse.csr_array(np.eye(3))
    assert as_they_came(matrix) is matrix
    assert isinstance(as_they_came([[1, 2], [3]]), GivenRows)
    with pytest.raises(DataError, match="infin"):
        AdaBoostClassifier(DecisionTreeClassifier()).fit([[0.0], [np.inf]], [0, 1])
    regressor = AdaBoostRegressor(DecisionTreeClassifier(), n_estimators=2, random_state=0)
    assert regressor.fit([[0.0], [1.0]], [0, 1]).predict([[1.0]]) == [1.0]


def test_rows_of_another_shape_are_refused() -> None:
    world = WORLDS["images"]()
    model = AdaBoostClassifier(world.learner(), n_estimators=2).fit(world.rows, world.labels)
    with pytest.raises(DataError, match=r"shape \(4, 5\)"):
        model.predict(np.zeros((2, 4, 5)))
    with pytest.raises(DataError, match="no rows"):
        model.fit([], [])
