"""The two equations of BrownBoost, against its differential equation and against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.special import erfc

from pacboost.boosters.brown import Clock


def some_round(seed: int, *, abstain: bool = False) -> Clock:
    """Rows at random heights, and a rule that is right on somewhat more than half of the weight."""
    generator = np.random.default_rng(seed)
    rows = int(generator.integers(2, 60))
    total = float(generator.uniform(0.1, 20))
    left = float(generator.uniform(0.001, 1) * total)
    heights = left + generator.normal(size=rows) * generator.choice([0.0, 0.3, 1.0]) * total**0.5
    masses = generator.integers(1, 5, size=rows).astype(float) if seed % 2 else np.ones(1)
    right = generator.choice(np.array([-1.0, 0.0, 1.0] if abstain else [-1.0, 1.0]), size=rows)
    right[0] = 1.0
    clock = Clock(heights, masses, right, total, left)
    return clock if clock.edge_after(0.0, 0.0) > 0 else Clock(heights, masses, -right, total, left)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=300, deadline=None)
def test_both_equations_hold(seed: int, abstain: bool) -> None:
    clock = some_round(seed, abstain=abstain)
    if clock.edge_after(0.0, 0.0) <= 1e-9:
        return
    vote, time = clock.solve()
    assert vote > 0
    assert 0 <= time <= clock.left
    cost = clock.cost(clock.moved(vote, time))
    assert cost == pytest.approx(clock.before, rel=1e-9)
    if time < clock.left * (1 - 1e-12):
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


@pytest.mark.parametrize("seed", range(6))
def test_time_of_a_vote_against_bisection(seed: int) -> None:
    clock = some_round(seed)
    root = math.sqrt(clock.total)
    for vote in (1e-3, 0.1, 1.0):
        low, high = -vote, vote
        for _ in range(60):
            middle = (low + high) / 2
            moved = clock.heights + vote * clock.right - middle
            more = (clock.masses * erfc(moved / root)).sum() > clock.before
            low, high = (low, middle) if more else (middle, high)
        for guess in (0.0, vote, -vote, 10.0):
            assert clock.time_of(vote, guess) == pytest.approx(low, abs=1e-9 * max(vote, 0.01))


def test_a_rule_that_is_always_right_uses_all_time_up() -> None:
    clock = Clock(np.array([0.5, 1.0]), np.ones(1), np.ones(2), total=1.0, left=0.5)
    assert clock.solve() == pytest.approx((0.5, 0.5), abs=1e-9)
