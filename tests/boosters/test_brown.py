"""BrownBoost: the mean cost stays, the edge goes, and at the end of time the error is met."""

import math
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.special import erfc

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import Floats
from pacboost.boosters.bounded_weights import BoundedState
from pacboost.boosters.brown import Brown, Clock
from pacboost.bounds.training import training_error
from pacboost.learners import Stump, Tree
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run import loop, stop_reason
from tests.examples import examples
from tests.grids import each_value
from tests.training.run.prefixes import class_samples, shares
from tests.worlds import make_sample, noisy


def mean_cost(rules: Brown, run: loop.Run) -> float:
    """The mean of erfc((m + s)/√c) over rows and outputs."""
    costs = erfc((run.margins + run.state.extra[0]) / math.sqrt(rules.time)).mean(axis=1)
    return float((shares(run.sample, units=False) * costs).sum())


@each_value
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize(("edge", "epsilon"), [(0.2, 0.2), (0.3, 0.1), (0.4, 0.05), (0.6, 0.01)])
def test_when_time_is_used_up_the_error_is_met(edge: float, epsilon: float, order: str) -> None:
    rules = Brown(epsilon)
    run = loop.Run(make_sample(*noisy(150, 2, seed=2)), Adversary(edge, order), rules, seed=7)
    list(islice(run, math.ceil(40 * rules.time / edge**2)))
    assert run.stopped is not None
    assert run.stopped.kind is stop_reason.Stop.BOOSTER
    assert run.state.extra == (0.0,)
    assert run.done[-1].entry.training_error <= epsilon
    assert training_error(run.ledger()).value <= epsilon * (1 + 1e-6)


@given(class_samples(), st.floats(0.01, 0.6), st.booleans())
@examples(60)
def test_the_mean_cost_stays_and_bounds_the_error(
    sample: Sample, epsilon: float, stumps: bool
) -> None:
    rules = Brown(epsilon)
    run = loop.Run(sample, Stump() if stumps else Tree(max_leaves=3, min_leaf_rows=1), rules)
    remaining = rules.time
    for done in islice(run, 15):
        assert mean_cost(rules, run) == pytest.approx(epsilon, rel=1e-7)
        assert run.state.extra[0] <= remaining + 1e-12
        remaining = run.state.extra[0]
        bound = epsilon / math.erfc(remaining / math.sqrt(rules.time))
        products = list(run.ledger().log_products())
        assert math.exp(products[-1]) == pytest.approx(bound, rel=1e-7)
        assert done.entry.training_error <= training_error(run.ledger()).value


def test_a_rule_has_no_edge_left_under_the_new_weights() -> None:
    X, signs = noisy(200, 3, seed=5)
    rules = Brown(0.1)
    run = loop.Run(make_sample(X, signs), Stump(), rules)
    for done in islice(run, 60):
        weights = rules.request(run.state).weights[:, 0]
        agree = done.hypothesis.answers(run.sample) * signs  # type: ignore[attr-defined]
        assert float(weights @ agree) / float(weights.sum()) == pytest.approx(0, abs=1e-6)
        heights = run.margins[:, 0] + run.state.extra[0]
        expected = np.exp(-(heights**2) / rules.time)
        assert weights / weights.sum() == pytest.approx(expected / expected.sum(), abs=1e-9)


@dataclass(frozen=True)
class Hasty(Brown):
    """A clock that runs twice as fast."""

    def _pass(self, state: BoundedState, vote: float, added: Floats, cast: float) -> BoundedState:
        before = state.extra[0]
        after = super()._pass(state, vote, added, cast)
        return self._weigh(replace(after, extra=(max(0.0, 2 * after.extra[0] - before),)))


def test_a_clock_that_runs_too_fast_is_caught() -> None:
    run = loop.Run(make_sample(*noisy(300, 2, seed=2)), Adversary(0.2), Hasty(0.1), seed=7)
    list(islice(run, 2000))
    with pytest.raises(AssertionError):
        assert mean_cost(Hasty(0.1), run) == pytest.approx(0.1, rel=1e-7)
    assert training_error(run.ledger()).value > 0.1  # and what the loop measured says so


def test_noise_is_given_up() -> None:
    """At the end of time, rows with turned labels weigh less, and the truth is found better."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(600, 5))
    truth = np.where((X > 0).sum(axis=1) > 2, 1, -1).astype(np.int8)
    turned = generator.random(600) < 0.15
    signs = np.where(turned, -truth, truth)

    def learned(rules: Brown | AdaBoost) -> tuple[float, float]:
        run = loop.Run(make_sample(X, signs), Stump(), rules)
        list(islice(run, 100))
        weights = rules.request(run.state).weights[:, 0]
        false = run.margins[:, 0] * signs * truth <= 0
        return float(weights[turned].sum() / weights.sum()), float(false.mean())

    (mine, false), (theirs, extra) = learned(Brown(0.3)), learned(AdaBoost())
    assert mine < theirs
    assert false < extra / 2


def some_round(seed: int, *, abstain: bool = False) -> Clock:
    """Rows at random heights, and a rule that is right on somewhat more than half of the weight."""
    generator = np.random.default_rng(seed)
    rows = int(generator.integers(2, 60))
    total = float(generator.uniform(0.1, 20))
    remaining = float(generator.uniform(0.001, 1) * total)
    heights = (
        remaining + generator.normal(size=rows) * generator.choice([0.0, 0.3, 1.0]) * total**0.5
    )
    masses = generator.integers(1, 5, size=rows).astype(float) if seed % 2 else np.ones(1)
    right = generator.choice(np.array([-1.0, 0.0, 1.0] if abstain else [-1.0, 1.0]), size=rows)
    right[0] = 1.0
    clock = Clock(heights, masses, right, total, remaining)
    return (
        clock
        if clock.edge_after(0.0, 0.0) > 0
        else Clock(heights, masses, -right, total, remaining)
    )


@given(st.integers(0, 10**6), st.booleans())
@examples(300)
def test_both_equations_hold(seed: int, abstain: bool) -> None:
    clock = some_round(seed, abstain=abstain)
    if clock.edge_after(0.0, 0.0) <= 1e-9:
        return
    vote, time = clock.solve()
    assert vote > 0
    assert 0 <= time <= clock.remaining
    cost = clock.cost(clock.moved(vote, time))
    assert cost == pytest.approx(clock.before, rel=1e-9)
    if time < clock.remaining * (1 - 1e-12):
        assert clock.edge_after(vote, time) == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("seed", range(12))
def test_time_passes_by_the_differential_equation(seed: int) -> None:
    """dt/dv is the edge: Freund's own definition, followed to the vote that was found."""
    clock = some_round(seed)
    vote, time = clock.solve()
    path = solve_ivp(
        lambda v, t: clock.edge_after(v, float(t[0])), (0, vote), [0.0], rtol=1e-10, atol=1e-12
    )
    assert path.y[0, -1] == pytest.approx(time, rel=1e-6, abs=1e-9)
    assert (np.diff(path.y[0]) > -1e-9).all()  # and on the way there was an edge all the time


def test_a_rule_that_is_always_right_uses_all_time_up() -> None:
    clock = Clock(np.array([0.5, 1.0]), np.ones(1), np.ones(2), total=1.0, remaining=0.5)
    assert clock.solve() == pytest.approx((0.5, 0.5), abs=1e-9)
