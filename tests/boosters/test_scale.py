"""Runs that once drove the weights out of range: the total is watched, not predicted."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest

from pacboost import AdaBoostClassifier
from pacboost.boosters.adaboost import AdaBoost
from pacboost.bounds.training import product_bound
from pacboost.learners.stump import Stump
from pacboost.numerics.exact import FRESH_TOTAL, MOST_TOTAL
from pacboost.training.run.loop import NO_EDGE, Run
from tests.worlds import make_sample, noisy


@pytest.mark.parametrize("rate", [2.5, 10.0, 1000.0])
def test_large_learning_rates_keep_the_total_in_range(rate: float) -> None:
    X, signs = noisy(200, 3, seed=1)
    run = Run(make_sample(X, signs), Stump(), AdaBoost(rate))
    for done in islice(run, 60):
        assert FRESH_TOTAL / 2 <= done.entry.weight <= MOST_TOTAL
        assert done.entry.training_error <= product_bound(run.ledger())
    assert run.stopped != NO_EDGE


@pytest.mark.parametrize("tiny", [1e-300, 1e-20, 1e-10])
def test_tiny_base_weights(tiny: float) -> None:
    """The same point with both labels, one of them hardly counting."""
    X, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, 1])
    model = AdaBoostClassifier(n_estimators=5).fit(X, y, sample_weight=[1, tiny, 1])
    entries = model.ledger_.rounds
    assert model.certificate_.value >= entries[-1].training_error
    assert all(b.error > 0.1 for b in entries[1:])
    first = [(r.feature, r.threshold, r.above) for r in model.estimators_]
    assert all(a != b for a, b in pairwise(first))


def test_warm_start_goes_on_with_tiny_weights() -> None:
    X, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, 1])
    model = AdaBoostClassifier(n_estimators=3, warm_start=True)
    model.fit(X, y, sample_weight=[1, 1e-20, 1])
    model.set_params(n_estimators=8).fit(X, y, sample_weight=[1, 1e-20, 1])
    straight = AdaBoostClassifier(n_estimators=8).fit(X, y, sample_weight=[1, 1e-20, 1])
    assert model.votes_.tolist() == straight.votes_.tolist()
