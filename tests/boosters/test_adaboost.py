"""AdaBoost's arithmetic alone, without data or learner."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import Measured
from pacboost.errors import ParameterError
from pacboost.numerics.exact import FRESH_TOTAL, MOST_TOTAL, MOST_VOTE, VOTE_UNIT


def ones(rows: int, outputs: int) -> np.ndarray:
    """Signs, which the steps of rules never look at."""
    return np.ones((rows, outputs), dtype=np.int8)


def agreement(seed: int, rows: int, wrong: float) -> np.ndarray:
    """Random agreement with at least one wrong and one right row."""
    agree = np.where(np.random.default_rng(seed).random(rows) < wrong, -1, 1).astype(np.int8)
    agree[0], agree[-1] = -1, 1
    return agree[:, None]


def measured(weights: np.ndarray, agree: np.ndarray) -> tuple[np.ndarray, Measured]:
    """What the loop would measure; a rule that is mostly wrong is turned round."""
    total, wrong = int(weights.sum()), int(weights[agree < 0].sum())
    if 2 * wrong > total:
        return -agree, Measured(total, total - wrong)
    return agree, Measured(total, wrong)


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.floats(0.01, 0.6)), min_size=1, max_size=30),
    st.integers(2, 200),
    st.sampled_from([0.1, 1.0, 2.5, 1000.0]),
    st.sampled_from([0, 5, 300]),
)
@settings(max_examples=200, deadline=None)
def test_weights_follow_the_margins_and_stay_in_range(
    rounds: list[tuple[int, float]], rows: int, rate: float, spread: int
) -> None:
    """Also for learning rates far above 1, and base weights that differ by 300 orders."""
    rules = AdaBoost(rate)
    exponents = np.random.default_rng(rows).uniform(-spread, 0, size=rows)
    base = np.maximum(10.0**exponents, 1e-307) if spread else np.ones(1)
    state = rules.init(ones(rows, 1), base)
    logs = np.broadcast_to(state.log_base, (rows,))[:, None]
    for seed, share in rounds:
        request = rules.request(state)
        assert request.signed
        assert request.pulls is state.signs
        weights = request.weights
        total = int(weights.sum())
        assert total == request.weight == request.pull
        assert FRESH_TOTAL / 2 < total <= MOST_TOTAL
        assert weights.min() >= 1
        agree = agreement(seed, rows, share)
        agree, found = measured(weights, agree)
        state = rules.step(state, agree, found)
        exact = logs - state.margins
        wanted = np.exp(exact - exact.max())
        got = state.weights / state.weights.max()
        assert got == pytest.approx(wanted, abs=2.0 / state.weights.max() + 1e-11)


def test_votes_are_exact_multiples_so_that_margins_add_up_in_any_order() -> None:
    rules = AdaBoost(learning_rate=0.1)
    state = rules.init(ones(50, 1), np.ones(1))
    agrees = [agreement(seed, 50, 0.3) for seed in range(20)]
    for agree in agrees:
        state = rules.step(state, agree, Measured(1000, 350))
    votes = rules.votes(state)
    assert (votes / VOTE_UNIT == np.rint(votes / VOTE_UNIT)).all()
    backwards = sum(v * a for v, a in zip(votes[::-1], agrees[::-1], strict=True))
    assert (state.margins == backwards).all()


def test_about_half_of_the_weights_change_in_a_round() -> None:
    """What the incremental histograms live on: one side keeps its whole-number weights."""
    rules = AdaBoost()
    state = rules.init(ones(1000, 1), np.ones(1))
    kept = []
    for seed in range(40):
        before = state.weights.copy()
        agree = agreement(seed, 1000, 0.45)
        agree, found = measured(before, agree)
        state = rules.step(state, agree, found)
        kept.append(float(np.mean(state.weights == before)))
    assert np.mean(kept) > 0.4


def test_resume_reaches_the_same_state() -> None:
    rules = AdaBoost()
    base = np.linspace(1, 3, 100)
    state = rules.init(ones(100, 1), base)
    for seed in range(25):
        agree = agreement(seed, 100, 0.4)
        agree, found = measured(state.weights, agree)
        state = rules.step(state, agree, found)
    again = rules.init(ones(100, 1), base)
    memory = rules.memory(state)
    again = rules.resume(again, state.margins, rules.votes(state).tolist(), memory)
    assert (again.weights == state.weights).all()
    assert (again.total, again.log_scale, again.total_vote) == (
        state.total,
        state.log_scale,
        state.total_vote,
    )


def test_several_columns_are_weighed_alike() -> None:
    rules = AdaBoost()
    one = rules.init(ones(6, 1), np.ones(1))
    two = rules.init(ones(3, 2), np.ones(1))
    agree = agreement(1, 6, 0.4)
    one = rules.step(one, agree, Measured(10, 4))
    two = rules.step(two, agree.reshape(3, 2), Measured(10, 4))
    assert (one.weights.reshape(3, 2) == two.weights).all()


def test_votes_of_extreme_edges_are_finite() -> None:
    assert AdaBoost().vote(Measured(10, 0)) == pytest.approx(MOST_VOTE, abs=1e-9)
    assert AdaBoost().vote(Measured(10, 5)) == 0
    assert AdaBoost(max_vote=0.5).vote(Measured(1000, 5)) == pytest.approx(0.5)
    one_unit = AdaBoost().vote(Measured(2**52, 1))
    assert one_unit == pytest.approx(0.5 * math.log(2**52 - 1), abs=1e-11)


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan, math.inf])
def test_bad_learning_rates(rate: float) -> None:
    with pytest.raises(ParameterError, match="learning_rate"):
        AdaBoost(rate)


def test_bad_cap() -> None:
    with pytest.raises(ParameterError, match="max_vote"):
        AdaBoost(1.0, 0.0)
