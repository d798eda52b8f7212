"""The N-vote bound: vectors, what it contains, coverage where it is tight, and a twin."""

import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.out_of_bag import first_order_bound, tandem_bound
from pacboost.errors import NotCertified
from pacboost.theory import margins, nvote
from pacboost.theory.margins import certificate, kth_margin_bound, rademacher_bound, schapire_bound
from pacboost.theory.nvote import best_pair, nvote_bound, vote_loss
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
            assert nvote._tail(voters, wrong) <= divisor * (1 + 1e-13)
            for share in (0.5, 0.51, 0.75, 1.0):
                assert binom.sf(wrong - 1, voters, share) >= divisor * (1 - 1e-12)


def test_best_pair_is_the_best_of_the_grid() -> None:
    shares = np.repeat(SHARES, 20)
    best, pairs = best_pair(shares, 1.5, 0.05, (1, 2, 5, 9))
    assert pairs == 17
    values = {
        (size, k): nvote_bound(vote_loss(shares, size, k), size, k, shares.size, 1.5, 0.05, pairs)
        for size in (1, 2, 5, 9)
        for k in range(1, size + 1)
    }
    assert best.bound == min(values.values()) == values[best.voters, best.wrong]


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
        cost = nvote.divergence(votes)
        votes /= votes.sum()
        violations += best_pair(wrong @ votes, cost, 0.05, (1, 2, 5, 11, 21))[0].bound < 0.5
    check_coverage("N-vote on noise", violations, runs, 0.05)


SIZE = math.log(1000)
ROWS = 100_000


def test_vectors_of_margins() -> None:
    assert schapire_bound(5000, ROWS, 0.3, SIZE, 0.05) == pytest.approx(0.18775, abs=5e-6)
    assert kth_margin_bound(5001, 0.3, ROWS, SIZE, 0.05) == pytest.approx(0.25316, abs=5e-6)
    assert rademacher_bound(0.05, 0.3, ROWS, SIZE, 0.05) == pytest.approx(0.13223, abs=5e-6)


def test_monotone_in_rows_margin_and_delta() -> None:
    lists = [
        [schapire_bound(n // 20, n, 0.3, SIZE, 0.05) for n in (20_000, 10**5, 10**6)],
        [schapire_bound(5000, ROWS, theta, SIZE, 0.05) for theta in (0.2, 0.3, 0.9)],
        [schapire_bound(5000, ROWS, 0.3, SIZE, delta) for delta in (1e-9, 0.01, 0.4)],
        [kth_margin_bound(n // 20 + 1, 0.3, n, SIZE, 0.05) for n in (10**4, 10**5, 10**6)],
        [kth_margin_bound(5001, 0.3, ROWS, SIZE, delta) for delta in (1e-9, 0.01, 0.4)],
        [rademacher_bound(0.05, 0.3, n, SIZE, 0.05) for n in (10**4, 10**5, 10**6)],
        [rademacher_bound(0.05, 0.3, ROWS, SIZE, delta) for delta in (1e-9, 0.01, 0.4)],
        [rademacher_bound(0.05, 0.3, ROWS, SIZE, 0.05, thetas) for thetas in (100, 10, 1)],
    ]
    for values in lists:
        assert values == sorted(values, reverse=True)
        assert values[-1] < values[0] <= 1


def test_the_derived_bound_certifies() -> None:
    certified = certificate(5000, ROWS, 0.3, SIZE, 0.05)
    assert Certificate.from_json(certified.to_json()) == certified
    assert certified.bound == "margins.schapire_bound"
    assert schapire_bound(**certified.inputs) == certified.value


def test_refuses_where_theorems_do_not_apply() -> None:
    with pytest.raises(NotCertified, match=r"above 0\.0894"):
        kth_margin_bound(1, 0.05, ROWS, SIZE, 0.05)


def stray(voters: int, theta: float) -> float:
    """The largest chance, over margins, that an average of N drawn rules strays by θ/2 or more."""
    means = np.linspace(0, 1, 101)
    fewest = np.ceil(voters * (means + theta / 4) - 1e-9)
    return float(np.max(binom.sf(fewest - 1, voters, means) * (means + theta / 4 <= 1)))


def test_the_slack_of_the_proof_in_exact_arithmetic() -> None:
    """exp(-Nθ²/8) covers the exact binomial; exp(-Nθ²/2), which forgets the half, does not."""
    broken = 0
    for voters in (1, 5, 20, 100, 453):
        for theta in (0.1, 0.3, 0.5):
            assert stray(voters, theta) <= math.exp(-voters * theta**2 / 8)
            broken += stray(voters, theta) > math.exp(-voters * theta**2 / 2)
    assert broken > 5


def test_the_failures_of_all_committees_sum_to_delta() -> None:
    """With δ for each N in place of δ/(N(N+1)) the union bound is already spent at N = 1."""
    assert sum(1 / (n * (n + 1)) for n in range(1, 10**5)) < 1
    paid = margins._schapire(0.05, ROWS, 0.3, SIZE, 0.05)
    voters = paid[1]
    logs = math.log(voters * (voters + 1) ** 2 / 0.05) + voters * SIZE
    exact = 0.05 + 2 * math.exp(-voters * 0.09 / 8) + math.sqrt(logs / (2 * ROWS))
    assert paid[0] == pytest.approx(exact, rel=1e-13)


def test_the_slack_in_circulation_for_dirichlet_votes_is_too_small() -> None:
    """Why that bound is not here: P[Beta(50, 50) ≥ 0.6] is above exp(-101·0.04)."""
    tail = beta.sf(0.6, 50, 50)
    assert tail == pytest.approx(0.02193, abs=5e-6)
    assert math.exp(-101 * 0.04) < tail <= math.exp(-101 * 0.04 / 2)


def test_coverage() -> None:
    """One rule with margin 1 or -1; the share of small margins alone, as a bound, is rejected."""
    runs, n, risk = 1000, 5000, 0.2
    below = np.random.default_rng(43).binomial(n, risk, size=runs).tolist()
    values = {k: schapire_bound(k, n, 1.0, math.log(2), 0.05) for k in set(below)}
    assert max(values.values()) < 1
    check_coverage("Schapire et al. 1998", sum(values[k] < risk for k in below), runs, 0.05)
    check_rejected("share of small margins", sum(k / n < risk for k in below), runs, 0.05)
