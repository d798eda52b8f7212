"""What scikit-learn asks beyond its checks: callbacks, metadata routing, sparse arrays."""

import inspect
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold

import pacboost
from tests.public import estimators

ROUNDS = 6
ESTIMATORS: list[Any] = [
    kind(n_estimators=ROUNDS, random_state=0)
    for name, kind in estimators().items()
    if name in pacboost.__all__
    if {"n_estimators", "random_state"} <= set(inspect.signature(kind).parameters)
    if kind not in (pacboost.FilterBoostClassifier, pacboost.TextBoostClassifier)
]
WEIGHTED = [one for one in ESTIMATORS if "sample_weight" in inspect.signature(one.fit).parameters]
GENERATOR = np.random.default_rng(0)
X = np.where(GENERATOR.random((240, 6)) < 0.5, GENERATOR.normal(size=(240, 6)), 0.0)
NUMBERS = X[:, 0] - 2 * X[:, 1] + 0.3 * GENERATOR.normal(size=240)
WEIGHTS = GENERATOR.uniform(0.1, 2.0, 240)
GROUPS = GENERATOR.integers(0, 12, 240)


def targets(estimator: Any) -> Any:
    return NUMBERS > 0 if is_classifier(estimator) else NUMBERS


def test_the_lists_are_not_empty() -> None:
    assert len(ESTIMATORS) >= 8
    assert len(WEIGHTED) >= 6
    assert {is_regressor(one) for one in WEIGHTED} == {True, False}


@pytest.mark.parametrize("estimator", WEIGHTED, ids=lambda one: type(one).__name__)
def test_grid_search_routes_weights_and_groups(estimator: Any) -> None:
    y, score = targets(estimator), accuracy_score if is_classifier(estimator) else r2_score
    grid, splitter = {"n_estimators": [2, ROUNDS]}, GroupKFold(3)
    given: dict[str, Any] = {"sample_weight": WEIGHTS}
    if "groups" in inspect.signature(estimator.fit).parameters:
        given["groups"] = GROUPS
    with sklearn.config_context(enable_metadata_routing=True):
        asked = clone(estimator).set_fit_request(**dict.fromkeys(given, True))
        asked = asked.set_score_request(sample_weight=True)
        found = GridSearchCV(asked, grid, cv=splitter)
        found.fit(X, y, sample_weight=WEIGHTS, groups=GROUPS)
    for number, (known, new) in enumerate(splitter.split(X, y, GROUPS)):
        model = clone(estimator).fit(X[known], y[known], **{k: v[known] for k, v in given.items()})
        expected = score(y[new], model.predict(X[new]), sample_weight=WEIGHTS[new])
        assert found.cv_results_[f"split{number}_test_score"][1] == pytest.approx(expected)
    best = clone(estimator).set_params(**found.best_params_).fit(X, y, **given)
    assert np.array_equal(found.predict(X), best.predict(X))


