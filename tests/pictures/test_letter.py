"""Letters A to M against N to Z: the margins grow and the test error falls after round 67."""

from __future__ import annotations

import numpy as np
import pytest

import pacboost
from pacboost import AdaBoostClassifier
from pacboost.theory import pictures
from tests.data import real_data

pytest.importorskip("matplotlib")


@pytest.mark.slow
def test_why_it_generalises_on_letters() -> None:
    data = real_data("letter", "class")
    X, y = data.table.rows(), np.asarray(data.labels) <= "M"
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:5000], order[5000:]
    model = AdaBoostClassifier("tree", n_estimators=1000).fit(X[train], y[train])
    errors = np.array([entry.training_error for entry in model.ledger_.rounds])
    assert np.flatnonzero(errors == 0)[0] + 1 == 67
    new = 1 - np.array(list(model.staged_score(X[test], y[test])))
    assert new[[66, 999]].round(4).tolist() == [0.0571, 0.0383]
    least = np.array(
        [margins.min() for margins in pacboost.theory.staged_margins(model, X[train], y[train])]
    )
    assert least[[99, 999]].round(3).tolist() == [0.019, 0.108]
    axes = pictures.generalises(X[train], y[train], X[test], y[test], model=model)
    assert len(axes[1].get_legend().get_texts()) == 3
