"""Real tables from their files: the theorem holds, and the error is that of scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier as Reference
from sklearn.model_selection import train_test_split

from pacboost import AdaBoostClassifier
from tests.data import real_data

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
