"""The estimators behave as scikit-learn asks, without one expected failure."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
)

import pacboost
from pacboost.boosters import AdaBoost
from pacboost.boosters.registry import BOOSTERS
from tests.estimators.checks import LABELS_CHANGE, checks_of
from tests.grids import each_value

BY_CHANCE = [
    pacboost.AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), 10),  # breaks ties by rounding
    pacboost.AdaBoostClassifier(resample=True, n_estimators=10),
    pacboost.AdaBoostClassifier(early_stopping=True, n_estimators=10),
]
"""Rows in another order are drawn, held back or split anew: no weights stand for repeated rows."""


def logistic(y: Any, score: Any) -> tuple[Any, Any]:
    chance = 1 / (1 + np.exp(-score))
    return chance - y, chance * (1 - chance)


SMOOTHED = pacboost.BoostClassifier("adaboost", n_estimators=12)
"""Its cells are smoothed by half a row of mean weight, which is less where rows are repeated."""
DRAWN = pacboost.AdaBoostRegressor(LinearRegression(), n_estimators=5)
"""Rows that are drawn by weights are others than repeated rows; small trees fit both alike."""
UNSMOOTHED = pacboost.BoostClassifier(
    AdaBoost(confidence_rated=True, smoothing=0.0), n_estimators=12
)

WEIGHTS_AS_REPEATED_ROWS = (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
)
WEIGHT_CHECKS = [check.__name__ for check in WEIGHTS_AS_REPEATED_ROWS]
CHECKED = (
    pacboost.AdaBoostClassifier(n_estimators=10),
    pacboost.AdaBoostClassifier(learning_rate=0.5, n_estimators=10),
    pacboost.BoostClassifier(n_estimators=10),
    SMOOTHED,
    UNSMOOTHED,
    *(
        pacboost.BoostClassifier(name, n_estimators=6)
        for name in BOOSTERS
        if name != SMOOTHED.booster
    ),
    *BY_CHANCE,
    pacboost.BoostClassifier(logistic, n_estimators=10),
    pacboost.BoostRegressor(n_estimators=30),
    pacboost.BoostRegressor("absolute", n_estimators=60),
    pacboost.BoostRegressor("gamma", n_estimators=30),
    pacboost.BoostRegressor(min_leaf_rows=1, n_estimators=30),
    pacboost.BoostRegressor(learner=Ridge(), n_estimators=30),
    pacboost.AdaBoostRegressor(n_estimators=5),
    DRAWN,
    pacboost.FilterBoostClassifier(n_estimators=10),
    pacboost.FilterBoostClassifier(learner="stump", n_estimators=20),
    pacboost.FilterBoostClassifier("mada", n_estimators=20),
    pacboost.StrongClassifier(n_estimators=10),
    pacboost.RandomForestClassifier(10),
    pacboost.RandomForestClassifier(10, oob_score=True, max_features=None),
    pacboost.RandomForestRegressor(10),
    pacboost.ExtraTreesClassifier(10),
    pacboost.ExtraTreesRegressor(10),
    pacboost.BaggingClassifier(n_estimators=10),
    pacboost.BaggingClassifier("tree", 10, certify="oob"),
    pacboost.BaggingClassifier(KNeighborsClassifier(1), 4, max_samples=0.7, bootstrap=False),
    pacboost.BaggingClassifier(settle=3, n_estimators=20),
    pacboost.BaggingRegressor(n_estimators=10),
    pacboost.BaggingRegressor("tree", 10),
    pacboost.theory.BoostByMajority(edge=0.3, epsilon=0.1, n_jobs=1),
    pacboost.theory.MajorityOfBoosters(n_estimators=10),
    pacboost.theory.MajorityOfBoosters(5, n_estimators=10),
    pacboost.theory.SubsampledBoost(9, n_estimators=5),
    pacboost.theory.BaggedBoost(5, n_estimators=5),
    pacboost.theory.ThreeLearnerBoost(),
    pacboost.theory.ThreeLearnerBoost(DecisionTreeClassifier(max_depth=3)),
    pacboost.theory.ThreeWayBoost(max_draws=10_000),
    pacboost.theory.ConfidenceBoost(gap=0.8),
    pacboost.theory.RectangleClassifier(),
    pacboost.theory.VersionSpaceClassifier(),
    pacboost.theory.VersionSpaceClassifier("intervals"),
)


def weights_do_not_repeat_rows(estimator: Any, check: str) -> bool:
    # bags draw rows by their numbers, and repeated rows have others
    bags = isinstance(estimator, pacboost.BaggingClassifier | pacboost.BaggingRegressor)
    others = any(estimator is one for one in (*BY_CHANCE, SMOOTHED, DRAWN))
    return check in WEIGHT_CHECKS and (bags or others)


class TwoClasses(pacboost.AdaBoostClassifier):
    """Says that it takes two classes only, so that scikit-learn checks it on two."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


@pytest.mark.filterwarnings("ignore::UserWarning")  # few rows, one class, sparse, no edge
@pytest.mark.parametrize(
    ("estimator", "check"), checks_of(*CHECKED, without=weights_do_not_repeat_rows)
)
def test_passes_scikit_learns_own_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@each_value
@pytest.mark.skipif(LABELS_CHANGE, reason="this scikit-learn compares rows with other labels")
@pytest.mark.filterwarnings("ignore::pacboost.errors.DenseWarning")
@pytest.mark.parametrize("number", range(len(BY_CHANCE)))
@pytest.mark.parametrize("check", WEIGHTS_AS_REPEATED_ROWS)
def test_weights_stand_for_repeated_rows_of_two_classes(
    check: Callable[[str, Any], None], number: int
) -> None:
    check("TwoClasses", TwoClasses(**BY_CHANCE[number].get_params(deep=False)))
