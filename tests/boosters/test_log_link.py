"""Poisson and gamma regression: slopes are those of the deviance, and cells hold its minimum."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mean_gamma_deviance, mean_poisson_deviance

from pacboost.boosters.newton import LogLink, exponential
from pacboost.boosters.regression import Gamma, Poisson
from pacboost.errors import ParameterError
from pacboost.learners.tree import Tree
from pacboost.training import metrics
from pacboost.training.run.loop import Run
from tests.boosters.test_square import Numbers, rounds_of, sample_of

KINDS = pytest.mark.parametrize("kind", [Poisson, Gamma])
DEVIANCE: dict[Any, Any] = {Poisson: mean_poisson_deviance, Gamma: mean_gamma_deviance}
OURS: dict[Any, Any] = {Poisson: metrics.poisson, Gamma: metrics.gamma}


def world(kind: type[LogLink], rows: int = 300) -> tuple[Numbers, Numbers]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, 3))
    mean = np.exp(np.sin(2 * X[:, 0]) + 0.5 * X[:, 1])
    counts = generator.poisson(mean).astype(np.float64)
    return X, counts if kind is Poisson else generator.gamma(2.0, mean / 2)


@settings(deadline=None)
@given(st.floats(-700, 700))
def test_exponentials_are_right_to_the_last_digits(x: float) -> None:
    assert exponential(np.array([x]))[0] == pytest.approx(np.exp(x), rel=1e-15)
    assert exponential(np.array([x]), -1.0)[0] == pytest.approx(np.exp(-x), rel=1e-15)


@KINDS
def test_slopes_are_those_of_half_the_deviance(kind: type[Any]) -> None:
    _, y = world(kind)
    scores, step = np.random.default_rng(1).normal(size=y.size), 1e-5
    pulls, curvatures = kind().row_slopes(y, scores)
    at = [
        [OURS[kind](y[i : i + 1], np.array([scores[i] + off])) / 2 for off in (-step, 0, step)]
        for i in range(y.size)
    ]
    low, middle, high = np.array(at).T
    np.testing.assert_allclose(-pulls, (high - low) / (2 * step), rtol=1e-4, atol=1e-5)
    if kind is Poisson:
        second = (high - 2 * middle + low) / step**2
        np.testing.assert_allclose(curvatures, second, rtol=1e-2, atol=1e-3)
    else:  # the expected curvature, since the mean of y/μ is 1
        assert (curvatures == 1).all()


@KINDS
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_every_leaf_is_best_and_the_loss_never_rises(
    kind: type[Any], weighted: bool, rate: float
) -> None:
    X, y = world(kind)
    base = np.random.default_rng(3).uniform(0.1, 1, size=y.size) if weighted else None
    own = np.ones(y.size) if base is None else base
    sample = sample_of(X, y, base)
    run = Run(sample, Tree(max_leaves=5), kind(learning_rate=rate))
    rounds_of(run, 10)
    recorded = [done.entry.training_error for done in run.done]
    assert all(after <= before for before, after in pairwise(recorded))
    scores = np.zeros(y.size)
    for number, done in enumerate(run.done):
        cells = done.hypothesis.cells(sample)
        values = done.hypothesis.values[:, 0] / (1.0 if number == 0 else rate)
        mean = np.exp(scores)
        ratio = own * y / mean if kind is Gamma else own * y
        below = own if kind is Gamma else own * mean
        factors = np.bincount(cells, ratio) / np.bincount(cells, below)
        np.testing.assert_allclose(values, np.log(np.maximum(factors, np.exp(-8))), atol=1e-6)
        scores += done.hypothesis.values[cells, 0]
        expected = DEVIANCE[kind](y, np.exp(scores), sample_weight=own)
        assert recorded[number] == pytest.approx(expected, rel=1e-9)


@KINDS
def test_the_first_constant_is_the_logarithm_of_the_mean(kind: type[Any]) -> None:
    X, y = world(kind)
    run = Run(sample_of(X, y), Tree(), kind(learning_rate=0.1))
    rounds_of(run, 1)
    assert run.done[0].hypothesis.values[0, 0] == pytest.approx(np.log(y.mean()), rel=1e-9)


@KINDS
@pytest.mark.parametrize("options", [{"learning_rate": 2.0}, {"l2": -1.0}, {"l2": np.nan}])
def test_bad_settings_are_refused(kind: type[Any], options: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=f"{next(iter(options))} is"):
        kind(**options)


def test_cells_without_events_do_not_run_away() -> None:
    X = np.repeat([0.0, 1.0], 50)[:, None]
    y = np.where(X[:, 0] > 0, 3.0, 0.0)
    run = Run(sample_of(X, y), Tree(max_leaves=2), Poisson())
    rounds_of(run, 200)
    scores = run.vote().scores(run.sample.table)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(np.exp(scores), y, atol=1e-3)
