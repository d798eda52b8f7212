"""Answers of every estimator: to sparse rows, and to rows with several labels."""

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone, is_classifier

import pacboost
from pacboost import BoostClassifier
from pacboost.models.file.format import model_bytes
from tests.estimators.boosting.worlds import product_of_columns
from tests.public import estimators

ROUNDS = 6


ESTIMATORS: list[Any] = [
    kind(n_estimators=ROUNDS, random_state=0)
    for name, kind in estimators().items()
    if name in pacboost.__all__
    if {"n_estimators", "random_state"} <= set(inspect.signature(kind).parameters)
    if kind not in (pacboost.FilterBoostClassifier, pacboost.TextBoostClassifier)
]


Rows = NDArray[np.float64]
Labels = NDArray[np.int64]
GENERATOR = np.random.default_rng(0)


X = np.where(GENERATOR.random((240, 6)) < 0.5, GENERATOR.normal(size=(240, 6)), 0.0)


NUMBERS = X[:, 0] - 2 * X[:, 1] + 0.3 * GENERATOR.normal(size=240)


def targets(estimator: Any) -> Any:
    return NUMBERS > 0 if is_classifier(estimator) else NUMBERS


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


def several() -> tuple[Rows, Labels]:
    """Rows that have each of three labels or not."""
    X, y = product_of_columns()
    return X, np.stack([y, X[:, 0] > 0, X[:, 1] > 0.5], axis=1).astype(np.int64)


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
