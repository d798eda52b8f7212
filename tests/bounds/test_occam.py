"""The Occam certificate: its vector, its prior, noise labels, and what breaks it."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.bounds.occam import log_inverse_prior, occam_bound, quantise, search
from pacboost.errors import ParameterError
from pacboost.numerics.binomial import binomial_upper
from pacboost.numerics.kl import kl_upper
from tests.bounds.coverage import check_coverage, check_rejected
from tests.runs import several_runs

DELTA = 0.05


def test_vector() -> None:
    price = log_inverse_prior(1260, 20, 3)
    assert price == pytest.approx(150.404, abs=5e-4)
    assert occam_bound(1000, 10_000, 1260, 20, 3, 0.05) == pytest.approx(0.159781, abs=5e-7)
    fallback = kl_upper(0.1, (price + math.log(20)) / 10_000)
    assert fallback == pytest.approx(0.160551, abs=5e-7)


def test_prior_sums_to_at_most_one() -> None:
    """Over all sets of rules, all weights and all bits, counted one by one."""
    total = 0.0
    for bits in (1, 2, 3):
        weights = [w for w in range(-(2 ** (bits - 1)), 2 ** (bits - 1) + 1) if w != 0]
        assert len(weights) == 2**bits
        for rules in (1, 2, 3):
            votes = sum(1 for _ in combinations(range(4), rules)) * sum(
                1 for _ in product(weights, repeat=rules)
            )
            total += votes * math.exp(-log_inverse_prior(4, rules, bits))
    assert total == pytest.approx((1 - 1 / 4) * (1 - 1 / 4), rel=1e-12)


def test_thousands_of_rules_do_not_underflow() -> None:
    value = occam_bound(1000, 10**6, 10**6, 2000, 4, 0.05)
    price = log_inverse_prior(10**6, 2000, 4) - math.log(0.05)
    assert price > 645  # beyond what a float holds as a probability
    chernoff = kl_upper(0.001, price / 10**6)
    assert chernoff * 0.999 < value <= chernoff * (1 + 1e-11)


def test_quantise() -> None:
    votes = [1.0, -0.5, 0.24, 0.0]
    assert quantise(votes, 1, 1.0).tolist() == [1, 0, 0, 0]
    assert quantise(votes, 3, 1.0).tolist() == [4, -2, 1, 0]
    assert quantise(votes, 3, 2.0).tolist() == [4, -4, 2, 0]
    assert quantise(votes, 1, 0.4).tolist() == [0, 0, 0, 0]
    generator = np.random.default_rng(0)
    for bits in range(1, 12):
        whole = quantise(generator.normal(size=500), bits, 3.0)
        assert np.abs(whole).max() == 2 ** (bits - 1)


def test_search_offers_every_pair_and_counts_each_vote_once() -> None:
    seen = []

    def count(whole: NDArray[np.int64]) -> int:
        seen.append(whole.tobytes())
        return 10

    pairs = search([1.0, 0.6, 0.1], count, 100, 50, 0.05)
    assert len(seen) == len(set(seen)) == len(pairs)
    assert [p.bound for p in pairs] == sorted(p.bound for p in pairs)
    for pair in pairs:
        assert pair.bound == occam_bound(10, 100, 50, pair.rules, pair.bits, 0.05)
    with pytest.raises(ParameterError, match="rounded to 0"):
        search([1.0], count, 100, 50, 0.05, bits=[1], scales=[0.1])


def test_bad_numbers() -> None:
    with pytest.raises(ParameterError, match="only 3 base rules"):
        log_inverse_prior(3, 4, 1)
    with pytest.raises(ParameterError, match="bits is 32"):
        quantise([1.0], 32, 1.0)
    with pytest.raises(ParameterError, match="votes must be"):
        quantise([0.0], 2, 1.0)
    with pytest.raises(ParameterError, match="votes must be"):
        quantise([math.inf], 2, 1.0)
    with pytest.raises(ParameterError, match="scale is 0"):
        quantise([1.0], 2, 0.0)


def fit_noise(
    generator: np.random.Generator, n: int, rules: int, keep: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Fixed rules times coin-flip labels, and votes for the rules that look best on them."""
    agree = 1 - 2 * generator.integers(2, size=(n, rules))
    edges = agree.mean(axis=0) + 1e-9  # never exactly 0
    return agree, np.where(np.abs(edges) >= np.sort(np.abs(edges))[-keep], edges, 0.0)


def failures_on_noise(runs: int, n: int, rules: int, keep: int) -> tuple[int, int]:
    """Count the runs in which the smallest of all bounds falls below a half, and of the twin's.

    No vote's true risk is below a half: every answer is a coin flip, and ties are errors. The twin
    spends δ where the theorem spends δP.
    """
    generator = np.random.default_rng(17)
    failed = broken = 0
    for _ in range(runs):
        agree, votes = fit_noise(generator, n, rules, keep)
        pairs = search(votes, lambda q: int((agree @ q <= 0).sum()), n, rules, DELTA)  # noqa: B023
        failed += pairs[0].bound < 0.5
        fewest = min(pair.mistakes for pair in pairs)
        broken += binomial_upper(fewest, n, math.log(1 / DELTA)) < 0.5
    return failed, broken


@several_runs(40, 300)
@pytest.mark.parametrize(("rules", "keep"), [(1, 1), (60, 9)])
def test_coverage_on_noise_labels(rules: int, keep: int, runs: int) -> None:
    failed, broken = failures_on_noise(runs, 120, rules, keep)
    check_coverage(f"Occam on noise, rules: {rules}", failed, runs, DELTA)
    if rules > 1:
        check_rejected("Occam without the prior", broken, runs, DELTA)


@pytest.mark.slow
@pytest.mark.parametrize("rules", [1, 5, 60, 500])
def test_coverage_on_noise_labels_in_many_runs(rules: int) -> None:
    failed, _ = failures_on_noise(5000, 200, rules, min(rules, 9))
    check_coverage(f"Occam on noise, rules: {rules}, long", failed, 5000, DELTA)


def test_edges_fitted_to_labels_break_it_and_edges_from_features_hide() -> None:
    """One cut for each of many features, and labels that are coin flips.

    A cut placed with the help of the training labels is the best of n, yet pays for one: rejected.
    A cut at the median of the training rows knows no label. Labels that do not depend on the
    features stay coin flips once the features are known, so on noise it cannot be caught, though
    the theorem does not cover it in general.
    """
    generator = np.random.default_rng(19)
    runs, n, features, blind, fitted = 150, 200, 400, 0, 0
    for _ in range(runs):
        labels = np.where(generator.random(n) < 0.5, 1, -1)
        in_order = generator.permuted(np.tile(labels, (features, 1)), axis=1)
        gain = np.abs(np.cumsum(in_order, axis=1) - labels.sum() / 2)
        for cuts, fits in ((gain[:, n // 2 - 1], False), (gain.max(axis=1), True)):
            fewest = round(n / 2 - float(cuts.max()))
            failed = occam_bound(fewest, n, features, 1, 1, DELTA) < 0.5
            fitted += failed and fits
            blind += failed and not fits
    check_coverage("Occam, edges from the features, noise", blind, runs, DELTA)
    check_rejected("Occam, edges fitted to the labels", fitted, runs, DELTA)
