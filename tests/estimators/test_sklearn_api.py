"""The estimators behave as scikit-learn asks, without one expected failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import AdaBoostClassifier as Reference
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
)

from pacboost import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    BoostClassifier,
    BoostRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    FilterBoostClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StrongClassifier,
    theory,
)
from pacboost.boosters import AdaBoost
from pacboost.boosters.registry import BOOSTERS
from tests.data import real_data
from tests.estimators.checks import LABELS_CHANGE, checks_of

BY_CHANCE = [
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), 10),  # breaks ties by rounding
    AdaBoostClassifier(resample=True, n_estimators=10),
    AdaBoostClassifier(early_stopping=True, n_estimators=10),
]
"""Rows in another order are drawn, held back or split anew: no weights stand for repeated rows."""


def logistic(y: Any, score: Any) -> tuple[Any, Any]:
    chance = 1 / (1 + np.exp(-score))
    return chance - y, chance * (1 - chance)


SMOOTHED = BoostClassifier("adaboost", n_estimators=12)
"""Its cells are smoothed by half a row of mean weight, which is less where rows are repeated."""
UNSMOOTHED = BoostClassifier(AdaBoost(confidence_rated=True, smoothing=0.0), n_estimators=12)

WEIGHTS_AS_REPEATED_ROWS = (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
)


WEIGHT_CHECKS = [check.__name__ for check in WEIGHTS_AS_REPEATED_ROWS]
CHECKED = (
    AdaBoostClassifier(n_estimators=10),
    AdaBoostClassifier(learning_rate=0.5, n_estimators=10),
    BoostClassifier(n_estimators=10),
    SMOOTHED,
    UNSMOOTHED,
    *(BoostClassifier(name, n_estimators=6) for name in BOOSTERS if name != SMOOTHED.booster),
    *BY_CHANCE,
    BoostClassifier(logistic, n_estimators=10),
    BoostRegressor(),
    BoostRegressor("absolute"),
    BoostRegressor("gamma", n_estimators=30),
    BoostRegressor(min_leaf_rows=1, n_estimators=30),
    FilterBoostClassifier(n_estimators=10),
    FilterBoostClassifier(learner="stump", n_estimators=20),
    FilterBoostClassifier("mada", n_estimators=20),
    StrongClassifier(n_estimators=10),
    RandomForestClassifier(10),
    RandomForestClassifier(10, oob_score=True, max_features=None),
    RandomForestRegressor(10),
    ExtraTreesClassifier(10),
    ExtraTreesRegressor(10),
    BaggingClassifier(n_estimators=10),
    BaggingClassifier("tree", 10, certify="oob"),
    BaggingClassifier(KNeighborsClassifier(1), 4, max_samples=0.7, bootstrap=False),
    BaggingClassifier(settle=3, n_estimators=20),
    BaggingRegressor(n_estimators=10),
    BaggingRegressor("tree", 10),
    theory.MajorityOfBoosters(n_estimators=10),
    theory.MajorityOfBoosters(5, n_estimators=10),
    theory.SubsampledBoost(9, n_estimators=5),
    theory.BaggedBoost(5, n_estimators=5),
    theory.ThreeLearnerBoost(),
    theory.ThreeLearnerBoost(DecisionTreeClassifier(max_depth=3)),
    theory.ThreeWayBoost(max_draws=30_000),
    theory.ConfidenceBoost(gap=0.4),
    theory.RectangleClassifier(),
    theory.VersionSpaceClassifier(),
    theory.VersionSpaceClassifier("intervals"),
)


def weights_do_not_repeat_rows(estimator: Any, check: str) -> bool:
    return check in WEIGHT_CHECKS and any(estimator is one for one in (*BY_CHANCE, SMOOTHED))


class TwoClasses(AdaBoostClassifier):
    """Says that it takes two classes only, so that scikit-learn checks it on two."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def noisy(rows: int = 200) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    generator = np.random.default_rng(7)
    X = generator.normal(size=(rows, 4))
    y = (X[:, 0] + 0.5 * X[:, 1] + generator.normal(size=rows) > 0).astype(np.int64)
    return X, y