@pytest.mark.filterwarnings("ignore::pacboost.errors.DenseWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_sparse_arrays_are_sparse_matrices(estimator: Any) -> None:
    y = targets(estimator)
    answers = []
    for kind in (
        sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.lil_array
    ):  # fmt: skip
        model = clone(estimator).fit(kind(X), y)
        answers.append(model.predict(kind(X)))
        assert np.array_equal(answers[-1], model.predict(X))
    # trees of scikit-learn, which AdaBoost.R2 has, break ties otherwise
    if not isinstance(estimator, pacboost.AdaBoostRegressor):
        answers.append(clone(estimator).fit(X, y).predict(X))
    assert all(np.array_equal(answers[0], other) for other in answers)


def recorder(**options: Any) -> Any:
    """Make a callback that notes what it is told; ``stop_at`` stops at a round."""

    class Noting:
        def __init__(self) -> None:
            self.heard: list[tuple[str, str]] = []
            self.scores: list[float] = []

        def setup(self, estimator: Any, context: Any) -> None:
            self.heard.append(("setup", context.task_name))

        def teardown(self, estimator: Any, context: Any) -> None:
            self.heard.append(("teardown", context.task_name))

        def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
            self.heard.append(("begin", context.task_name))

        def on_fit_task_end(
            self,
            estimator: Any,
            context: Any,
            *,
            X: Any,
            y: Any,
            metadata: Any,
            fitted_estimator: Any,
        ) -> bool:
            self.heard.append(("end", context.task_name))
            assert set(metadata or ()) <= {"sample_weight"}
            if context.task_name.startswith("round"):
                self.scores.append(fitted_estimator.score(X, y))
            if options.get("fails"):
                raise RuntimeError("a callback fails")
            return bool(context.task_name == options.get("stop_at"))

    return Noting()


KINDS = [
    pacboost.BoostClassifier(n_estimators=4, random_state=0, early_stopping=False, calibrate=None),
    pacboost.AdaBoostClassifier(n_estimators=4),
    pacboost.BoostRegressor(n_estimators=4, random_state=0, early_stopping=False),
]


@pytest.mark.parametrize("estimator", KINDS, ids=lambda one: type(one).__name__)
def test_callbacks_hear_of_every_round_and_change_nothing(estimator: Any) -> None:
    pytest.importorskip("sklearn.callback", reason="callbacks are new in scikit-learn 1.9")
    y, noting = targets(estimator), recorder()
    plain = clone(estimator).fit(X, y, sample_weight=WEIGHTS)
    model = clone(estimator).set_callbacks(noting).fit(X, y, sample_weight=WEIGHTS)
    assert np.array_equal(model.predict(X), plain.predict(X))
    rounds = [(what, f"round {k}") for k in range(1, 5) for what in ("begin", "end")]
    inner = [("begin", "boosting"), *rounds, ("end", "boosting")]
    whole = [("setup", "fit"), ("begin", "fit"), *inner, ("end", "fit"), ("teardown", "fit")]
    assert noting.heard == whole
    stages = [clone(estimator).fit(X, y, sample_weight=WEIGHTS).staged_predict(X)]
    score = accuracy_score if is_classifier(model) else r2_score
    assert noting.scores == pytest.approx([score(y, one) for one in stages[0]])


def test_callbacks_stop_fail_and_are_told_of_both_runs() -> None:
    callback = pytest.importorskip("sklearn.callback", reason="new in scikit-learn 1.9")
    y = NUMBERS > 0
    stopped = pacboost.AdaBoostClassifier(n_estimators=9).set_callbacks(recorder(stop_at="round 3"))
    assert len(stopped.fit(X, y).ledger_) == 3
    failing = recorder(fails=True)
    model = pacboost.AdaBoostClassifier(n_estimators=9).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(RuntimeError, match="a callback fails"):
        model.set_callbacks(failing).fit(X[:100], y[:100])
    assert failing.heard[-1] == ("teardown", "fit")
    assert np.array_equal(model.decision_function(X), before)
    both = recorder()
    pacboost.BoostClassifier(n_estimators=3, early_stopping="refit").set_callbacks(both).fit(X, y)
    assert both.heard.count(("begin", "boosting")) == 2
    monitor = callback.ScoringMonitor(scoring="r2")
    pacboost.BoostRegressor(n_estimators=3, random_state=0).set_callbacks(monitor).fit(X, NUMBERS)
    assert len(monitor.get_logs().data) >= 3
    texts = pacboost.TextBoostClassifier(n_estimators=3).set_callbacks(recorder())
    assert texts.fit(["good film", "bad film"] * 30, [1, 0] * 30).predict(["good"])[0] == 1


def test_callbacks_of_a_grid_search_reach_it() -> None:
    pytest.importorskip("sklearn.callback", reason="callbacks are new in scikit-learn 1.9")
    noting = recorder()
    noting.max_propagation_depth = None
    search = GridSearchCV(pacboost.AdaBoostClassifier(), {"n_estimators": [2, 3]}, cv=2)
    search.set_callbacks(noting).fit(X, NUMBERS > 0)
    assert noting.heard.count(("end", "round 2")) == 5  # four folds, and the refit
    assert not hasattr(search.best_estimator_, "_skl_callbacks")
