"""Newton's votes: held against their duals, and against a general solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from pacboost.numerics.ascent import Climb
from pacboost.numerics.soft_margin import Columns, Floats, edges_of
from tests.numerics.margin_programs import largest_margin
from tests.numerics.test_sifting import drawn, shares, solved

seeds = st.integers(0, 2**32 - 1)


def entropy(d: Floats, base: Floats) -> float:
    some = d > 0
    return float((d[some] * np.log(d[some] / base[some])).sum())


def one_of(rules: int) -> Floats:
    return np.asarray(np.eye(rules)[0])


@given(st.integers(1, 15), st.integers(2, 80), shares, st.sampled_from([1.0, 20.0, 500.0]), seeds)
@example(3, 64, 0.453125, 500.0, 106708891)
@example(12, 32, 0.25, 500.0, 1262283585)
@example(14, 45, 0.5826468852203351, 500.0, 1769295346)
@example(9, 21, 0.25, 500.0, 1311329259)
@example(10, 4, 0.75, 500.0, 1937087658)
@example(15, 27, 0.4333890877622124, 500.0, 563273444)
@example(4, 36, 0.17252239413075998, 500.0, 2720274405)
@settings(max_examples=60, deadline=None)
def test_regularised_votes_meet_their_weights(
    rules: int, kinds: int, share: float, eta: float, seed: int
) -> None:
    """Largest edge + KL/η of the weights is what the votes prove nothing is below."""
    columns, base = drawn(rules, kinds, seed)
    climb = Climb(columns, base, share, 1e-6)
    votes = climb.regularised(one_of(rules), eta)
    assert (votes >= 0).all()
    assert votes.sum() == pytest.approx(1, abs=1e-10)
    here = climb.at(votes, eta)
    above = float(edges_of(columns, here.weights).max()) + entropy(here.weights, base) / eta
    assert above - here.value / eta == pytest.approx(0, abs=2e-6)


def projection(columns: Columns, base: Floats, share: float, target: float) -> float | None:
    """The least KL(d ‖ base) by a general solver, where that comes to an end."""
    cap = np.ones(base.size) if share <= 0 else np.minimum(base / share, 1)
    limits: list[Any] = [
        {"type": "eq", "fun": lambda d: d.sum() - 1},
        {"type": "ineq", "fun": lambda d: target - columns @ d},
    ]
    general: Any = minimize
    found = general(
        lambda d: entropy(np.maximum(d, 1e-300), base),
        solved(columns, base, share).weights,
        jac=lambda d: np.log(np.maximum(d, 1e-300) / base) + 1,
        bounds=[(1e-9, float(most)) for most in cap],
        constraints=limits,
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-12},
    )
    return float(found.fun) if found.success else None


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5])
def test_a_general_solver_finds_the_same_projection(share: float) -> None:
    compared = refused = 0
    for seed in range(5):
        columns, base = drawn(4, 12, seed)
        climb = Climb(columns, base, share, 1e-8)
        for target in (0.3, 0.1, 0.0, -0.2):
            votes, strength = climb.projected(one_of(4), 0.0, target)
            if climb.soft_margin(votes) >= target:
                refused += 1
                assert largest_margin(columns, base, share) >= target - 1e-9
                continue
            d = climb.at(votes, strength).weights
            assert (edges_of(columns, d) <= target + 1e-7).all()
            least = projection(columns, base, share, target)
            if least is not None:
                compared += 1
                assert entropy(d, base) == pytest.approx(least, abs=1e-5)
    assert compared >= 5
    assert refused >= 1


@given(st.integers(1, 12), st.integers(2, 80), shares, st.floats(-0.5, 0.9), seeds)
@settings(max_examples=60, deadline=None)
def test_a_projection_or_the_proof_that_there_is_none(
    rules: int, kinds: int, share: float, target: float, seed: int
) -> None:
    columns, base = drawn(rules, kinds, seed)
    climb = Climb(columns, base, share, 1e-6)
    votes, strength = climb.projected(one_of(rules), 0.0, target)
    if climb.soft_margin(votes) >= target:
        return  # under any weights some rule has at least this edge
    here = climb.at(votes, strength)
    edges = edges_of(columns, here.weights)
    assert float(edges.max()) <= target + 1e-5
    # what the multipliers prove nothing is below, which is what the weights come to
    proven = here.value - target * strength
    assert entropy(here.weights, base) == pytest.approx(proven, abs=1e-4 * max(1, strength))


def test_fewer_steps_are_not_enough() -> None:
    """The first quadratic model alone misses: it takes all of Newton's way."""
    columns, base = drawn(15, 80, seed=1)
    climb = Climb(columns, base, 0.1, 1e-6)
    coarse = Climb(columns, base, 0.1, 0.3).regularised(one_of(15), 500.0)
    edges = edges_of(columns, climb.at(coarse, 500.0).weights)
    with pytest.raises(AssertionError):
        assert float(edges.max()) - float((edges * coarse).sum()) <= 1e-6
