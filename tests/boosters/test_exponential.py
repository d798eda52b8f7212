"""Weights of cells: in range, whole, and proportional to base·exp(-margin)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pacboost.boosters.booster import Measured, Moved, whole_values
from pacboost.boosters.newton import Gentle
from pacboost.numerics.exact import FRESH_TOTAL, MOST_TOTAL, VOTE_UNIT


def normaliser(weights: np.ndarray, signs: np.ndarray, added: np.ndarray) -> float:
    return float((weights * np.exp(-signs * added)).sum() / weights.sum())


@given(
    st.integers(0, 10**6),
    st.integers(1, 60),
    st.integers(1, 4),
    st.sampled_from([0.01, 1.0, 18.0]),
    st.sampled_from([0, 5, 300]),
)
@example(3318, 1, 3, 0.01, 300)  # one row of a weight so small that its inverse overflows
@settings(max_examples=60, deadline=None)
def test_weights_follow_the_margins_and_stay_in_range(
    seed: int, rows: int, outputs: int, step: float, spread: int
) -> None:
    """Whatever the cells say, up to the largest votes, and for base weights of any size."""
    generator = np.random.default_rng(seed)
    rules = Gentle()
    signs = generator.choice(np.array([-1, 1], dtype=np.int8), (rows, outputs))
    base = np.maximum(10.0 ** -generator.uniform(0, spread, rows), 1e-307) if spread else np.ones(1)
    state = rules.init(signs, base)
    one = state.log_base.size == 1
    logs = state.log_base if one else state.log_base.reshape(signs.shape)
    for _ in range(8):
        request = rules.request(state)
        assert request.weight == request.pull == int(request.weights.sum())
        assert FRESH_TOTAL / 2 < request.weight <= MOST_TOTAL
        assert request.weights.min() >= 1
        cells = generator.integers(5, size=rows).astype(np.uint8)
        values = whole_values(generator.uniform(-step, step, (5, outputs)))
        z = normaliser(request.weights, signs, values[cells])
        state = rules.move(state, Moved(cells, values, z))
        exact = logs - state.margins
        wanted = np.exp(exact - exact.max())
        got = state.weights / state.weights.max()
        assert got == pytest.approx(wanted, abs=2.0 / state.weights.max() + 1e-11)


def test_a_false_normaliser_does_not_push_the_total_out_of_range() -> None:
    """It only says which scale to try first."""
    signs = np.ones((50, 2), dtype=np.int8)
    rules = Gentle()
    cells, values = np.zeros(50, dtype=np.uint8), whole_values(np.array([[3.0, -2.0]]))
    for false in (1e-300, 1e-5, 1.0, 1e5, 1e300):
        state = rules.move(rules.init(signs, np.ones(1)), Moved(cells, values, false))
        assert FRESH_TOTAL / 2 < state.total <= MOST_TOTAL
        ratio = state.weights[0, 1] / state.weights[0, 0]
        assert ratio == pytest.approx(math.exp(5), rel=1e-9)


def test_resume_reaches_the_same_state() -> None:
    generator = np.random.default_rng(1)
    signs = generator.choice(np.array([-1, 1], dtype=np.int8), (40, 3))
    base = generator.uniform(1, 3, 40)
    rules = Gentle()
    state = rules.init(signs, base)
    for _ in range(20):
        cells = generator.integers(4, size=40).astype(np.uint8)
        values = whole_values(generator.uniform(-1, 1, (4, 3)))
        z = normaliser(state.weights, signs, values[cells])
        state = rules.move(state, Moved(cells, values, z))
    again = rules.resume(rules.init(signs, base), state.margins, [1.0] * 20, rules.memory(state))
    assert (again.weights == state.weights).all()
    assert (again.total, again.log_scale) == (state.total, state.log_scale)
    assert rules.votes(again).tolist() == [1.0] * 20


def test_values_are_exact_multiples() -> None:
    values = whole_values(np.random.default_rng(0).uniform(-20, 20, (100, 3)))
    assert (values / VOTE_UNIT == np.rint(values / VOTE_UNIT)).all()


def test_a_booster_of_cells_has_no_vote_for_rules() -> None:
    state = Gentle().init(np.ones((4, 1), dtype=np.int8), np.ones(1))
    with pytest.raises(NotImplementedError):
        Gentle().step(state, np.ones((4, 1), dtype=np.int8), Measured(4, 1))
