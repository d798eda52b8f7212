"""Means of bounded losses and the AUC: vectors, coverage, and broken twins."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import beta, norm

from pacboost.bounds import measures
from pacboost.errors import ParameterError
from pacboost.numerics.kl import kl_lower, kl_upper
from tests.bounds.coverage import check_coverage, check_rejected
from tests.runs import several_runs


def test_vector_of_the_auc() -> None:
    assert measures.auc_lower(73_600, 200, 200, 0.05) == pytest.approx(0.864733, abs=1e-6)
    assert measures.auc_lower(73_600, 200, 200, 0.05) == kl_lower(0.92, math.log(20) / 200)


def test_pairs_are_counted_as_by_brute_force() -> None:
    generator = np.random.default_rng(0)
    positives, negatives = generator.integers(0, 9, 40), generator.integers(0, 7, 30)
    pairs = np.sign(positives[:, None] - negatives) + 1
    found = measures.halves_of_pairs(positives.astype(float), negatives.astype(float))
    assert found == pairs.sum()


def test_never_worse_than_chernoff() -> None:
    values = np.random.default_rng(1).beta(2, 8, size=300)
    text = measures.written(values)
    mean = np.ceil(values * 4096).mean() / 4096
    assert measures.mean_upper(text, 1.0, 0.05) <= kl_upper(mean, math.log(20) / 300) * (1 + 1e-9)
    assert measures.mean_upper(text, 3.0, 0.05) == pytest.approx(
        3 * measures.mean_upper(text, 1.0, 0.05)
    )
    savings = measures.written(1 - values)
    assert measures.mean_lower(savings, 1.0, 0.05) < values.mean()
    assert measures.mean_upper(text, 1.0, 0.05) > values.mean()


def test_a_bet_that_learns_is_sharper_where_losses_vary_little() -> None:
    spread = beta.ppf((np.arange(500) + 0.5) / 500, 0.15 * 11.75, 0.85 * 11.75)
    assert measures.mean_upper(measures.written(spread), 1.0, 0.05) == pytest.approx(
        0.1730, abs=5e-5
    )
    generator = np.random.default_rng(0)
    texts = [measures.written(generator.permutation(spread), rare=False) for _ in range(8)]
    values = [measures.mean_upper(text, 1.0, 0.05) for text in texts]
    assert np.median(values) == pytest.approx(0.1619, abs=3e-4)
    with pytest.raises(ParameterError, match="blocks have"):
        measures.mean_upper("9x100 | 9x200 | 9x300", 1.0, 0.05)


def test_ranks_are_sharper_where_one_side_has_many_rows() -> None:
    high = norm.ppf((np.arange(200) + 0.5) / 200, 2.035)
    low = norm.ppf((np.arange(10_000) + 0.5) / 10_000)
    pairs = measures.auc_lower(measures.halves_of_pairs(high, low), 200, 10_000, 0.05)
    assert pairs == pytest.approx(0.871, abs=5e-4)
    wrong = measures.wrong_shares(high, low)
    value = measures.ranks_lower(measures.written(wrong, rare=False), 10_000, 0.05)
    assert 0.881 <= value < 0.883
    turned = measures.wrong_shares(-high, -low)
    assert measures.ranks_upper(measures.written(1 - turned, rare=False), 10_000, 0.05) < 0.12


def ranked_failures(runs: int, known: bool) -> int:
    """How often the lower end by ranks exceeds the AUC of 40 positives and 800 negatives."""
    generator, truth, failed = np.random.default_rng(8), norm.cdf(1 / math.sqrt(2)), 0
    for _ in range(runs):
        high, low = generator.normal(1, 1, 40), generator.normal(0, 1, 800)
        wrong = measures.wrong_shares(high, low)
        if known:  # the mean place, give or take the deviation of the negatives alone
            value = 1 - wrong.mean() - math.sqrt(math.log(40) / 1600)
        else:
            value = measures.ranks_lower(measures.written(wrong, rare=False), 800, 0.05)
        failed += value > truth
    return failed


@several_runs(50, 150)
def test_ranks(runs: int) -> None:
    check_coverage("AUC by ranks", ranked_failures(runs, False), runs, 0.05)
    check_rejected("AUC, positives not paid for", ranked_failures(150, True), 150, 0.05)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_scale_is_checked(scale: float) -> None:
    with pytest.raises(ParameterError, match="scale"):
        measures.mean_upper("3x0", scale, 0.05)


def test_pairs_are_checked() -> None:
    with pytest.raises(ParameterError, match="halves"):
        measures.auc_lower(9, 2, 2, 0.05)
    with pytest.raises(ParameterError, match="positives"):
        measures.auc_lower(0, 0, 2, 0.05)


def auc_failures(runs: int, positives: int, negatives: int, pairs: bool) -> int:
    """How often the lower end exceeds the AUC of two normal distributions."""
    generator = np.random.default_rng(2)
    truth, failed = norm.cdf(1 / math.sqrt(2)), 0
    for _ in range(runs):
        high, low = generator.normal(1, 1, positives), generator.normal(0, 1, negatives)
        halves = measures.halves_of_pairs(high, low)
        if pairs:  # as if all pairs were independent
            number = positives * negatives
            value = kl_lower(halves / (2 * number), math.log(20) / number)
        else:
            value = measures.auc_lower(halves, positives, negatives, 0.05)
        failed += value > truth
    return failed


@pytest.mark.parametrize("sizes", [(10, 200), (50, 50)])
def test_auc(sizes: tuple[int, int]) -> None:
    check_coverage(f"AUC, {sizes}", auc_failures(800, *sizes, False), 800, 0.05)
    check_rejected(f"AUC of independent pairs, {sizes}", auc_failures(800, *sizes, True), 800, 0.05)


mean_upper = cache(measures.mean_upper)


def loss_failures(runs: int, n: int, delta: float, normal: bool, rare: bool = True) -> int:
    """How often the bound is below the mean 0.02 of a loss that is seldom, but then large."""
    generator = np.random.default_rng(4)
    failed = 0
    for _ in range(runs):
        values = generator.choice(np.array([0.0, 0.2, 1.0]), p=[0.95, 0.0375, 0.0125], size=n)
        if normal:
            value = float(values.mean() + norm.isf(delta) * values.std(ddof=1) / math.sqrt(n))
        else:
            value = mean_upper(measures.written(values, rare), 1.0, delta)
        failed += value < 0.02
    return failed


def test_mean_of_losses() -> None:
    check_coverage("mean loss, n=60", loss_failures(200, 60, 0.05, False), 200, 0.05)
    blocks = loss_failures(200, 60, 0.05, False, rare=False)
    check_coverage("mean loss by blocks, n=60", blocks, 200, 0.05)
    check_rejected("mean loss by the normal law", loss_failures(400, 60, 0.05, True), 400, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.05, 0.01])
@pytest.mark.parametrize("n", [20, 200, 2000])
@pytest.mark.parametrize("rare", [True, False])
def test_mean_of_losses_in_full(n: int, delta: float, rare: bool) -> None:
    failed = loss_failures(3000, n, delta, False, rare)
    check_coverage(f"mean loss, n={n}, rare={rare}", failed, 3000, delta)


@several_runs(100, 400)
def test_lower_end_of_a_mean(runs: int) -> None:
    generator = np.random.default_rng(7)
    failed = 0
    for _ in range(runs):
        values = generator.beta(1, 4, size=40)
        failed += measures.mean_lower(measures.written(1 - values), 1.0, 0.05) > 0.2
    check_coverage("lower end of a mean loss", failed, runs, 0.05)
