"""Sparse rows, end to end: the model of the dense ones, in memory that goes with what is stored."""

import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier

from pacboost import AdaBoostClassifier, BoostClassifier, BoostRegressor, RandomForestClassifier
from pacboost.errors import DenseWarning, NoEdgeWarning
from pacboost.learners.words import Words
from pacboost.models.file.format import model_bytes
from pacboost.samples import sample
from tests.grids import each_value
from tests.sparse_samples import twins

Labels = NDArray[np.int64]


def labelled(
    seed: int, rows: int = 150, classes: int = 2
) -> tuple[NDArray[np.float64], Any, Labels]:
    """Twins, and classes that depend on what the columns hold."""
    generator = np.random.default_rng(seed)
    X, matrix = twins(generator, rows, 12)
    score = np.nan_to_num(np.sign(X)).sum(axis=1) + generator.normal(size=rows)
    y = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    return X, matrix, y


def both(model: Any, seed: int, classes: int = 2, **fit: Any) -> tuple[Any, Any]:
    """Fit on dense and on sparse rows; models and scores have to be equal to the last bit.

    Sparse rows are tried as small and as large ones.
    """
    X, matrix, y = labelled(seed, classes=classes)
    fitted = []
    for rows, columns in ((X, -1), (matrix, 512), (matrix, -1)):
        own = type(model)(**model.get_params(deep=False))
        with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
            warnings.simplefilter("ignore", NoEdgeWarning)
            patch.setattr(sample, "MAX_DENSE_COLUMNS", columns)
            fitted.append(own.fit(rows, y, **fit))
    dense, small, listed = fitted
    assert model_bytes(dense.model_) == model_bytes(small.model_) == model_bytes(listed.model_)
    np.testing.assert_array_equal(listed.predict(matrix), dense.predict(X))
    np.testing.assert_array_equal(listed.predict(X), dense.predict(matrix))
    scores = getattr(dense, "decision_function", dense.predict)
    np.testing.assert_array_equal(scores(matrix), scores(X))
    return dense, listed


@pytest.mark.parametrize("seed", range(8))
def test_adaboost_with_stumps(seed: int) -> None:
    weights = np.random.default_rng(seed).uniform(0, 2, 150) if seed % 2 else None
    model = AdaBoostClassifier(n_estimators=15, max_bins=4 if seed % 3 else 300)
    dense, _ = both(model, seed, sample_weight=weights)
    assert len(dense.ledger_)


@each_value
@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("learner", ["tree", "stump"])
@pytest.mark.parametrize("booster", ["logit", "adaboost", "gentle"])
def test_boosters_learners_and_classes(booster: str, learner: str, classes: int) -> None:
    options: dict[str, Any] = {"min_leaf_rows": 3} if learner == "tree" else {}
    model = BoostClassifier(booster, learner, n_estimators=5, random_state=0, **options)
    for seed in range(3):
        both(model, seed, classes)


@pytest.mark.parametrize(
    "options",
    [
        {"early_stopping": True},
        {"early_stopping": "refit"},
        {"certify": "holdout"},
        {"calibrate": "sigmoid"},
        {"subsample": 0.5},
        {"max_features": 0.5},
        {"booster": "adaboost", "learner": "stump", "certify": "holdout"},
        {"class_weight": "balanced"},
        {"monotone_constraints": [1, -1, 1] + 9 * [0]},
    ],
)
def test_everything_that_takes_rows_away_or_weighs_them(options: dict[str, Any]) -> None:
    settings = {"n_estimators": 6, "random_state": 0, **options}
    if settings.get("learner") != "stump":
        settings["min_leaf_rows"] = 3
    both(BoostClassifier(**settings), 1)


def test_several_labels() -> None:
    X, matrix, _ = labelled(2)
    Y = (np.nan_to_num(X[:, :3]) > 0).astype(np.int64)
    models = [
        BoostClassifier("adaboost", n_estimators=5, min_leaf_rows=3, random_state=0).fit(rows, Y)
        for rows in (X, matrix)
    ]
    assert model_bytes(models[0].model_) == model_bytes(models[1].model_)
    np.testing.assert_array_equal(models[1].predict(matrix), models[0].predict(X))


