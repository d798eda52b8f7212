"""Probabilities are made as steep as rows that were not learned from say, after as many rounds."""

from __future__ import annotations

import numpy as np

from pacboost import StrongClassifier


def test_many_noisy_classes_are_not_overconfident() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(4_000, 6))
    y = (X[:, :5] + 1.5 * generator.gumbel(size=(4_000, 5))).argmax(axis=1)
    model = StrongClassifier(random_state=0).fit(X[:1_000], y[:1_000])
    shares = model.predict_proba(X[1_000:])
    sure, right = shares.max(axis=1).mean(), (shares.argmax(axis=1) == y[1_000:]).mean()
    assert sure - right < 0.05
