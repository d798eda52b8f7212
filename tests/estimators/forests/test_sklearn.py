"""Forests behave as scikit-learn asks, without one expected failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pacboost.estimators.forests.forests import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tests.estimators.checks import every_check

FORESTS = (
    RandomForestClassifier(10),
    RandomForestClassifier(10, oob_score=True, max_features=None),
    RandomForestRegressor(10),
    ExtraTreesClassifier(10),
    ExtraTreesRegressor(10),
)


@pytest.mark.filterwarnings("ignore::pacboost.errors.DenseWarning")
@pytest.mark.filterwarnings("ignore::pacboost.errors.OneClassWarning")
@every_check(*FORESTS)
def test_passes_scikit_learns_own_check(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