@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_regression(loss: str) -> None:
    both(BoostRegressor(loss, n_estimators=6, min_leaf_rows=3, random_state=0), 3)


@pytest.mark.parametrize("kind", [AdaBoostClassifier, BoostClassifier])
def test_more_rounds_and_stages(kind: Any) -> None:
    X, matrix, y = labelled(4)
    options = {} if kind is AdaBoostClassifier else {"min_leaf_rows": 3, "early_stopping": False}
    whole = kind(n_estimators=8, random_state=0, **options).fit(X, y)
    model = kind(n_estimators=4, random_state=0, warm_start=True, **options).fit(matrix, y)
    model.set_params(n_estimators=8).fit(matrix, y)
    assert model_bytes(model.model_) == model_bytes(whole.model_)
    stages = zip(
        model.staged_decision_function(matrix), whole.staged_decision_function(X), strict=True
    )
    for one, other in stages:
        np.testing.assert_array_equal(one, other)
    found = kind(n_estimators=8, random_state=0, **options).fit(X, y, X_val=matrix, y_val=y)
    wanted = kind(n_estimators=8, random_state=0, **options).fit(matrix, y, X_val=X, y_val=y)
    assert model_bytes(found.model_) == model_bytes(wanted.model_)


def test_rows_come_back_whatever_form_they_have() -> None:
    X, matrix, y = labelled(5)
    for rows, others in ((X, matrix), (matrix, X)):
        seen = AdaBoostClassifier(n_estimators=2).fit(rows, y).overlap(others)
        assert seen is not None
        assert seen.shared == seen.compared == 150


def test_lists_of_words_read_sparse_columns() -> None:
    X, matrix, y = labelled(6)
    models = [
        BoostClassifier("logit", Words(5, 4), n_estimators=4, random_state=0).fit(rows, y)
        for rows in (X, matrix)
    ]
    np.testing.assert_array_equal(
        models[0].decision_function(X), models[1].decision_function(matrix)
    )


def test_who_opens_sparse_rows_up_says_so() -> None:
    X, matrix, y = labelled(7)
    boxes = AdaBoostClassifier(HistGradientBoostingClassifier(max_iter=2), n_estimators=2)
    with pytest.warns(DenseWarning, match="150 x 12 .*dense") as said:
        boxes.fit(matrix.sign(), y)
    assert [warning.filename for warning in said] == [__file__]
    with pytest.warns(DenseWarning, match="150 x 12 .*dense") as said:
        forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(matrix, y)
    assert [warning.filename for warning in said] == [__file__]
    dense = RandomForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(forest.predict_proba(matrix), dense.predict_proba(X))


def wide(rows: int, columns: int, stored: int) -> tuple[Any, Labels]:
    """Rows with so many cells stored, most of them in the first columns."""
    generator = np.random.default_rng(0)
    row = generator.integers(rows, size=stored)
    column = (columns * generator.random(stored) ** 3).astype(np.int64)
    values = generator.normal(size=stored)
    matrix = sparse.csr_array((values, (row, column)), shape=(rows, columns))
    signal: NDArray[np.float64] = np.asarray(matrix[:, :20].sum(axis=1)).ravel()
    return matrix, (signal + 0.1 * generator.normal(size=rows) > 0).astype(np.int64)


def peak(model: Any, matrix: Any, y: Labels) -> int:
    model.fit(matrix[:500, :40], y[:500])  # what is loaded stays
    tracemalloc.start()
    try:
        model.fit(matrix, y).predict(matrix)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


MODELS = [
    AdaBoostClassifier(n_estimators=3),
    BoostClassifier(n_estimators=3, early_stopping=False, random_state=0),
    BoostClassifier(learner="stump", n_estimators=3, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=["stumps", "trees", "stumps of values"])
def test_memory_goes_with_what_is_stored(model: Any) -> None:
    matrix, y = wide(3_000, 20_000, 60_000)
    most = 150 * matrix.nnz + 600 * (matrix.shape[0] + matrix.shape[1])
    assert most < matrix.shape[0] * matrix.shape[1] / 2  # a byte a cell would be far beyond
    assert peak(model, matrix, y) < most
