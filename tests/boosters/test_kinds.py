"""Kinds of rows hold all that there is to know of rows, and the factor is the best."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.boosters.kinds import best_factor, one_kind, split_by_rule, weigh_rows

seeds = st.integers(0, 2**32 - 1)


@given(st.integers(1, 60), st.integers(1, 3), st.integers(1, 8), st.booleans(), seeds)
@settings(max_examples=80, deadline=None)
def test_rows_of_a_kind_are_those_that_no_rule_tells_apart(
    rows: int, outputs: int, rules: int, weighted: bool, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    signs = generator.choice(np.array([-1, 1], dtype=np.int8), size=(rows, outputs))
    base = generator.uniform(0.1, 9, rows) if weighted else np.ones(1)
    state = one_kind(signs, base)
    heavy = state.weights.copy()
    seen = generator.integers(-1, 2, size=(rules, rows, outputs)).astype(np.int8)
    for agree in seen:
        state = split_by_rule(state, agree)
    lines = seen.reshape(rules, -1)
    assert np.array_equal(state.columns[:, state.kinds], lines)
    assert state.base.size == len(np.unique(lines.T, axis=0))
    wanted = np.repeat(base if weighted else np.ones(rows), outputs)
    first = state.first / state.first.sum()
    assert first == pytest.approx(wanted / wanted.sum(), rel=1e-12)
    assert np.bincount(state.kinds, first) == pytest.approx(state.base, rel=1e-12)
    assert state.votes.tolist() == [1.0] + [0.0] * (rules - 1)
    weigh_rows(state)  # splitting kinds moves no weight
    assert state.weights == pytest.approx(heavy, rel=1e-10)


def test_no_row_weighs_nothing() -> None:
    state = split_by_rule(
        one_kind(np.ones((3, 1), dtype=np.int8), np.ones(1)),
        np.array([[1], [-1], [1]], dtype=np.int8),
    )
    object.__setattr__(state, "shares", np.array([1.0, 0.0]))
    weigh_rows(state)
    assert state.weights[:, 0].tolist() == [1, 2**52, 1]


def test_base_weights_of_any_size_are_met() -> None:
    base = np.array([1e-300, 1.0, 3.0, 1e9])
    weights = one_kind(np.ones((4, 1), dtype=np.int8), base).weights[:, 0]
    assert weights[0] == 1
    assert weights / weights.sum() == pytest.approx(base / base.sum(), abs=2**-50)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), seeds)
@settings(max_examples=60, deadline=None)
def test_a_row_of_weight_three_is_three_rows(times: list[int], seed: int) -> None:
    generator, rows = np.random.default_rng(seed), len(times)
    agree = generator.integers(-1, 2, size=(4, rows, 1)).astype(np.int8)
    signs = np.ones((rows, 1), dtype=np.int8)
    one, all_ = (
        one_kind(signs, np.array(times, dtype=float)),
        one_kind(signs.repeat(times, 0), np.ones(1)),
    )
    for column in agree:
        one, all_ = split_by_rule(one, column), split_by_rule(all_, column.repeat(times, 0))
    assert np.array_equal(one.base, all_.base)
    assert np.array_equal(one.columns, all_.columns)
    shares = generator.dirichlet(np.full(one.base.size, 0.1))
    for state in (one, all_):
        object.__setattr__(state, "shares", shares)
        weigh_rows(state)
    sums = np.add.reduceat(all_.weights[:, 0], np.cumsum([0, *times[:-1]]))
    assert np.array_equal(one.weights[:, 0], sums)


def hinge(factor: float, margins: np.ndarray, base: np.ndarray) -> float:
    return float((base * np.maximum(1 - factor * margins, 0)).sum())


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=30), seeds)
@settings(max_examples=150, deadline=None)
def test_no_other_factor_costs_less(numbers: list[int], seed: int) -> None:
    """The cost is convex and piecewise straight, with corners where some margin comes to 1."""
    margins = np.array(numbers) / 20
    base = np.random.default_rng(seed).dirichlet(np.ones(margins.size))
    factor = best_factor(margins, base)
    corners = [1 / m for m in margins if m > 0]
    if float((base * margins).sum()) > 0:
        least = min(hinge(corner, margins, base) for corner in corners)
        assert hinge(factor, margins, base) == pytest.approx(least, abs=1e-12)
    else:
        assert factor in [1.0, *corners]


def test_the_threshold_of_half_the_rows_costs_more() -> None:
    margins, base = np.array([-0.2, 0.1, 0.4, 0.8]), np.full(4, 0.25)
    least = hinge(best_factor(margins, base), margins, base)
    with pytest.raises(AssertionError):
        assert hinge(1 / 0.1, margins, base) == pytest.approx(least)


def test_factors_stay_where_scores_are_exact() -> None:
    assert best_factor(np.full(5, 1e-9), np.full(5, 0.2)) == 2**7
