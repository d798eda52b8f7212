"""FilterBoostClassifier behaves as scikit-learn asks, without one expected failure."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost import FilterBoostClassifier
from pacboost.models.file.format import model_bytes
from pacboost.questions.verify import recompute, verify
from pacboost.theory.worlds import Halfspaces
from tests.estimators.checks import every_check

CHECKED = (
    FilterBoostClassifier(),
    FilterBoostClassifier(learner="stump", n_estimators=40),
    FilterBoostClassifier("mada", n_estimators=20),
)
CHECKED_MORE = (
    FilterBoostClassifier(learner="stump"),
    FilterBoostClassifier("measure", n_estimators=20),
    FilterBoostClassifier("smooth", n_estimators=20),
    FilterBoostClassifier("projection", n_estimators=20),
    FilterBoostClassifier(learner=DecisionTreeClassifier(max_depth=2), n_estimators=20),
)


@pytest.mark.filterwarnings("ignore::pacboost.errors.DenseWarning")
@pytest.mark.filterwarnings("ignore::pacboost.errors.OneClassWarning")
@pytest.mark.filterwarnings("ignore::pacboost.errors.NoEdgeWarning")
@every_check(*CHECKED)
def test_passes_scikit_learns_own_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pacboost.errors.DenseWarning")
@pytest.mark.filterwarnings("ignore::pacboost.errors.OneClassWarning")
@pytest.mark.filterwarnings("ignore::pacboost.errors.NoEdgeWarning")
@every_check(*CHECKED_MORE)
def test_so_do_others(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def noisy(rows: int = 600, classes: int = 2) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    generator = np.random.default_rng(7)
    X = generator.normal(size=(rows, 4))
    score = X[:, 0] + 0.5 * X[:, 1] + 0.5 * generator.normal(size=rows)
    return X, np.digitize(score, np.linspace(-1, 1, classes + 1)[1:-1])


def small(*first: Any, **told: Any) -> FilterBoostClassifier:
    return FilterBoostClassifier(*first, **{"n_estimators": 8, "random_state": 0, **told})


def test_every_parameter_is_got_and_set() -> None:
    wanted: dict[str, Any] = {
        "booster": "mada",
        "learner": "stump",
        "edge": 0.2,
        "epsilon": 0.1,
        "delta": 0.01,
        "n_estimators": 7,
        "learning_rate": 0.5,
        "sample_rows": 99,
        "memory": "2GB",
        "time_limit": "9s",
        "n_certify": 5,
        "max_leaves": 3,
        "max_depth": 2,
        "min_leaf_rows": 2,
        "max_features": 0.5,
        "max_bins": 16,
        "checkpoint": "file",
        "callbacks": [],
        "random_state": 3,
        "n_jobs": 1,
        "device": "auto",
        "verbose": True,
    }
    assert FilterBoostClassifier().set_params(**wanted).get_params() == wanted
    assert FilterBoostClassifier(**wanted).get_params() == wanted


def test_clone_copies_parameters_and_nothing_learned() -> None:
    fitted = small(n_certify=50).fit(*noisy())
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "model_")
    assert not hasattr(copy, "classes_")
    assert not hasattr(clone(small().partial_fit(*noisy())), "_stream")


def test_the_rows_are_not_kept() -> None:
    X, y = noisy(20_000)
    fitted = small(learner="stump").fit(X, y)
    assert len(pickle.dumps(fitted)) < X.nbytes / 4


@pytest.mark.parametrize("learner", ["tree", "stump", DecisionTreeClassifier(max_depth=2)])
@pytest.mark.parametrize("classes", [2, 3])
def test_pickled_ones_come_back_the_same(learner: Any, classes: int) -> None:
    X, y = noisy(classes=classes)
    fitted = small(learner=learner).fit(X, y)
    back = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(back.decision_function(X), fitted.decision_function(X))
    assert back.ledger_ == fitted.ledger_
    assert back.certificate_ == fitted.certificate_


def test_a_stream_that_was_pickled_goes_on() -> None:
    X, y = noisy(1200)
    one = small(random_state=1).partial_fit(X[:600], y[:600])
    other = pickle.loads(pickle.dumps(one))
    for model in (one, other):
        model.partial_fit(X[600:], y[600:])
    assert model_bytes(one.model_) == model_bytes(other.model_)


@pytest.mark.parametrize("learner", ["tree", "stump"])
@pytest.mark.parametrize("classes", [2, 3])
def test_saved_ones_come_back_the_same(learner: str, classes: int, tmp_path: Path) -> None:
    X, y = noisy(classes=classes)
    fitted = small(learner=learner).fit(X, y)
    fitted.save(tmp_path / "model.json")
    back = pacboost.load(tmp_path / "model.json")
    np.testing.assert_array_equal(back.decision_function(X), fitted.decision_function(X))
    assert model_bytes(back.model_) == model_bytes(fitted.model_)
    assert back.certificate_ == fitted.certificate_
    assert [refill.draws for refill in back.ledger_.refills] == [
        refill.draws for refill in fitted.ledger_.refills
    ]


def saved(model: FilterBoostClassifier, path: Path) -> dict[str, bool]:
    model.save(path)
    return {check.name: check.holds for check in verify(path)}


@pytest.mark.parametrize("booster", ["logit", "mada", "measure", "smooth", "projection"])
def test_a_file_can_be_verified(booster: str, tmp_path: Path) -> None:
    fitted = small(booster=booster).fit(*noisy())
    found = saved(fitted, tmp_path / "model.json")
    assert found["ledger"]
    assert found["rounds"]
    assert recompute(fitted.certificate_, fitted.ledger_) == fitted.certificate_.value


def test_a_file_of_tested_edges_can_be_verified(tmp_path: Path) -> None:
    model = small("mada", "stump", 0.2, 0.45, n_estimators=60, n_certify=0, sample_rows=2000)
    model.fit_source(Halfspaces((2.0, 1.0)))
    found = saved(model, tmp_path / "model.json")
    assert found["ledger"]
    assert found["rounds"]
    certificate = model.certificate_
    assert certificate.bound == "filtering.error_by_draws"
    assert recompute(certificate, model.ledger_) == certificate.value


@pytest.mark.parametrize("apart", [100, 0])
def test_the_certificate_in_a_file_is_made_again(apart: int, tmp_path: Path) -> None:
    model = small("mada", "stump", 0.2, 0.45, n_estimators=60, n_certify=apart, sample_rows=2000)
    assert saved(model.fit_source(Halfspaces((2.0, 1.0))), tmp_path / "model.json")["bound"]


def test_a_grid_search_works() -> None:
    grid = {"n_estimators": [1, 10], "booster__l2": [0.0, 1.0]}
    search = GridSearchCV(FilterBoostClassifier(random_state=0), grid, cv=3, n_jobs=1)
    search.fit(*noisy())
    assert search.best_score_ > 0.7
    assert len(search.best_estimator_.ledger_) == search.best_params_["n_estimators"]


def test_names_of_frames_are_kept_and_forgotten() -> None:
    X, y = noisy()
    fitted = small().fit(pd.DataFrame(X, columns=list("abcd")), y)
    assert fitted.feature_names_in_.tolist() == list("abcd")
    assert fitted.model_.names == tuple("abcd")
    same = small().fit(X, y)
    assert not hasattr(same, "feature_names_in_")
    np.testing.assert_array_equal(
        fitted.decision_function(pd.DataFrame(X, columns=list("abcd"))), same.decision_function(X)
    )


@pytest.mark.filterwarnings("ignore::pacboost.errors.DenseWarning")
def test_sparse_rows_are_learned_from_as_dense_ones_are() -> None:
    X, y = noisy()
    X[np.abs(X) < 0.7] = 0
    dense = small().fit(X, y)
    for kind in (sparse.csr_array, sparse.csc_matrix):
        assert model_bytes(small().fit(kind(X), y).model_) == model_bytes(dense.model_)


def test_a_failed_fit_leaves_the_old_model() -> None:
    X, y = noisy()
    fitted = small().fit(X, y)
    before = fitted.predict(X)
    for wrong in (X[:, :2], np.where(X > 2, np.inf, X)):
        with pytest.raises(ValueError, match=r"n_estimators|infin"):
            fitted.set_params(n_estimators=0).fit(wrong, y)
        np.testing.assert_array_equal(fitted.predict(X), before)


def test_an_unfitted_one_says_so() -> None:
    with pytest.raises(NotFittedError):
        small().predict(noisy()[0])
    with pytest.raises(AttributeError, match="after fit"):
        _ = small().certificate_
