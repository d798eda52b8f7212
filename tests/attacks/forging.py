"""Certified models for forgers, the bound as they compute it, and whether a file stands."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pacboost
from pacboost import AdaBoostClassifier, StrongClassifier
from pacboost.bounds.holdout import clopper_pearson
from pacboost.errors import PacboostError
from pacboost.questions.verify import verify
from tests.models.kinds import KINDS, numbers

WITHOUT = ("regressor", "derived", "three", "majority", "forest_of_classes", "forest_of_numbers")
"""Kinds that certify nothing."""


def compressed() -> Any:
    X, score = numbers(500)
    model = AdaBoostClassifier(n_estimators=8, random_state=0).fit(X, score > 0)
    return pacboost.theory.compress(model, X, score > 0)


def answered() -> Any:
    X, score = numbers(500)
    model = AdaBoostClassifier(n_estimators=8, random_state=0).fit(X[:250], score[:250] > 0)
    return pacboost.choose_threshold(model, X[250:], score[250:] > 0, target_error=0.4)


def certified_three() -> Any:
    X, score = numbers(500)
    model = pacboost.theory.ThreeLearnerBoost("stump", certify="holdout", random_state=0)
    return model.fit(X, score > 0)


def certified_majority() -> Any:
    X, score = numbers(500)
    model = pacboost.theory.MajorityOfBoosters(n_estimators=3, certify="holdout", random_state=0)
    return model.fit(X, score > 0)


def strong() -> Any:
    X, score = numbers(500)
    return StrongClassifier(epsilon=0.3, random_state=0).fit(X, np.where(score > 0, "yes", "no"))


def bagged_trees() -> Any:
    X, score = numbers(500)
    model = pacboost.RandomForestClassifier(8, certify="oob", random_state=0)
    return model.fit(X, score > 0)


MADE: dict[str, Callable[[], Any]] = {
    **{kind: make for kind, make in KINDS.items() if kind not in WITHOUT},
    "compressed": compressed, "answered": answered, "certified_three": certified_three,
    "certified_majority": certified_majority, "strong": strong, "bagged_trees": bagged_trees,
}  # fmt: skip


def stands(path: Path) -> bool:
    """Whether verify says so; a file that cannot be loaded does not stand."""
    try:
        found = verify(path)
    except PacboostError:
        return False
    assert all(check.words for check in found)
    return all(check.holds for check in found)


def consistent(content: dict[str, Any], n: int) -> None:
    """Claim to have counted n rows where the predictions of others were kept, by the same bound."""
    claim = content["certificate"]
    if claim and claim["bound"] == "holdout.clopper_pearson" and content.get("held_out"):
        claim["inputs"]["n"] = claim["size"] = n
        claim["value"] = clopper_pearson(**claim["inputs"])
