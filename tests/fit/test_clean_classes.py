"""A fit ends when the loss on held-back rows is next to nothing."""

from __future__ import annotations

import numpy as np
import pytest

from pacboost import BoostClassifier
from pacboost.training.run import early_stopping

X = np.random.default_rng(0).normal(size=(900, 4))


def rounds(labels: object) -> int:
    return len(BoostClassifier(random_state=0).fit(X, labels).ledger_)


def test_clean_classes_take_few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    clean = X[:, 0] > 0
    few = rounds(clean)
    noisy = clean ^ (np.random.default_rng(1).random(900) < 0.1)
    others = rounds(noisy)
    monkeypatch.setattr(early_stopping, "NEXT_TO_NOTHING", 0.0)
    assert few < 0.7 * rounds(clean)
    assert rounds(noisy) == others
