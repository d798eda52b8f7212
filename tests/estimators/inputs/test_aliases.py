"""Names of other libraries are accepted, and misspelt names are answered with a guess."""

import inspect
import pickle
from typing import Any

import pytest
from sklearn.base import clone

import pacboost
from pacboost.errors import ParameterError
from pacboost.estimators.inputs.aliases import SAME_MEANING
from tests.markdown import DOCS, tables
from tests.public import estimators

KINDS: list[Any] = list(estimators().values())
PAIRS: list[tuple[Any, str, str, Any]] = [
    (pacboost.BoostClassifier, "num_leaves", "max_leaves", 7),
    (pacboost.BoostClassifier, "min_child_samples", "min_leaf_rows", 5),
    (pacboost.BoostClassifier, "min_samples_leaf", "min_leaf_rows", 0.1),
    (pacboost.BoostClassifier, "reg_lambda", "l2", 3.0),
    (pacboost.BoostClassifier, "colsample_bytree", "max_features", 0.5),
    (pacboost.BoostClassifier, "early_stopping_rounds", "early_stopping", 5),
    (pacboost.BoostClassifier, "eta", "learning_rate", 0.3),
    (pacboost.BoostClassifier, "depth", "max_depth", 3),
    (pacboost.BoostRegressor, "max_iter", "n_estimators", 5),
    (pacboost.BoostRegressor, "monotonic_cst", "monotone_constraints", [1, 0, 0, 0]),
    (pacboost.AdaBoostClassifier, "iterations", "n_estimators", 5),
    (pacboost.AdaBoostClassifier, "base_estimator", "estimator", "tree"),
    (pacboost.FilterBoostClassifier, "max_iter", "n_estimators", 5),
    (pacboost.RandomForestClassifier, "min_leaf_rows", "min_samples_leaf", 5),
    (pacboost.StrongClassifier, "seed", "random_state", 5),
    (pacboost.TextBoostClassifier, "shrinkage_rate", "learning_rate", 0.3),
]


@pytest.mark.parametrize(("kind", "other", "name", "value"), PAIRS)
def test_other_names_set_the_parameter(kind: Any, other: str, name: str, value: Any) -> None:
    named = kind(**{other: value})
    assert named.get_params()[name] == value
    assert other not in named.get_params()
    assert kind().set_params(**{other: value}).get_params() == named.get_params()
    assert clone(named).get_params() == named.get_params()
    assert pickle.loads(pickle.dumps(named)).get_params() == named.get_params()
    with pytest.raises(TypeError, match=f"{name} and {other} .*{kind.__name__}"):
        kind(**{name: value, other: value})
    with pytest.raises(ParameterError, match=f"{other} and {name} mean the same"):
        kind().set_params(**{other: value, name: value})


@pytest.mark.parametrize("kind", KINDS)
def test_a_misspelt_name_is_answered_with_a_guess(kind: Any) -> None:
    name = next(iter(inspect.signature(kind).parameters))
    with pytest.raises(TypeError, match=f"{kind.__name__} .*did you mean '{name}'"):
        kind(**{name + "s": 1})
    with pytest.raises(ParameterError, match=f"did you mean '{name}'"):
        kind().set_params(**{name + "s": 1})
    with pytest.raises(TypeError, match=f"'qqqq'; it has {name}"):
        kind(qqqq=1)


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        (pacboost.BoostClassifier, "scale_pos_weight", "class_weight={0: 1, 1: 5}"),
        (pacboost.StrongClassifier, "is_unbalance", "class_weight='balanced'"),
        (pacboost.BoostClassifier, "objective", "booster='logit'"),
        (pacboost.BoostRegressor, "objective", "its name here is loss"),
        (pacboost.BoostClassifier, "verbosity", "verbose=0"),
        (pacboost.BoostClassifier, "reg_alpha", "no L1 penalty"),
        (pacboost.BoostClassifier, "importance_type", "importances"),
    ],
)
def test_a_parameter_without_a_counterpart_comes_with_advice(
    kind: Any, name: str, said: str
) -> None:
    with pytest.raises(TypeError, match=f"has no parameter '{name}'; .*{said}"):
        kind(**{name: 1})


class Mine(pacboost.BoostClassifier):
    def __init__(self, mine: int = 1, num_leaves: int = 4) -> None:
        self.mine, self.num_leaves = mine, num_leaves
        super().__init__(num_leaves=num_leaves)


def test_a_subclass_may_have_other_parameters() -> None:
    model = Mine(mine=3)
    assert model.max_leaves == 4
    assert clone(model.set_params(mine=5, num_leaves=6)).get_params() == {
        "mine": 5,
        "num_leaves": 6,
    }
    with pytest.raises(ParameterError, match=r"'minee'; .*'mine'"):
        model.set_params(minee=3)


def test_the_vocabulary_of_texts_is_no_share_of_columns() -> None:
    with pytest.raises(TypeError, match="no parameter 'colsample_bytree'"):
        pacboost.TextBoostClassifier(colsample_bytree=0.5)


def test_no_name_has_two_meanings_and_all_are_documented() -> None:
    names = [name for line in SAME_MEANING for name in line]
    assert len(names) == len(set(names))
    text = (DOCS / "choosing.md").read_text(encoding="utf-8")
    found = [rows for head, *rows in tables(text) if head[0] == "here"]
    assert {(here, *others.split(", ")) for here, others, _ in found[0]} == {
        tuple(f"`{name}`" for name in line) for line in SAME_MEANING
    }
