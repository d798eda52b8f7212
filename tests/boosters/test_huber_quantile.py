"""Huber's and the pinball loss: rows ask for what the slopes say, cells lower the loss."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import mean_pinball_loss

from pacboost.boosters.regression import Absolute, Huber, Quantile
from pacboost.errors import ParameterError
from pacboost.learners.tree import Tree
from pacboost.numerics.exact import MOST_TOTAL
from pacboost.training.run.loop import Run
from tests.boosters.test_square import Numbers, rounds_of, sample_of, world

WEIGHTED = pytest.mark.parametrize("weighted", [False, True])


def base_of(rows: int, weighted: bool) -> Numbers | None:
    return np.random.default_rng(3).uniform(0.1, 1, size=rows) if weighted else None


@WEIGHTED
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_quantiles_of_leaves_are_best_and_the_loss_never_rises(
    share: float, weighted: bool
) -> None:
    X, y = world(300)
    base = base_of(y.size, weighted)
    own = np.ones(y.size) if base is None else base
    run = Run(sample_of(X, y, base), Tree(max_leaves=6), Quantile(0.5, share))
    rounds_of(run, 12)
    recorded = [done.entry.training_error for done in run.done]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(recorded))
    scores = run.vote().scores(run.sample.table)
    expected = mean_pinball_loss(y, scores, alpha=share, sample_weight=own)
    assert recorded[-1] == pytest.approx(expected, rel=1e-12)
    below = float(own[y <= scores].sum() / own.sum())
    assert below == pytest.approx(share, abs=0.06)


def test_the_middle_quantile_is_least_absolute_deviation() -> None:
    X, y = world(300)
    votes = []
    for rules in (Quantile(0.3, 0.5), Absolute(0.3)):
        run = Run(sample_of(X, y), Tree(max_leaves=6), rules)
        rounds_of(run, 8)
        votes.append(run.vote().scores(run.sample.table))
    assert np.array_equal(votes[0], votes[1])


def test_quantile_rows_ask_for_their_side() -> None:
    y = np.array([2.0, -3.0, 0.0, 1e-30])
    rules = Quantile(quantile=0.75)
    state = rules.init(np.ones((4, 1), dtype=np.int8), np.ones(1), y)
    request = rules.request(state)
    asked = request.pulls[:, 0] / request.weights[:, 0]
    np.testing.assert_allclose(asked, [0.75, -0.25, 0, 0])
    assert request.pull == np.abs(request.pulls).sum() < MOST_TOTAL


@WEIGHTED
def test_huber_rows_ask_for_cut_residuals(weighted: bool) -> None:
    y = np.random.default_rng(0).standard_t(1.5, size=500) * 1e5
    base = base_of(500, weighted)
    rules = Huber(alpha=0.8)
    state = rules.init(np.ones((500, 1), np.int8), np.ones(1) if base is None else base, y)
    request = rules.request(state)
    asked = request.pulls[:, 0] / request.weights[:, 0] / state.scale
    np.testing.assert_allclose(asked, np.clip(y, -state.cut, state.cut), rtol=1e-6)
    own = np.ones(500) if base is None else base
    assert own[np.abs(y) <= state.cut].sum() / own.sum() == pytest.approx(0.8, abs=0.01)


def test_huber_is_far_less_moved_by_outliers_than_squares_are() -> None:
    X, y = world(400)
    spoilt = y.copy()
    spoilt[::20] += 1e4
    run = Run(sample_of(X, spoilt), Tree(max_leaves=6), Huber(0.3, alpha=0.9))
    rounds_of(run, 40)
    scores = run.vote().scores(run.sample.table)
    clean = np.ones(y.size, dtype=bool)
    clean[::20] = False
    assert np.abs(scores - y)[clean].mean() < 2.5


def test_huber_loss_is_recorded_for_the_cut_of_the_round() -> None:
    X, y = world(300)
    run = Run(sample_of(X, y), Tree(max_leaves=6), Huber(0.3, alpha=0.7))
    rounds_of(run, 5)
    off = np.abs(y - run.vote().scores(run.sample.table))
    cut = np.sort(off)[209:211].mean()
    expected = np.where(off <= cut, off**2 / 2, cut * (off - cut / 2)).mean()
    assert run.done[-1].entry.training_error == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("rules", "options", "said"),
    [
        (Quantile, {"quantile": 0.0}, "quantile is 0.0"),
        (Quantile, {"quantile": 1.0}, "quantile is 1.0"),
        (Quantile, {"quantile": np.nan}, "quantile is nan"),
        (Quantile, {"learning_rate": 2.0}, "learning_rate is 2.0"),
        (Huber, {"alpha": 1.5}, "alpha is 1.5"),
        (Huber, {"learning_rate": 0.0}, "learning_rate is 0.0"),
    ],
)
def test_bad_settings_are_refused(rules: Any, options: dict[str, float], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        rules(**options)
