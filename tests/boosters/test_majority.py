"""Boosting by majority: its weights, its potential, its rounds, and what breaks the promise."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from pacboost.boosters.majority import Majority, fewest_coins, log_deciding, log_heads, losing
from pacboost.bounds.training import training_error
from pacboost.learners import Stump, Tree
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run import loop, stop_reason
from tests.examples import examples
from tests.grids import each_value
from tests.training.run.prefixes import class_samples, shares
from tests.worlds import make_sample, noisy

PROMISES = [(0.2, 0.1), (0.4, 0.1), (0.3, 0.05), (0.6, 0.01), (0.1, 0.3)]


def boosted(rules: Majority, edge: float, order: str = "random") -> loop.Run:
    """All rounds on rules of just that edge."""
    run = loop.Run(make_sample(*noisy(300, 2, seed=2)), Adversary(edge, order), rules, seed=7)
    list(islice(run, rules.rounds + 5))
    return run


@each_value
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize(("edge", "epsilon"), PROMISES)
def test_the_promise_is_kept_in_the_promised_rounds(
    edge: float, epsilon: float, order: str
) -> None:
    rules = Majority(edge, epsilon)
    run = boosted(rules, edge, order)
    assert len(run.done) <= rules.rounds
    assert run.stopped is not None
    assert run.stopped.kind is stop_reason.Stop.BOOSTER
    assert run.done[-1].entry.training_error <= epsilon
    assert training_error(run.ledger()).value <= epsilon * (1 + 1e-6)
    assert rules.most_rounds(edge, epsilon) == rules.rounds
    assert rules.most_rounds(edge / 2, epsilon) == math.inf


@pytest.mark.parametrize(("edge", "epsilon"), PROMISES)
def test_the_mean_potential_never_rises(edge: float, epsilon: float) -> None:
    rules = Majority(edge, epsilon)
    run = loop.Run(make_sample(*noisy(300, 2, seed=2)), Adversary(edge), rules, seed=7)
    before = float(rules.potentials(0)[0])
    assert before <= epsilon
    for number, done in enumerate(run, start=1):
        right = np.rint((run.margins[:, 0] / rules.rate + number) / 2).astype(int)
        now = float(rules.potentials(number)[right].mean())
        mass = float(rules.weights(number - 1)[_before(right, done)].mean())
        gained = mass * (done.entry.edge - edge) / 2
        assert now == pytest.approx(before - gained, abs=1e-9)
        assert now <= before + 1e-12
        before = now


def _before(right: np.ndarray, done: object) -> np.ndarray:
    names_of_kind = done.hypothesis.recorded  # type: ignore[attr-defined]
    _, signs = noisy(300, 2, seed=2)
    return np.asarray(right - (names_of_kind == signs))


@dataclass(frozen=True)
class EdgeForGamma(Majority):
    """The bug of the field: an edge taken for an advantage over guessing, which is half of it."""

    @property
    def _right(self) -> float:
        return 0.5 + self.edge


def test_an_edge_that_is_taken_for_twice_as_much_is_caught() -> None:
    twin = EdgeForGamma(0.2, 0.1)
    assert twin.rounds == fewest_coins(0.7, 0.1) == 9
    with pytest.raises(AssertionError):
        assert boosted(twin, 0.2).done[-1].entry.training_error <= 0.1


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_the_binomial_probabilities(weighted: bool) -> None:
    X, signs = noisy(100, 3, seed=5)
    base = np.random.default_rng(1).integers(1, 6, size=100).astype(float) if weighted else None
    sample = make_sample(X, signs, base)
    rules = Majority(0.1, 0.05)
    run = loop.Run(sample, Stump(), rules)
    for number, _ in enumerate(islice(run, 40), start=1):
        right = np.rint((run.margins[:, 0] / rules.rate + number) / 2).astype(int)
        expected = shares(sample) * rules.weights(number)[right]
        weights = rules.request(run.state).weights[:, 0]
        assert weights / weights.sum() == pytest.approx(expected / expected.sum(), abs=1e-12)


def test_a_broken_promise_stops_the_run_with_the_edge_that_was_measured() -> None:
    run = boosted(Majority(0.4, 0.1), 0.2)
    last = run.done[-1].entry
    assert len(run.done) < Majority(0.4, 0.1).rounds
    assert run.stopped is not None
    assert run.stopped.kind is stop_reason.Stop.BROKEN_PROMISE
    assert f"{last.edge:.4g}" in str(run.stopped)
    assert last.training_error <= training_error(run.ledger()).value


def test_what_earlier_rules_gave_more_later_ones_may_give_less() -> None:
    """Rules of edge 0.6, then of 0.1, for a promise of 0.3: the run goes on, and reaches it."""
    sample, rules = make_sample(*noisy(300, 2, seed=2)), Majority(0.3, 0.05)
    first = loop.Run(sample, Adversary(0.6), rules, seed=7)
    list(islice(first, 3))
    second = loop.Run(sample, Adversary(0.29), rules, seed=8)
    second.resume(first.vote().hypotheses, first.vote().votes.tolist(), first.ledger().rounds)
    short = [done.entry.edge < 0.3 for done in second]
    assert any(short)
    assert second.done[-1].entry.training_error <= 0.05
    assert len(second.done) <= rules.rounds


@given(class_samples(), st.floats(0.05, 0.6), st.floats(0.02, 0.4), st.booleans())
@examples(60)
def test_the_certificate_holds_whatever_the_learner(
    sample: Sample, edge: float, epsilon: float, stumps: bool
) -> None:
    rules = Majority(edge, epsilon)
    run = loop.Run(sample, Stump() if stumps else Tree(max_leaves=3, min_leaf_rows=1), rules)
    for number, done in enumerate(islice(run, 30), start=1):
        costs = rules.costs(run.margins, number).mean(axis=1)
        mean = float((shares(sample) * costs).sum())
        ledger = run.ledger()
        assert math.exp(list(ledger.log_products())[-1]) == pytest.approx(mean, rel=1e-9, abs=2e-18)
        assert done.entry.training_error <= training_error(ledger).value


def test_chances_are_weights_in_units_of_the_largest() -> None:
    rules = Majority(0.2, 0.1)
    for rounds in range(rules.rounds):
        margins = rules.rate * (2 * np.arange(rounds + 1.0) - rounds)
        chances = rules.chances(margins, rounds)
        assert chances.max() == 1
        assert chances == pytest.approx(rules.weights(rounds) / rules.weights(rounds).max())
        assert 0 < rules.coin_below(rounds) <= 1
    assert not rules.chances(np.zeros(3), rules.rounds).any()
    assert rules.last_round == rules.rounds


@pytest.mark.parametrize(("edge", "epsilon"), [(0.1, 0.05), (0.2, 0.1), (0.4, 0.1), (0.9, 0.02)])
def test_constants_in_the_place_of_rules_add_half_of_epsilon(edge: float, epsilon: float) -> None:
    """A constant raises the mean of b by at most A·p, so the whole promise is 1.5 ε and not ε."""
    rules = Majority(edge, epsilon)
    right = (1 + edge) / 2
    added = [
        rules.coin_below(i) * float(rules.weights(i).max()) * right for i in range(rules.rounds)
    ]
    first = float(rules.potentials(0)[0])
    assert first <= epsilon
    assert max(added) <= epsilon / (2 * rules.rounds) * (1 + 1e-9)
    assert first + sum(added) <= 1.5 * epsilon * (1 + 1e-9)


CHANCES = [Fraction(11, 20), Fraction(3, 5), Fraction(9, 10)]


def lost(k: int, done: int, p: Fraction, heads: int) -> Fraction:
    """b_r^i, summed up term by term."""
    n = k - done
    terms = range(min(k // 2 - heads, n) + 1)
    return sum((math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in terms), Fraction(0))


@each_value
@pytest.mark.parametrize("p", CHANCES)
@pytest.mark.parametrize("k", [1, 3, 9, 21])
def test_the_tables_are_those_of_exact_fractions(k: int, p: Fraction) -> None:
    """b_r^i = p·b_{r+1}^{i+1} + (1-p)·b_r^{i+1}, and a_r^i is what lies between the two."""
    for i in range(k):
        table = losing(k, i, float(p), np.arange(i + 1))
        logs = log_deciding(k, i, float(p))
        for r in range(i + 1):
            exact = lost(k, i, p, r)
            right, wrong = lost(k, i + 1, p, r + 1), lost(k, i + 1, p, r)
            assert exact == p * right + (1 - p) * wrong
            assert table[r] == pytest.approx(float(exact), rel=1e-12, abs=1e-300)
            assert math.exp(logs[r]) == pytest.approx(float(wrong - right), rel=1e-12, abs=0)
    ends = losing(k, k, float(p), np.arange(k + 1))
    assert ends.tolist() == [float(r <= k // 2) for r in range(k + 1)]


@each_value
@pytest.mark.parametrize("p", CHANCES)
@pytest.mark.parametrize("k", [1, 3, 9, 21])
def test_who_has_no_majority_costs_no_less_than_half_would(k: int, p: Fraction) -> None:
    """b_r^i ≥ P[Bin(k-i, p) ≤ ⌊(k-i)/2⌋] wherever 2r ≤ i: what the certificate rests on."""
    for i in range(k + 1):
        n = k - i
        half = sum((math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(n // 2 + 1)), 0)
        assert lost(k, i, p, i // 2) == half
        assert all(lost(k, i, p, r) >= half for r in range(i // 2 + 1))
        table = losing(k, i, float(p), np.arange(i + 1))
        assert (np.diff(table) <= 0).all()


@given(st.integers(0, 5000), st.floats(0.01, 0.99))
@examples(50)
def test_heads_against_scipy(coins: int, chance: float) -> None:
    expected = binom.logpmf(np.arange(coins + 1), coins, chance)
    assert log_heads(coins, chance) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.floats(0.505, 0.999), st.floats(1e-6, 0.9))
@examples(200)
def test_no_smaller_odd_number_will_do(chance: float, epsilon: float) -> None:
    k = fewest_coins(chance, epsilon)
    assert k % 2 == 1
    assert binom.cdf(k // 2, k, chance) <= epsilon * (1 + 1e-9)
    assert k == 1 or binom.cdf((k - 2) // 2, k - 2, chance) > epsilon * (1 - 1e-9)
    edge = 2 * chance - 1
    assert k <= max(1.0, 2 * math.log(1 / epsilon) / edge**2) + 1e-6
