"""Model files: load what was saved."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from pacboost.boosters.registry import LOSSES
from pacboost.errors import FileError
from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.boosting.regressor import BoostRegressor
from pacboost.estimators.boosting.text import TextBoostClassifier
from pacboost.estimators.decisions.threshold import ThresholdClassifier
from pacboost.estimators.forests import forests
from pacboost.models.file.format import load as read_model
from pacboost.models.model import Model

MEMBERS = {
    "three_way": "ThreeWayBoost",
    "three_learners": "ThreeLearnerBoost",
    "majority_of": "MajorityOfBoosters",
    "subsampled": "SubsampledBoost",
    "bagged": "BaggedBoost",
}
"""Classes of ``pacboost.theory`` by what their ledgers call them."""


def load(path: str | Path, *, memory: int = 0) -> Any:
    """Load a model file; the estimator predicts exactly as the one that was saved.

    Its class is BoostRegressor for numbers, AdaBoostClassifier for AdaBoost over stumps, the saved
    class for texts, forests and bagging, and otherwise BoostClassifier. A file with a chosen
    threshold gives a ThresholdClassifier.

    Files from anybody can be loaded: they are data, and content that no fit could have written is
    refused. Reading takes at most 16 times the size of the file and 50 MB of memory, or ``memory``
    bytes if that is more.
    """
    model = read_model(path, memory)
    estimator = _estimator(model)
    schema = replace(model.schema, owner=type(estimator).__name__)
    # rows and threshold belong to the estimators around the model; a model that is saved again gets
    # them from there
    estimator.model_ = replace(model, schema=schema, seen=(), decision=None)
    estimator._sketches = model.seen
    if model.classes.size:
        estimator.classes_ = np.arange(model.labels) if model.labels else model.classes
        if model.forest:
            estimator._sets = model.sets
    return (
        estimator if model.decision is None else ThresholdClassifier.of(estimator, model.decision)
    )


def _estimator(model: Model) -> Any:
    ledger = model.ledger
    if model.forest:
        name = "RandomForest" if ledger.booster == "random_forest" else "ExtraTrees"
        kind = "Classifier" if model.classes.size else "Regressor"
        return getattr(forests, name + kind)(len(model.vote))
    if ":" in ledger.booster:  # "module:Class" would be imported by the next fit
        raise FileError(f"the file names {ledger.booster!r}, which is not the name of a booster")
    # classes of theory are loaded by name, since no other room may import theory
    if ledger.booster in MEMBERS:
        return getattr(import_module("pacboost.theory"), MEMBERS[ledger.booster])()
    rounds = max(1, len(ledger))
    if model.text is not None:
        return TextBoostClassifier(**model.text.parameters(), n_estimators=rounds)
    if model.classes.size == 0:
        loss = LOSSES.get(ledger.booster)
        memory = ledger.rounds[-1].memory if ledger.rounds else []
        named = () if loss is None else loss.parameters
        parameters: dict[str, Any] = dict(zip(named, map(float, memory), strict=False))
        return BoostRegressor(ledger.booster, n_estimators=rounds, **parameters)
    if ledger.booster == "adaboost" and ledger.learner != "tree":
        return AdaBoostClassifier(n_estimators=rounds)
    return BoostClassifier(ledger.booster, ledger.learner, n_estimators=rounds)
