"""From a model file back to an estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pacboost.estimators.adaboost import AdaBoostClassifier
from pacboost.estimators.boost import BoostClassifier
from pacboost.estimators.regressor import BoostRegressor
from pacboost.models import format as model_file
from pacboost.models.model import Model


def load(path: str | Path) -> Any:
    """Read a model file; the estimator it gives predicts as the one that was saved did.

    It is a BoostRegressor for numbers, an AdaBoostClassifier for AdaBoost's votes of stumps, and a
    BoostClassifier for all others.
    """
    model = model_file.load(path)
    estimator = _estimator(model)
    estimator.model_ = model
    estimator.n_features_in_ = model.n_features
    estimator.levels_ = model.levels
    if model.names is not None:
        estimator.feature_names_in_ = np.array(model.names, dtype=object)
    if not isinstance(estimator, BoostRegressor):
        estimator.classes_ = model.classes
        estimator._several_labels = model.ledger.several_labels
    return estimator


def _estimator(model: Model) -> AdaBoostClassifier | BoostClassifier | BoostRegressor:
    ledger = model.ledger
    rounds = max(1, len(ledger))
    if model.classes.size == 0:
        return BoostRegressor(ledger.booster, n_rounds=rounds)
    if ledger.booster == "adaboost" and ledger.learner != "Tree":
        return AdaBoostClassifier(n_estimators=rounds)
    return BoostClassifier(ledger.booster, ledger.learner.lower(), n_rounds=rounds)
