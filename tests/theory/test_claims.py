"""Claims of the theory about all rows, about rules that abstain, and about a goal to stop at."""

from __future__ import annotations

import numpy as np
import pytest

import pacboost
from pacboost.boosters.filtering import Measure
from pacboost.learners.words import Words
from pacboost.theory import RectangleClassifier, proof, shatters


def test_a_classifier_without_weights_is_fitted_to_the_rows_themselves() -> None:
    diamond = [[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]]
    assert len(shatters(RectangleClassifier(), diamond).found) == 16


def test_the_proof_counts_rows_on_which_a_rule_abstains_as_half_wrong() -> None:
    random = np.random.default_rng(0)
    texts = np.array([" ".join(random.choice(list("abcdefgh"), 2)) for _ in range(80)])[:, None]
    y = np.array(["a" in text[0] for text in texts]) ^ (random.random(80) < 0.2)
    words = Words(1, None)
    model = pacboost.BoostClassifier("adaboost", words, n_estimators=3, certify=None).fit(texts, y)
    steps = proof(model, texts, y).steps
    assert any(step.abstained > 0 for step in steps)
    for step, entry in zip(steps, model.model_.ledger.rounds, strict=True):
        assert step.error == pytest.approx(entry.error, abs=1e-6)
        assert step.normaliser == pytest.approx(step.by_formula, abs=0.05)
        assert step.abstained <= step.by_formula <= step.normaliser + 1e-9


def test_a_booster_given_as_an_object_stops_at_its_epsilon() -> None:
    X = np.random.default_rng(0).normal(size=(20_000, 3))
    model = pacboost.FilterBoostClassifier(Measure(edge=0.2, epsilon=0.1), random_state=0)
    assert len(model.fit(X, X[:, 0] > 0).model_.ledger.rounds) < 100