@pytest.mark.filterwarnings("ignore::UserWarning")  # few rows, one class, sparse, no edge
@pytest.mark.parametrize(
    ("estimator", "check"), checks_of(*CHECKED, without=weights_do_not_repeat_rows)
)
def test_passes_scikit_learns_own_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.skipif(LABELS_CHANGE, reason="this scikit-learn compares rows with other labels")
@pytest.mark.filterwarnings("ignore::pacboost.errors.DenseWarning")
@pytest.mark.parametrize("number", range(len(BY_CHANCE)))
@pytest.mark.parametrize("check", WEIGHTS_AS_REPEATED_ROWS)
def test_weights_stand_for_repeated_rows_of_two_classes(
    check: Callable[[str, Any], None], number: int
) -> None:
    check("TwoClasses", TwoClasses(**BY_CHANCE[number].get_params(deep=False)))


def test_pipeline_passes_sample_weight_on() -> None:
    X, y = noisy()
    weights = np.random.default_rng(0).uniform(0.1, 2, size=y.size)
    pipeline = make_pipeline(StandardScaler(), AdaBoostClassifier(n_estimators=5))
    pipeline.fit(X, y, adaboostclassifier__sample_weight=weights)
    alone = AdaBoostClassifier(n_estimators=5)
    alone.fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
    assert np.array_equal(
        pipeline.decision_function(X), alone.decision_function(pipeline[0].transform(X))
    )


def test_itself_can_be_boosted() -> None:
    X, y = noisy()
    inner = AdaBoostClassifier(n_estimators=2)
    boosted = AdaBoostClassifier(estimator=inner, n_estimators=4).fit(X, y)
    assert boosted.score(X, y) >= inner.fit(X, y).score(X, y)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_names_of_frames_are_kept(make: Callable[[dict[str, Any]], Any]) -> None:
    X, y = noisy()
    frame = make({name: X[:, j] for j, name in enumerate("abcd")})
    fitted = AdaBoostClassifier(n_estimators=3).fit(frame, y)
    assert fitted.feature_names_in_.tolist() == list("abcd")
    assert fitted.n_features_in_ == 4
    assert np.array_equal(
        fitted.predict(frame), AdaBoostClassifier(n_estimators=3).fit(X, y).predict(X)
    )


def test_refit_on_an_array_forgets_names() -> None:
    X, y = noisy()
    fitted = AdaBoostClassifier(n_estimators=3).fit(pd.DataFrame(X, columns=list("abcd")), y)
    fitted.fit(X, y)
    assert not hasattr(fitted, "feature_names_in_")
    assert "x0" in fitted.rules()[0]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    ("names", "complaint"),
    [("abce", "unseen at fit time:\n- e"), ("abdc", "in the same order")],
)
def test_other_names_at_predict_time_are_refused(
    make: Callable[[dict[str, Any]], Any], names: str, complaint: str
) -> None:
    X, y = noisy()
    frame = make({name: X[:, j] for j, name in enumerate("abcd")})
    fitted = AdaBoostClassifier(n_estimators=3).fit(frame, y)
    other = make({name: X[:, j] for j, name in enumerate(names)})
    with pytest.raises(ValueError, match=complaint):
        fitted.predict(other)


def test_array_after_a_frame_is_warned_of() -> None:
    X, y = noisy()
    fitted = AdaBoostClassifier(n_estimators=3).fit(pd.DataFrame(X, columns=list("abcd")), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        fitted.predict(X)


def test_frame_after_an_array_is_warned_of() -> None:
    X, y = noisy()
    fitted = AdaBoostClassifier(n_estimators=3).fit(X, y)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        fitted.predict(pd.DataFrame(X, columns=list("abcd")))


# Real tables from their files: the theorem holds, and the error is that of scikit-learn's.

SETS = [("magic_telescope", "class"), ("phoneme", "Class"), ("spambase", "class")]


@pytest.mark.parametrize(("name", "target"), SETS)
def test_as_accurate_as_scikit_learn(name: str, target: str) -> None:
    data = real_data(name, target)
    X, X_new, y, y_new = train_test_split(data.table.rows(), data.labels, random_state=0)
    model = AdaBoostClassifier(n_estimators=50).fit(X, y)
    reference = Reference(n_estimators=50, random_state=0).fit(X, y)
    assert model.score(X_new, y_new) >= reference.score(X_new, y_new) - 0.01
    assert np.mean(model.predict(X) != y) <= model.certificate_.value
    assert len(model.ledger_) == 50
