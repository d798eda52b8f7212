"""A function of rows and labels, without weights, is a weak learner, too."""

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from pacboost import AdaBoostClassifier


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
