"""Means of bounded losses and the AUC: vectors, coverage, and broken twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from pacboost.bounds import losses
from pacboost.errors import ParameterError
from pacboost.numerics.kl import kl_lower, kl_upper
from tests.bounds.coverage import check_coverage, check_rejected


def test_vector_of_the_auc() -> None:
    assert losses.auc_lower(73_600, 200, 200, 0.05) == pytest.approx(0.864733, abs=1e-6)
    assert losses.auc_lower(73_600, 200, 200, 0.05) == kl_lower(0.92, math.log(20) / 200)


def test_pairs_are_counted_as_by_brute_force() -> None:
    generator = np.random.default_rng(0)
    positives, negatives = generator.integers(0, 9, 40), generator.integers(0, 7, 30)
    pairs = np.sign(positives[:, None] - negatives) + 1
    found = losses.halves_of_pairs(positives.astype(float), negatives.astype(float))
    assert found == pairs.sum()


def test_never_worse_than_chernoff() -> None:
    values = np.random.default_rng(1).beta(2, 8, size=300)
    text = losses.written(values)
    mean = np.ceil(values * 4096).mean() / 4096
    assert losses.mean_upper(text, 1.0, 0.05) <= kl_upper(mean, math.log(20) / 300) * (1 + 1e-9)
    assert losses.mean_upper(text, 3.0, 0.05) == pytest.approx(
        3 * losses.mean_upper(text, 1.0, 0.05)
    )
    savings = losses.written(1 - values)
    assert losses.mean_lower(savings, 1.0, 0.05) < values.mean()
    assert losses.mean_upper(text, 1.0, 0.05) > values.mean()


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_scale_is_checked(scale: float) -> None:
    with pytest.raises(ParameterError, match="scale"):
        losses.mean_upper("3x0", scale, 0.05)


def test_pairs_are_checked() -> None:
    with pytest.raises(ParameterError, match="halves"):
        losses.auc_lower(9, 2, 2, 0.05)
    with pytest.raises(ParameterError, match="positives"):
        losses.auc_lower(0, 0, 2, 0.05)


def auc_failures(runs: int, positives: int, negatives: int, pairs: bool) -> int:
    """How often the lower end exceeds the AUC of two normal distributions."""
    generator = np.random.default_rng(2)
    truth, failed = norm.cdf(1 / math.sqrt(2)), 0
    for _ in range(runs):
        high, low = generator.normal(1, 1, positives), generator.normal(0, 1, negatives)
        halves = losses.halves_of_pairs(high, low)
        if pairs:  # as if all pairs were independent
            number = positives * negatives
            value = kl_lower(halves / (2 * number), math.log(20) / number)
        else:
            value = losses.auc_lower(halves, positives, negatives, 0.05)
        failed += value > truth
    return failed


@pytest.mark.parametrize("sizes", [(10, 200), (50, 50)])
def test_auc(sizes: tuple[int, int]) -> None:
    check_coverage(f"AUC, {sizes}", auc_failures(800, *sizes, False), 800, 0.05)
    check_rejected(f"AUC of independent pairs, {sizes}", auc_failures(800, *sizes, True), 800, 0.05)


def loss_failures(runs: int, n: int, delta: float, normal: bool) -> int:
    """How often the bound is below the mean 0.02 of a loss that is seldom, but then large."""
    generator = np.random.default_rng(4)
    failed = 0
    for _ in range(runs):
        values = generator.choice(np.array([0.0, 0.2, 1.0]), p=[0.95, 0.0375, 0.0125], size=n)
        if normal:
            value = float(values.mean() + norm.isf(delta) * values.std(ddof=1) / math.sqrt(n))
        else:
            value = losses.mean_upper(losses.written(values), 1.0, delta)
        failed += value < 0.02
    return failed


def test_mean_of_losses() -> None:
    check_coverage("mean loss, n=60", loss_failures(400, 60, 0.05, False), 400, 0.05)
    check_rejected("mean loss by the normal law", loss_failures(400, 60, 0.05, True), 400, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.05, 0.01])
@pytest.mark.parametrize("n", [20, 200, 2000])
def test_mean_of_losses_in_full(n: int, delta: float) -> None:
    check_coverage(f"mean loss, n={n}", loss_failures(3000, n, delta, False), 3000, delta)


def test_lower_end_of_a_mean() -> None:
    generator = np.random.default_rng(7)
    failed = 0
    for _ in range(400):
        values = generator.beta(1, 4, size=40)
        failed += losses.mean_lower(losses.written(1 - values), 1.0, 0.05) > 0.2
    check_coverage("lower end of a mean loss", failed, 400, 0.05)
