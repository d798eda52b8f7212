"""Forests behave as scikit-learn asks, without one expected failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from pacboost.estimators.forests.forests import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

FORESTS = (
    RandomForestClassifier(10),
    RandomForestClassifier(10, oob_score=True, max_features=None),
    RandomForestRegressor(10),
    ExtraTreesClassifier(10),
    ExtraTreesRegressor(10),
)
EVERY_CHECK = [
    pytest.param(own, check, id=f"{forest}-{getattr(check, 'func', check).__name__}")
    for forest in FORESTS
    for own, check in estimator_checks_generator(forest)
]


@pytest.mark.filterwarnings("ignore::pacboost.errors.DenseWarning")
@pytest.mark.filterwarnings("ignore::pacboost.errors.OneClassWarning")
@pytest.mark.parametrize(("estimator", "check"), EVERY_CHECK)
def test_passes_scikit_learns_own_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
