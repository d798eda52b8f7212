"""Newton's votes: held against their duals, and against a general solver."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from pacboost.numerics.ascent import Climb, best_votes
from pacboost.numerics.capped_entropy import evenest
from pacboost.numerics.soft_margin import Columns, edges_of
from tests.boosters.margins import largest_margin
from tests.examples import examples
from tests.numerics.votes import drawn_rules, shares, solved

Floats = NDArray[np.float64]
seeds = st.integers(0, 2**32 - 1)
caps = st.one_of(st.just(0.0), st.floats(0.01, 0.95))


def objective(d: Floats, heights: Floats, base: Floats) -> float:
    some = d > 0
    return float((d * heights).sum() + (d[some] * np.log(d[some] / base[some])).sum())


def problem(rows: int, spread: float, seed: int) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(seed)
    heights = spread * generator.normal(size=rows)
    heights[:: max(1, rows // 3)] = 0.0  # some ties
    return heights, generator.dirichlet(np.ones(rows)) * 0.9 + 0.1 / rows


def check_least(d: Floats, heights: Floats, base: Floats, share: float, seed: int) -> None:
    """Weights that are allowed all lie on a line to d; towards none of them does it get better."""
    generator = np.random.default_rng(seed)
    assert d.sum() == pytest.approx(1, abs=1e-12)
    if share > 0:
        assert (d <= base / share + 1e-15).all()
    here = objective(d, heights, base)
    for _ in range(10):
        other = generator.dirichlet(np.full(d.size, 0.3))
        if share > 0:
            over = (other - base).max() and float((other / base).max())
            part = min(1.0, (1 / share - 1) / max(over - 1, 1e-12))
            other = base + part * (other - base)
        for step in (1.0, 1e-2, 1e-4):
            assert objective(d + step * (other - d), heights, base) >= here - 1e-11 * max(
                1, abs(here)
            )


@given(st.integers(1, 60), st.sampled_from([0.01, 1.0, 30.0, 2000.0]), caps, seeds)
@examples(150)
def test_the_least_of_all_that_is_allowed(
    rows: int, spread: float, share: float, seed: int
) -> None:
    heights, base = problem(rows, spread, seed)
    result = evenest(heights, base, share)
    check_least(result.weights, heights, base, share, seed)
    scale = max(1.0, float(np.abs(heights).max()))
    assert result.value == pytest.approx(objective(result.weights, heights, base), abs=1e-9 * scale)
    near = evenest(heights, base, share, result.level + 0.3)
    assert near.value == pytest.approx(result.value, abs=1e-11 * scale)
    if share > 0:
        limited = result.weights[~result.free]
        assert limited == pytest.approx(base[~result.free] / share, rel=1e-9)


def test_weights_that_are_cut_and_not_raised_again_are_caught() -> None:
    heights, base = problem(30, 3.0, 5)
    free = evenest(heights, base, 0.0).weights
    cut = np.minimum(free, base / 0.5)
    with pytest.raises(AssertionError):
        check_least(cut / cut.sum(), heights, base, 0.5, 0)


@given(st.integers(2, 30), caps, seeds)
@examples(60)
def test_the_weights_are_the_gradient(rows: int, share: float, seed: int) -> None:
    heights, base = problem(rows, 2.0, seed)
    way = np.random.default_rng(seed + 1).normal(size=rows)
    slope = float((evenest(heights, base, share).weights * way).sum())
    after = evenest(heights + 1e-6 * way, base, share).value
    before = evenest(heights - 1e-6 * way, base, share).value
    assert (after - before) / 2e-6 == pytest.approx(slope, abs=1e-5)


@given(st.integers(2, 50), st.floats(0.02, 0.9), st.floats(1.0, 300.0), seeds)
@examples(60)
def test_smoothing_hides_no_more_than_the_entropy_there_is(
    rows: int, share: float, eta: float, seed: int
) -> None:
    """soft margin ≤ G(η·m)/η ≤ soft margin + ln(1/share)/η."""
    generator = np.random.default_rng(seed)
    margins, base = generator.uniform(-1, 1, rows), np.full(rows, 1 / rows)
    smooth = evenest(eta * margins, base, share).value / eta
    order, remaining, soft = np.argsort(margins), 1.0, 0.0
    for i in order:  # fill the worst rows up
        taken = min(remaining, base[i] / share)
        soft, remaining = soft + taken * margins[i], remaining - taken
    assert soft - 1e-9 <= smooth <= soft + math.log(1 / share) / eta + 1e-9


totals = st.sampled_from([None, 1.0, 40.0])


def program(size: int, seed: int, total: float | None) -> tuple[Floats, Floats, Floats]:
    generator = np.random.default_rng(seed)
    roots = generator.normal(size=(size, max(1, size - 1)))  # one direction is nearly flat
    start = generator.dirichlet(np.ones(size)) * (total or 1.0)
    start[generator.random(size) < 0.3] = 0.0
    if total is not None:
        start = start * total / start.sum() if start.any() else np.full(size, total / size)
    return roots @ roots.T + 1e-6 * np.eye(size), generator.normal(size=size), start


def least(H: Floats, f: Floats, total: float | None) -> float:
    """Try every support."""
    best = np.inf if total is not None else 0.0
    for count in range(1, f.size + 1):
        for support in combinations(range(f.size), count):
            rows = list(support)
            A, b = H[np.ix_(rows, rows)], f[rows]
            if total is not None:
                A = np.block([[A, np.ones((count, 1))], [np.ones((1, count)), np.zeros((1, 1))]])
                b = np.append(b, total)
            z = np.linalg.solve(A, b)[:count]
            if (z >= 0).all():
                best = min(best, float(0.5 * z @ H[np.ix_(rows, rows)] @ z - f[rows] @ z))
    return best


@given(st.integers(1, 6), totals, seeds)
@examples(100)
def test_no_support_does_better(size: int, total: float | None, seed: int) -> None:
    H, f, start = program(size, seed, total)
    z = best_votes(H, f, start, total)
    assert (z >= 0).all()
    if total is not None:
        assert z.sum() == pytest.approx(total, rel=1e-9)
    value = float(0.5 * z @ H @ z - f @ z)
    assert value == pytest.approx(least(H, f, total), rel=1e-7, abs=1e-7)


@given(st.integers(20, 80), totals, seeds)
@examples(25)
def test_the_conditions_of_the_best(size: int, total: float | None, seed: int) -> None:
    H, f, start = program(size, seed, total)
    z = best_votes(H, f, start, total)
    slope = f - H @ z
    price = 0.0 if total is None else float(slope[z > 0].mean())
    scale = 1e-6 * max(1.0, float(np.abs(H).max() * z.max()))
    assert slope[z > 0] == pytest.approx(price, abs=scale)
    assert (slope[z <= 0] <= price + scale).all()


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
@examples(60)
def test_regularised_votes_meet_their_weights(
    rules: int, kinds: int, share: float, eta: float, seed: int
) -> None:
    """Largest edge + KL/η of the weights is what the votes prove nothing is below."""
    columns, base = drawn_rules(rules, kinds, seed)
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
    result = general(
        lambda d: entropy(np.maximum(d, 1e-300), base),
        solved(columns, base, share).weights,
        jac=lambda d: np.log(np.maximum(d, 1e-300) / base) + 1,
        bounds=[(1e-9, float(limit)) for limit in cap],
        constraints=limits,
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-12},
    )
    return float(result.fun) if result.success else None


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5])
def test_a_general_solver_finds_the_same_projection(share: float) -> None:
    compared = refused = 0
    for seed in range(5):
        columns, base = drawn_rules(4, 12, seed)
        climb = Climb(columns, base, share, 1e-8)
        for target in (0.3, 0.1, 0.0, -0.2):
            votes, strength = climb.projected(one_of(4), 0.0, target)
            if climb.soft_margin(votes) >= target:
                refused += 1
                assert largest_margin(columns, base, share) >= target - 1e-9
                continue
            d = climb.at(votes, strength).weights
            assert (edges_of(columns, d) <= target + 1e-7).all()
            smallest = projection(columns, base, share, target)
            if smallest is not None:
                compared += 1
                assert entropy(d, base) == pytest.approx(smallest, abs=1e-5)
    assert compared >= 5
    assert refused >= 1


@given(st.integers(1, 12), st.integers(2, 80), shares, st.floats(-0.5, 0.9), seeds)
@examples(60)
def test_a_projection_or_the_proof_that_there_is_none(
    rules: int, kinds: int, share: float, target: float, seed: int
) -> None:
    columns, base = drawn_rules(rules, kinds, seed)
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
    columns, base = drawn_rules(15, 80, seed=1)
    climb = Climb(columns, base, 0.1, 1e-6)
    coarse = Climb(columns, base, 0.1, 0.3).regularised(one_of(15), 500.0)
    edges = edges_of(columns, climb.at(coarse, 500.0).weights)
    with pytest.raises(AssertionError):
        assert float(edges.max()) - float((edges * coarse).sum()) <= 1e-6
