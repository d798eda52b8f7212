"""Functions of rows and labels, and objects with fit and predict alone, are weak learners, too."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from pacboost import AdaBoostClassifier, BaggingClassifier, BoostClassifier, diagnose, theory
from pacboost.errors import ParameterError, TooFewRowsWarning
from pacboost.theory.worlds import hastie


def test_a_function_without_weights_gets_rows_drawn_by_them() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 2))
    y = np.where((X**2).sum(axis=1) > 1.2, 1, -1)
    samples = []

    def stump(rows: Any, labels: Any) -> Any:
        samples.append(rows)
        return DecisionTreeClassifier(max_depth=1).fit(rows, labels)

    model = AdaBoostClassifier(stump, n_estimators=20, random_state=0).fit(X, y)
    assert (samples[0] == X).all()  # equal weights: all rows, and no draw
    assert len(np.unique(samples[5], axis=0)) < len(samples[5]) == 300
    assert model.score(X, y) > 0.9
    again = AdaBoostClassifier(stump, n_estimators=20, random_state=0).fit(X, y)
    assert (model.decision_function(X) == again.decision_function(X)).all()


class Bare:
    """An estimator with ``fit`` and ``predict`` alone."""

    def fit(self, X: Any, y: Any) -> None:
        self.tree = DecisionTreeClassifier(max_depth=1).fit(X, y)

    def predict(self, X: Any) -> Any:
        return self.tree.predict(X)


@pytest.mark.parametrize("classes", [2, 3])
def test_an_object_with_fit_and_predict_alone_is_a_learner(classes: int) -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 2))
    y = np.digitize((X**2).sum(axis=1), [1.2, 3.0][: classes - 1])
    bare = Bare()
    for model in (
        BoostClassifier("adaboost", bare, n_estimators=20, random_state=0),
        AdaBoostClassifier(bare, n_estimators=20, random_state=0),
        BaggingClassifier(bare, 5, random_state=0),
        theory.ThreeLearnerBoost(bare, random_state=0),
    ):
        with warnings.catch_warnings(action="ignore", category=TooFewRowsWarning):
            assert clone(model).fit(X, y).score(X, y) > 0.5
    assert "Bare" in AdaBoostClassifier(bare, n_estimators=1).fit(X, y).rules()[0]
    assert not hasattr(bare, "tree")  # each rule has its own copy
    if classes == 2:
        assert theory.pac(hastie(), 50, bare, trials=5).failures == 5
        assert diagnose(X, y, bare).stages[0].edge > 0
        assert not theory.shatters(X[:3] * [1, 0], bare)


@pytest.mark.parametrize("choice", [Bare, 3, "stumps", lambda: 1, lambda X: 1])
def test_a_learner_of_no_allowed_form_is_refused(choice: Any) -> None:
    with pytest.raises(ParameterError, match=r"\(X, y\) or \(X, y, weights\)") as error:
        BoostClassifier("adaboost", choice).fit([[0.0], [1.0]], [0, 1])
    assert error.value.parameter == "learner"
