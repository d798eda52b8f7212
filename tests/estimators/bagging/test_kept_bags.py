"""What a fit that goes on compares: learners by their parameters, rows by a digest."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from pacboost.errors import ParameterError
from pacboost.estimators.bagging.bagging import BaggingClassifier
from pacboost.estimators.bagging.bags import alike, refuse_changes
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree


class Kernel:
    """A function with a parameter, which does not say when it is equal."""

    def __init__(self, power: int) -> None:
        self.power = power


def chain(strength: float) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(C=strength))


PAIRS = [
    (DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(max_depth=2)),
    (DecisionTreeClassifier(), None),
    (chain(1.0), chain(2.0)),
    (SVC(kernel=Kernel(1)), SVC(kernel=Kernel(2))),
    (SVC(class_weight={0: 1, 1: 2}), SVC(class_weight={0: 1, 1: 3})),
    (SVC(gamma=np.array([1.0, 2.0])), SVC(gamma=np.array([1.0, 3.0]))),
    (Tree(4), Tree(5)),
    (Stump(), Tree()),
    (np.add, np.subtract),
    (SVC(kernel=lambda a, b: a @ b.T), SVC(kernel=lambda a, b: -(a @ b.T))),
    (SVC(kernel=partial(pow, 1)), SVC(kernel=partial(pow, 2))),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_learners_are_told_apart_and_a_copy_is_not(one: Any, other: Any) -> None:
    refuse_changes({"estimator": clone(one, safe=False)}, {"estimator": one})
    for now, before in ((one, other), (other, one)):
        with pytest.raises(ParameterError, match="estimator changed"):
            refuse_changes({"estimator": now}, {"estimator": before})


def test_seeds_do_not_count() -> None:
    assert alike(
        DecisionTreeClassifier(random_state=1),
        DecisionTreeClassifier(random_state=np.random.RandomState(2)),
    )


def test_rows_are_told_apart() -> None:
    X, y = np.arange(6.0).reshape(2, 3), np.array([0, 1])
    model = BaggingClassifier("stump", 1, warm_start=True).fit(X, y)
    model.fit(X.astype(np.float32), y)
    for other in (X[::-1], X[:, ::-1], X + 1e-12, X[:, :2]):
        with pytest.raises(ParameterError, match="X changed"):
            model.fit(other, y)
    for labels in (1 - y, np.array(["a", "b"])):
        with pytest.raises(ParameterError, match="y changed"):
            model.fit(X, labels)
