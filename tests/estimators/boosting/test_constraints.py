"""Constraints on trees: which features may interact, and in which a score may only rise or fall."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from pacboost import BoostClassifier, BoostRegressor
from pacboost.errors import ParameterError
from pacboost.models.file.format import model_bytes
from tests.tree_paths import may_interact, paths

X = np.random.default_rng(0).normal(size=(400, 4))
SCORE = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.3 * X[:, 0]
FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])
SETS: Any = [["a", "b"], [2, 3]]


def fit(kind: Any, sets: Any, rows: Any = FRAME, **options: Any) -> Any:
    answers = SCORE if kind is BoostRegressor else SCORE > 0
    answers = options.pop("answers", answers)
    given = {"n_estimators": 8, "min_leaf_rows": 5, "random_state": 0, **options}
    return kind(interaction_constraints=sets, **given).fit(rows, answers)


def asked(model: Any) -> list[set[int]]:
    return [path for tree, _ in model.model_.vote.trees for path in paths(tree)]


@pytest.mark.parametrize("kind", [BoostClassifier, BoostRegressor])
@pytest.mark.parametrize("sets", [SETS, [{0, 1}], "pairwise", "no_interactions"])
def test_every_path_of_every_tree_stays_within_one_set(kind: Any, sets: Any) -> None:
    numbers = [(0, 1), (2, 3)] if isinstance(sets, list) else sets
    found = asked(fit(kind, sets))
    assert all(may_interact(path, numbers, 4) for path in found)
    assert not all(may_interact(path, numbers, 4) for path in asked(fit(kind, None)))


def test_names_and_numbers_mean_the_same() -> None:
    forms = (SETS, [(0, 1), (2, 3)], [{"b", "a"}, np.array([2, 3])], [[0, 1]])
    assert len({model_bytes(fit(BoostClassifier, sets).model_) for sets in forms}) == 1
    other = BoostClassifier(n_estimators=8, min_leaf_rows=5, random_state=0, interaction_cst=SETS)
    assert model_bytes(other.fit(FRAME, SCORE > 0).model_) in {
        model_bytes(fit(BoostClassifier, SETS).model_)
    }


def test_without_interactions_the_score_is_a_sum_of_functions_of_one_feature() -> None:
    model = fit(BoostRegressor, "no_interactions", X)
    base, one, two, both = np.zeros((4, 1, 4))
    one[0, 0] = both[0, 0] = 1.5
    two[0, 1] = both[0, 1] = -1.0
    predicted = [model.predict(row)[0] for row in (base, one, two, both)]
    assert predicted[3] - predicted[2] == pytest.approx(predicted[1] - predicted[0], abs=1e-9)


def test_a_date_is_all_columns_that_are_made_of_it() -> None:
    frame = FRAME.assign(day=pd.date_range("2020-01-01", periods=400))
    model = fit(BoostRegressor, [["a", "day"], ["b", "c", "d"]], frame)
    days = [j for j, name in enumerate(model.model_.names) if name.split(":")[0] == "day"]
    assert len(days) > 1
    sets = [(0, *days), (1, 2, 3)]
    assert all(may_interact(path, sets, len(model.model_.names)) for path in asked(model))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("pairs", "interaction_constraints is 'pairs'; it may be a list of sets"),
        (3, "interaction_constraints is 3; it may be"),
        ([0, 1], r"interaction_constraints is \[0, 1\]; it may be a list of sets"),
        (["a", "b"], "it may be a list of sets"),
        ([["a", "x"]], "names 'x', which is not a column of X; its columns are a, b, c, d"),
        ([[0, 4]], "names 4, which is not a column of X"),
        ([[0.5]], "names 0.5, which is not a column of X"),
    ],
)
@pytest.mark.parametrize("kind", [BoostClassifier, BoostRegressor])
def test_refused_in_words(kind: Any, given: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        fit(kind, given)


def test_monotone_constraints_are_refused_for_many_classes_with_a_way_out() -> None:
    classes = np.digitize(SCORE, [-1, 1])
    with pytest.raises(ParameterError, match=r"y has 3"):
        BoostClassifier(monotone_constraints={"a": 1}).fit(FRAME, classes)
    model = BoostClassifier(n_estimators=5, monotone_constraints={"a": 1}).fit(FRAME, classes == 2)
    assert model.score(FRAME, classes == 2) > 0.8
