"""Two runs joined are one long run, and threads change nothing: bit for bit, for every booster."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from pacboost import AdaBoostClassifier, BoostClassifier
from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.logit import Logit
from pacboost.boosters.registry import BOOSTERS
from pacboost.learners.tree import Tree
from pacboost.models.file.format import model_bytes
from tests.grids import each_value, one_in

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]


def world(rows: int, kind: str, seed: int = 0) -> tuple[Rows, Labels]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 4))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * generator.normal(size=rows)
    X[generator.random(X.shape) < 0.05] = np.nan
    if kind == "two":
        return X, (score > 0).astype(np.int64)
    if kind == "three":
        return X, np.digitize(score, [-0.5, 0.8]).astype(np.int64)
    return X, np.stack([score > 0, X[:, 3] > 0.3, generator.random(rows) < 0.2], axis=1).astype(int)


def joined(model: Any, X: Rows, y: Labels, weights: Rows | None) -> tuple[bytes, bytes]:
    """The bytes of one run of 14 rounds, and of one of 5 that goes on to 8 and 14."""
    whole = type(model)(**{**model.get_params(deep=False), "n_estimators": 14}).fit(X, y, weights)
    model.set_params(warm_start=True)
    for count in (5, 8, 14):
        model.set_params(n_estimators=count).fit(X, y, weights)
    return model_bytes(whole.model_), model_bytes(model.model_)


TWO_CLASSES_ONLY = {("graph_separation", "three"), ("graph_separation", "several")}
KINDS = [
    (booster, learner, kind)
    for booster in BOOSTERS
    for learner in ("stump", "tree")
    for kind in ("two", "three", "several")
    if (booster, kind) not in {("logit", "several"), *TWO_CLASSES_ONLY}
]


@one_in(7)
@pytest.mark.parametrize(("booster", "learner", "kind"), KINDS)
@pytest.mark.parametrize(
    ("subsample", "weighted"),
    [
        (1.0, False),
        (0.6, True),
        pytest.param(1.0, True, marks=pytest.mark.slow),
        pytest.param(0.6, False, marks=pytest.mark.slow),
    ],
)
def test_going_on_equals_one_long_run(
    booster: str, learner: str, kind: str, subsample: float, weighted: bool
) -> None:
    X, y = world(120, kind)
    weights = np.random.default_rng(1).uniform(0.1, 5.0, 120) if weighted else None
    model = BoostClassifier(booster, learner, subsample=subsample, random_state=3)
    one, two = joined(model, X, y, weights)
    assert one == two


@each_value
@pytest.mark.parametrize("way", ["mh", "m1", "samme"])
@pytest.mark.parametrize("estimator", ["tree", "sklearn"])
@pytest.mark.parametrize("resample", [False, True])
def test_going_on_with_rules_that_name_a_class(way: str, estimator: str, resample: bool) -> None:
    X, y = world(120, "three")
    learner = DecisionTreeClassifier(max_depth=3) if estimator == "sklearn" else estimator
    model = AdaBoostClassifier(learner, multiclass=way, resample=resample, random_state=3)
    whole = AdaBoostClassifier(
        learner, 14, multiclass=way, resample=resample, random_state=3
    ).fit(X, y)  # fmt: skip
    model.set_params(warm_start=True, n_estimators=5).fit(X, y)
    model.set_params(n_estimators=14).fit(X, y)
    assert len(model.ledger_) == 14 or way == "m1"  # which needs errors below 1/2
    assert model.ledger_.core() == whole.ledger_.core()
    assert (model.decision_function(X) == whole.decision_function(X)).all()


@pytest.mark.parametrize(
    "booster",
    [AdaBoost(confidence_rated=True, smoothing=0.0), AdaBoost(7.0, confidence_rated=True),
     Logit(5.0, prior=True), Logit(0.03, l2=2.0)],
)  # fmt: skip
def test_going_on_after_large_and_small_steps(booster: Any) -> None:
    for kind in ("two", "three"):
        X, y = world(120, kind)
        one, two = joined(BoostClassifier(booster, "tree", random_state=3), X, y, None)
        assert one == two


@each_value
@pytest.mark.parametrize("kind", ["two", "three"])
@pytest.mark.parametrize("rate", [1.0, 10.0, 100.0])
def test_going_on_when_nothing_is_left_to_do(kind: str, rate: float) -> None:
    """All rows are so far on the right side that their costs are lost in rounding."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.digitize(X[:, 0], [-0.4, 0.4] if kind == "three" else [0.0])
    tree = Tree(max_leaves=4, min_leaf_rows=1)
    model = BoostClassifier(Logit(rate), tree, n_estimators=60, warm_start=True).fit(X, y)
    before = model_bytes(model.model_)
    assert len(model.ledger_) < 60
    assert model_bytes(model.set_params(n_estimators=70).fit(X, y).model_) == before


@one_in(7)
@pytest.mark.parametrize(("booster", "learner", "kind"), KINDS)
def test_threads_change_nothing(booster: str, learner: str, kind: str) -> None:
    """Enough rows for several spans, and for splits that are worth all threads."""
    X, y = world(72_000, kind)
    weights = np.random.default_rng(1).uniform(0.1, 5.0, 72_000) if learner == "tree" else None
    rounds = 1 if booster == "brown" else 3  # it takes many steps to find a vote
    one, two = (
        BoostClassifier(
            booster, learner, n_estimators=rounds, early_stopping=False, random_state=0, n_jobs=jobs
        ).fit(X, y, weights)
        for jobs in (1, 2)
    )
    assert model_bytes(one.model_) == model_bytes(two.model_)
