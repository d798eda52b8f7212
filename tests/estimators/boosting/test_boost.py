"""BoostClassifier as a user meets it: any booster with any learner, and what it refuses."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from pacboost import BoostClassifier
from pacboost.boosters import AdaBoost, Gentle, Logit, Mada
from pacboost.boosters.registry import BOOSTERS
from pacboost.errors import DataError, NoEdgeWarning, NotCertified, ParameterError, RareClassWarning
from pacboost.learners import Stump, Tree
from pacboost.models.file.format import model_bytes
from tests.estimators.boosting.worlds import product_of_columns
from tests.grids import each_value, one_in

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]

SMOOTH = ("filter_boost", "measure", "smooth", "projection")
FAST = ("adaboost", "logit", "gentle", "mada", *SMOOTH)
BLACK_BOX = DecisionTreeClassifier(max_depth=2)


def several() -> tuple[Rows, Labels]:
    """Rows that have each of three labels or not."""
    X, y = product_of_columns()
    return X, np.stack([y, X[:, 0] > 0, X[:, 1] > 0.5], axis=1).astype(np.int64)


def fit(classes: int = 2, **options: Any) -> BoostClassifier:
    return BoostClassifier(**{"n_estimators": 5, "random_state": 0, **options}).fit(
        *product_of_columns(classes)
    )


@each_value
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", ["stump", "tree", BLACK_BOX])
@pytest.mark.parametrize("booster", FAST)
def test_every_booster_takes_every_learner(booster: str, learner: Any, classes: int) -> None:
    X, y = product_of_columns(classes)
    model = fit(classes, booster=booster, learner=learner, n_estimators=20)
    assert model.ledger_.booster == booster
    guessing = np.bincount(y).max() / y.size
    assert model.score(X, y) > guessing + 0.1
    shares = model.predict_proba(X)
    assert shares.shape == (y.size, classes)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares >= 0).all()
    assert np.array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    wrong = model.mistakes(X, y).mean()
    assert wrong == pytest.approx(model.ledger_.rounds[-1].training_error)
    assert model.certificate_.value >= wrong


ALL_ROWS: dict[str, Any] = {"subsample": 1.0, "max_features": 1.0, "calibrate": None}


@each_value
@pytest.mark.parametrize(
    ("booster", "learner", "same"),
    [
        (Gentle(learning_rate=0.3), Tree(max_leaves=4), {"booster": "gentle", "max_leaves": 4}),
        (Mada(learning_rate=0.3), Tree(max_depth=2), {"booster": "mada", "max_depth": 2}),
        (
            Logit(learning_rate=0.3, l2=2, prior=True),
            Tree(),
            {"booster": "logit", "l2": 2, "max_leaves": 31, "min_leaf_rows": 20, **ALL_ROWS},
        ),
        (AdaBoost(learning_rate=0.3, confidence_rated=True), Tree(), {"booster": "adaboost"}),
        (AdaBoost(learning_rate=0.3), Stump(), {"booster": "adaboost", "learner": "stump"}),
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_an_object_boosts_as_its_name_with_the_same_parameters(
    booster: Any, learner: Any, same: dict[str, Any], classes: int
) -> None:
    given = fit(classes, booster=booster, learner=learner)
    named = fit(classes, learning_rate=0.3, **same)
    assert model_bytes(given.model_) == model_bytes(named.model_)


@pytest.mark.parametrize("learner", ["stump", "tree", BLACK_BOX])
def test_samme_boosts_and_refuses_a_bound(learner: Any) -> None:
    X, y = product_of_columns(3)
    model = fit(3, booster=AdaBoost(multiclass="samme"), learner=learner, n_estimators=20)
    assert model.score(X, y) > np.bincount(y).max() / y.size
    with pytest.raises(NotCertified, match="multiclass='mh'"):
        _ = model.certificate_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"booster": "nope"}, "booster is 'nope'.*it may be 'adaboost', "),
        ({"booster": Logit}, "not a class"),
        ({"booster": None}, "booster is None"),
        ({"learner": "nope"}, "learner is 'nope'; it may be 'stump', 'tree'"),
        ({"learner": Tree}, "not a class"),
        ({"learner": "stump", "max_leaves": 4}, "Stump has no parameter 'max_leaves'"),
        ({"learner": BLACK_BOX, "max_depth": 4}, "has no parameter 'max_depth'"),
        ({"booster": "gentle", "l2": 1.0}, "Gentle has no parameter 'l2'.*learning_rate"),
        ({"max_leaves": 1}, "max_leaves is 1; it may be 2 to"),
        ({"max_leaves": 7.5}, "max_leaves is 7.5; it must be a whole number"),
        ({"max_depth": 0}, "max_depth is 0; it must be 1 or more, or None"),
        ({"min_leaf_rows": -1}, "min_leaf_rows is -1; it must be 0 or more"),
        ({"max_features": 0}, "max_features is 0; it may be a whole number"),
        ({"max_features": "sqrt"}, "max_features is 'sqrt'; it must be a number"),
        ({"subsample": 0}, r"subsample is 0.0; it must lie in \(0, 1\]"),
        ({"subsample": "half"}, "subsample is 'half'; it must be a number"),
        ({"l2": -1}, "l2 is -1; it must be 0 or more"),
        (
            {"calibrate": "x"},
            "calibrate is 'x'; it may be 'auto', 'sigmoid', 'isotonic', 'temperature' or None",
        ),
        ({"class_weight": "x"}, "class_weight is 'x'; it may be 'balanced', None, or a mapping"),
        ({"class_weight": {0: 1, 5: 2}}, r"class_weight is \{0: 1, 5: 2\}"),
        ({"class_weight": {0: -1, 1: 1}}, "class_weight is.*0 or more"),
        ({"class_weight": {0: np.nan, 1: 1}}, "class_weight is.*finite"),
        ({"monotone_constraints": {9: 1}}, "names 9, which is not a column of X.* 0 to 3"),
        ({"monotone_constraints": {-1: 1}}, "names -1, which is not a column"),
        ({"monotone_constraints": {(0,): 1}}, "which is not a column"),
        ({"monotone_constraints": {"a": 1}}, "names 'a', which is not a column"),
        ({"monotone_constraints": [1, 0]}, "holds 2 numbers for 4 features; give one for every"),
        ({"monotone_constraints": {0: 2}}, r"sets 2 on 0; it may be -1, 0 or \+1"),
        ({"monotone_constraints": {0: "up"}}, "sets 'up' on 0"),
        ({"monotone_constraints": 1}, "monotone_constraints is 1; it may be a mapping"),
        ({"monotone_constraints": {0: 1}, "classes": 3}, "are for two classes"),
        ({"learner": Tree(monotone={0: 1}), "classes": 3}, "are for two classes"),
        ({"monotone_constraints": {0: 1}, "learner": "stump"}, "Stump has no parameter"),
        ({"max_bins": 300, "rows": 400}, "max_bins to 255 or less"),
        ({"certify": "x"}, "certify is 'x'"),
    ],
)
def test_refused_in_words(options: dict[str, Any], message: str) -> None:
    X, y = product_of_columns(options.pop("classes", 2), options.pop("rows", 240))
    model = BoostClassifier(**{"n_estimators": 2, **options})
    with pytest.raises(ParameterError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "model_")


def test_monotone_constraints_by_name_number_and_sequence() -> None:
    X, y = product_of_columns()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    wanted = [1, 0, 0, -1]
    models = [
        BoostClassifier(n_estimators=15, monotone_constraints=given, random_state=0).fit(frame, y)
        for given in ({"a": 1, "d": -1}, {0: 1, 3: -1}, wanted, np.array(wanted), {"a": 1, 3: -1})
    ]
    assert len({model_bytes(model.model_) for model in models}) == 1
    model = BoostClassifier(n_estimators=15, monotone_constraints=wanted).fit(X, y)
    for column, slope in ((0, 1), (3, -1)):
        lines = np.repeat(X[:20], 40, axis=0)
        lines[:, column] = np.tile(np.linspace(-3, 3, 40), 20)
        steps = np.diff(model.decision_function(lines).reshape(20, 40), axis=1)
        assert (slope * steps >= 0).all()


def test_parameters_of_objects_are_got_set_and_cloned() -> None:
    model = BoostClassifier(Logit(l2=3.0), Tree(max_leaves=4))
    assert model.get_params()["booster__l2"] == 3.0
    assert model.get_params()["learner__max_leaves"] == 4
    assert not [name for name in model.get_params(deep=False) if "__" in name]
    copy = clone(model)
    copy.set_params(booster__l2=5.0, learner__max_leaves=6, max_depth=2)
    assert copy.booster == Logit(l2=5.0)
    assert copy.learner == Tree(max_leaves=6)
    assert copy.max_depth == 2
    assert model.booster == Logit(l2=3.0)
    assert model.learner == Tree(max_leaves=4)


def test_parameters_behind_names_are_set() -> None:
    model = BoostClassifier().set_params(booster="adaboost", booster__max_vote=2.0)
    assert model.get_params()["booster__max_vote"] == 2.0
    assert model.set_params(learner__max_depth=3).get_params()["learner__max_depth"] == 3
    assert clone(model).get_params() == model.get_params()
    black_box = BoostClassifier(learner=DecisionTreeClassifier(max_depth=3))
    assert clone(black_box).set_params(learner__max_depth=1).learner.max_depth == 1


@pytest.mark.parametrize("classes", [2, 4])
def test_a_name_with_a_parameter_keeps_what_the_name_means(classes: int) -> None:
    """Setting what is the default anyway changes nothing."""
    X, y = product_of_columns(classes)
    plain = BoostClassifier(n_estimators=5, random_state=0).fit(X, y)
    behind = BoostClassifier(n_estimators=5, random_state=0)
    rate, l2 = plain.settings_["learning_rate"], plain.settings_["l2"]
    behind.set_params(booster__learning_rate=rate, booster__l2=l2, learner__max_depth=None)
    behind.fit(X, y)
    assert model_bytes(behind.model_) == model_bytes(plain.model_)
    real = BoostClassifier("adaboost", n_estimators=5, random_state=0).fit(X, y)
    same = BoostClassifier("adaboost", n_estimators=5, random_state=0)
    same.set_params(booster__smoothing=0.5).fit(X, y)
    assert model_bytes(same.model_) == model_bytes(real.model_)


def test_few_rows_warn_that_nothing_was_split() -> None:
    X, _ = product_of_columns()
    with pytest.warns(NoEdgeWarning, match="30 rows.*min_leaf_rows"):
        BoostClassifier(min_leaf_rows=20).fit(X[:30], np.r_[np.zeros(20), np.ones(10)])


def test_an_unknown_parameter_is_named() -> None:
    with pytest.raises(ParameterError, match=r"'nope'.*learning_rate"):
        BoostClassifier().set_params(booster__nope=1)
    with pytest.raises(ParameterError, match="max_leaves is 1"):
        BoostClassifier().set_params(learner__max_leaves=1)
    with pytest.raises(ValueError, match=r"BoostClassifier .*'nope'"):
        BoostClassifier().set_params(nope=1)


@pytest.mark.parametrize("booster", ["adaboost", "gentle", "mada", "filter_boost", "smooth"])
def test_several_labels_a_row(booster: str) -> None:
    X, y = several()
    model = BoostClassifier(booster, n_estimators=20, random_state=0).fit(X, y)
    told = model.predict(X)
    assert told.shape == y.shape
    assert set(np.unique(told)) == {0, 1}
    assert np.mean(told != y) < 0.1
    assert model.several_labels_
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.array_equal(model.mistakes(X, y), (told != y).any(axis=1))
    assert model.score(X, y) == np.mean((told == y).all(axis=1))
    assert model.certificate_.value >= np.mean(told != y)
    assert "labels of the rows" in model.certificate_.claim
    shares = model.predict_proba(X)
    assert shares.shape == y.shape
    assert np.array_equal(shares > 0.5, told == 1)


def test_the_default_takes_several_labels() -> None:
    X, y = several()
    model = BoostClassifier(n_estimators=10, random_state=0).fit(X, y)
    named = BoostClassifier("adaboost", n_estimators=10, random_state=0).fit(X, y)
    assert model.ledger_.booster == "adaboost"
    assert model_bytes(model.model_) == model_bytes(named.model_)
    assert model.fit(X, y[:, 0]).ledger_.booster == "logit"


@pytest.mark.parametrize(
    "options",
    [{"early_stopping": True}, {"certify": "holdout"}, {"learner": "stump"}, {"subsample": 0.5}],
)
def test_several_labels_go_with_other_parameters(options: dict[str, Any]) -> None:
    X, y = several()
    model = BoostClassifier("adaboost", n_estimators=10, random_state=0, **options).fit(X, y)
    assert np.mean(model.predict(X) != y) < 0.2
    assert 0 < model.certificate_.value < 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"booster": Logit()}, "logit with multiclass='softmax' takes one; use booster='adaboost'"),
        ({"booster": AdaBoost(multiclass="m1")}, "adaboost with multiclass='m1' takes one"),
        ({"booster": AdaBoost(multiclass="samme")}, "multiclass='samme' takes one"),
        ({"calibrate": "sigmoid"}, "calibrate is for one label a row"),
        ({"learner": BLACK_BOX}, "use the learner 'stump' or 'tree'"),
    ],
)
def test_several_labels_are_refused_where_a_row_has_one(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        BoostClassifier(**{"booster": "adaboost", **options}).fit(*several())


def test_a_matrix_of_other_labels_is_refused() -> None:
    X, y = several()
    with pytest.raises(DataError, match="holds 2"):
        BoostClassifier("adaboost").fit(X, 2 * y)
    model = BoostClassifier("adaboost", n_estimators=2).fit(X, y)
    with pytest.raises(DataError, match=r"\(240, 2\).* 3"):
        model.mistakes(X, y[:, :2])
    with pytest.raises(DataError, match="y_val has shape"):
        model.fit(X, y, X_val=X, y_val=y[:, 0])


@one_in(5)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("booster", BOOSTERS)
def test_a_classifier_without_weights_learns_from_draws(booster: str, classes: int) -> None:
    X, y = product_of_columns(classes)
    options: dict[str, Any] = {"booster": booster, "learner": KNeighborsClassifier(15)}
    if classes > 2 and BOOSTERS[booster]().multiclass == "two":
        with pytest.raises(ParameterError, match="for two classes"):
            fit(classes, **options)
        return
    model, same = (fit(classes, **options) for _ in range(2))
    guessing = np.bincount(y).max() / y.size
    assert model.score(X, y) > guessing + 0.1
    assert 1 - model.score(X, y) <= model.certificate_.value
    assert same.ledger_.digest() == model.ledger_.digest()


def test_a_rare_class_that_is_never_named_is_warned_of() -> None:
    X = np.random.default_rng(0).normal(size=(3000, 3))
    rare = np.arange(3000) % 60 == 0
    with pytest.warns(RareClassWarning, match="never predicts True"):
        BoostClassifier(n_estimators=3, random_state=0).fit(X, rare)
    BoostClassifier(n_estimators=30, random_state=0, class_weight="balanced").fit(X, rare)
    X[rare, 0] += 20
    BoostClassifier(n_estimators=30, random_state=0).fit(X, rare)
    several = np.where(X[:, 1] > 0, "a", "b")
    several[np.arange(3000) % 60 == 1] = "c"
    with pytest.warns(RareClassWarning, match="never predicts 'c'"):
        BoostClassifier(n_estimators=3, random_state=0).fit(X, several)
