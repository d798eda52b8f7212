"""The N-vote bound: vectors, what it contains, coverage where it is tight, and a twin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from pacboost.bounds.out_of_bag import first_order_bound, tandem_bound
from pacboost.errors import ParameterError
from pacboost.theory import nvote
from pacboost.theory.nvote import (
    SIZES,
    best_pair,
    nvote_bound,
    vote_loss,
    wrong_share,
)
from tests.bounds.coverage import check_coverage, check_rejected

SHARES = [0.2] * 95 + [0.6] * 5


@pytest.mark.parametrize(
    ("voters", "wrong", "bound"),
    [
        (1, 1, 0.483689),
        (2, 2, 0.283988),
        (11, 5, 0.177776),
        (51, 22, 0.133339),
        (101, 45, 0.170516),
    ],
)
def test_vectors(voters: int, wrong: int, bound: float) -> None:
    loss = vote_loss(SHARES, voters, wrong)
    value = nvote_bound(loss, voters, wrong, 10_000, 5.0, 0.05)
    assert value == pytest.approx(bound, abs=5e-7)


def test_contains_first_order_and_tandem() -> None:
    generator = np.random.default_rng(3)
    for _ in range(50):
        shares = generator.random(40) ** 3
        n, d = int(generator.integers(1, 10**5)), float(generator.exponential())
        gibbs, tandem = vote_loss(shares, 1, 1), vote_loss(shares, 2, 2)
        assert gibbs == pytest.approx(shares.mean(), rel=1e-11)
        assert tandem == pytest.approx((shares**2).mean(), rel=1e-11)
        assert nvote_bound(gibbs, 1, 1, n, d, 0.05) == pytest.approx(
            first_order_bound(gibbs, n, d, 0.05), rel=1e-10
        )
        assert nvote_bound(tandem, 2, 2, n, d, 0.05) == pytest.approx(
            tandem_bound(tandem, n, d, 0.05), rel=1e-10
        )


def test_losses_round_up() -> None:
    """Against exact sums; and many different shares go up to a grid, never down."""
    for voters, wrong in [(1, 1), (7, 3), (51, 22), (201, 190)]:
        exact = np.mean([binom.sf(wrong - 1, voters, w) for w in SHARES])
        assert exact <= vote_loss(SHARES, voters, wrong) <= exact * (1 + 1e-10)
    shares = np.random.default_rng(5).random(20_000)
    exact = np.mean(binom.sf(4, 11, shares))
    assert exact < vote_loss(shares, 11, 5) < exact + 11 / 4096


def test_the_premise_of_the_proof() -> None:
    """Where half of the votes err, k₀ of N drawn voters err with at least the divisor's chance."""
    for voters in (1, 2, 5, 20, 51):
        for wrong in range(1, voters + 1):
            divisor = binom.sf(wrong - 1, voters, 0.5)
            assert nvote._least(voters, wrong) <= divisor * (1 + 1e-13)
            for share in (0.5, 0.51, 0.75, 1.0):
                assert binom.sf(wrong - 1, voters, share) >= divisor * (1 - 1e-12)


def test_best_pair_is_the_best_of_the_grid() -> None:
    sizes = (1, 2, 5, 9)
    shares = np.repeat(SHARES, 20)
    best, pairs = best_pair(shares, 1.5, 0.05, sizes)
    assert pairs == 17
    values = [
        nvote_bound(vote_loss(shares, size, k), size, k, shares.size, 1.5, 0.05, pairs)
        for size in sizes
        for k in range(1, size + 1)
    ]
    assert best.bound == min(values)
    again = nvote_bound(best.loss, best.voters, best.wrong, shares.size, 1.5, 0.05, pairs)
    assert again == best.bound
    assert len(SIZES) == 25


def test_bad_numbers() -> None:
    with pytest.raises(ParameterError, match="loss is 1"):
        nvote_bound(1.5, 3, 2, 100, 0.0, 0.05)
    with pytest.raises(ParameterError, match="divergence inf"):
        nvote_bound(0.1, 3, 2, 100, math.inf, 0.05)
    with pytest.raises(ParameterError, match="shares"):
        vote_loss([1.5], 3, 2)
    with pytest.raises(ParameterError, match="sizes is empty"):
        best_pair(SHARES, 0.0, 0.05, [])
    with pytest.raises(ParameterError, match="margins"):
        wrong_share([1.5])
    assert wrong_share([1 + 1e-12]).tolist() == [0.0]


def test_coverage_where_every_pair_is_an_equality() -> None:
    """Half of the votes err on a fifth of the examples, none elsewhere: L = p·R for every pair."""
    n, risk, runs, delta = 400, 0.2, 2000, 0.05
    mistakes = np.random.default_rng(9).binomial(n, risk, size=runs)
    searched, fixed, twin = {}, {}, {}
    for k in np.unique(mistakes).tolist():
        shares = np.repeat([0.5, 0.0], [k, n - k])
        searched[k] = best_pair(shares, 0.0, delta, (1, 2, 5, 11, 25))[0].bound
        loss = vote_loss(shares, 5, 3)
        fixed[k] = nvote_bound(loss, 5, 3, n, 0.0, delta)
        twin[k] = fixed[k] * binom.sf(2, 5, 0.5)
    for name, values in [("N-vote, best of the grid", searched), ("N-vote (5,3)", fixed)]:
        check_coverage(name, sum(values[k] < risk for k in mistakes.tolist()), runs, delta)
    violations = sum(twin[k] < risk for k in mistakes.tolist())
    check_rejected("N-vote without the division by p", violations, runs, delta)


def test_coverage_of_votes_fitted_to_noise() -> None:
    """Votes picked on coin-flip labels; the true risk of any vote is a half."""
    generator = np.random.default_rng(13)
    runs, n, rules, violations = 100, 300, 30, 0
    for _ in range(runs):
        wrong = generator.random((n, rules)) < 0.5
        votes = np.maximum(0.5 - wrong.mean(axis=0), 0) ** 2
        votes /= votes.sum()
        cost = nvote_cost(votes)
        violations += best_pair(wrong @ votes, cost, 0.05, (1, 2, 5, 11, 21))[0].bound < 0.5
    check_coverage("N-vote on noise", violations, runs, 0.05)


def nvote_cost(votes: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    used = votes[votes > 0]
    return float((used * np.log(used * votes.size)).sum())
