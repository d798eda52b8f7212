"""Least squares: sums and values are those of NumPy, and the loss falls as the identity says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.boosters.booster import Moved
from pacboost.boosters.regression import Square
from pacboost.boosters.residual import ALL_MET, ResidualState, unit_of
from pacboost.errors import ParameterError
from pacboost.learners.tree import Tree
from pacboost.numerics.exact import FRESH_TOTAL, MOST_TOTAL
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.training.run.loop import Run
from pacboost.training.run.scores import cell_sums

Numbers = NDArray[np.float64]
WIDE = st.floats(1e-100, 1e100) | st.floats(-1e100, -1e-100) | st.just(0.0)
"""What the door lets in."""


def started(targets: Numbers, base: Numbers | None = None, **options: Any) -> ResidualState:
    signs = np.ones((targets.size, 1), dtype=np.int8)
    return Square(**options).init(signs, np.ones(1) if base is None else base, targets)


def world(rows: int = 400, seed: int = 0) -> tuple[Numbers, Numbers]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 3))
    return X, 10 * np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + generator.normal(size=rows)


def sample_of(X: Numbers, y: Numbers, base: Numbers | None = None) -> Sample:
    table = ArrayTable(X)
    signs = np.ones((y.size, 1), dtype=np.int8)
    own = np.ones(1) if base is None else base
    return Sample(table, signs, own, fit_bins(table, 255, base), targets=y)


def rounds_of(run: Run, count: int) -> None:
    for _, _ in zip(range(count), run, strict=False):
        pass


def test_needs_targets() -> None:
    with pytest.raises(ParameterError, match="square is for regression and needs numbers"):
        Square().init(np.ones((3, 1), dtype=np.int8), np.ones(1))


@pytest.mark.parametrize("rate", [0.0, -1.0, 1.5, np.nan, np.inf])
def test_a_rate_outside_zero_to_one_is_refused(rate: float) -> None:
    with pytest.raises(ParameterError, match=r"learning_rate is .*it must lie in \(0, 1\]"):
        Square(learning_rate=rate)


@pytest.mark.parametrize("l2", [-1.0, np.nan, np.inf])
def test_a_penalty_below_zero_is_refused(l2: float) -> None:
    with pytest.raises(ParameterError, match="l2 is"):
        Square(l2=l2)


def test_pulls_over_weights_are_residuals() -> None:
    y = np.random.default_rng(0).normal(size=500) * 1e5
    base = np.random.default_rng(1).uniform(0.1, 1, size=500)
    rules, state = Square(), started(y, base)
    request = rules.request(state)
    np.testing.assert_allclose(request.pulls / request.weights / state.scale, y[:, None], rtol=1e-9)
    np.testing.assert_allclose(request.weights[:, 0] / request.weight, base / base.sum())
    assert request.pull == np.abs(request.pulls).sum()


@given(
    st.lists(WIDE, min_size=1, max_size=30),
    st.lists(st.floats(1e-300, 1.0), min_size=30, max_size=30),
)
def test_sums_of_whole_numbers_stay_exact(targets: list[float], base: list[float]) -> None:
    y = np.array(targets)
    request = Square().request(started(y, np.array(base[: y.size]) if y.size > 1 else None))
    assert (request.weights >= 1).all()
    assert 0 < request.weight <= FRESH_TOTAL + y.size
    assert int(np.abs(request.pulls).sum()) <= request.pull < MOST_TOTAL


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("l2", [0.0, 3.0])
def test_values_are_shrunk_means_of_residuals(weighted: bool, l2: float) -> None:
    generator = np.random.default_rng(2)
    y = generator.normal(size=300) * 1000
    base = generator.uniform(0.1, 1, size=300) if weighted else None
    own = np.ones(300) if base is None else base
    rules = Square(learning_rate=0.3, l2=l2)
    state = started(y, base)
    cells = generator.integers(0, 4, size=300).astype(np.uint8)
    sums, _ = cell_sums(rules.request(state), cells, 4)
    weight, pull = (np.bincount(cells, part, 4) for part in (own, own * y))
    expected = 0.3 * pull / (weight + l2 * own.mean())
    found = rules.values(state, sums, cells)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-9)
    assert np.array_equal(found, np.rint(found / state.unit) * state.unit)


def test_first_constant_is_the_weighted_mean_not_shrunk() -> None:
    y, base = np.array([1.0, 2.0, 6.0]), np.array([1.0, 0.5, 0.5])
    rules, state = Square(learning_rate=0.1, l2=5.0), started(y, base)
    cells = np.zeros(3, dtype=np.uint8)
    sums, _ = cell_sums(rules.request(state), cells, 1)
    assert rules.values(state, sums, cells)[0, 0] == pytest.approx(2.5, rel=1e-12)


@given(st.lists(WIDE, min_size=2, max_size=20), st.randoms())
def test_scores_add_up_alike_in_any_order(values: list[float], chance: Any) -> None:
    unit = unit_of(np.array(values))
    whole = [float(np.rint(value / unit) * unit) for value in values]
    shuffled = chance.sample(whole, len(whole))
    assert sum(whole) == sum(shuffled)


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_loss_falls_by_what_the_identity_says(rate: float, weighted: bool) -> None:
    X, y = world()
    base = np.random.default_rng(3).uniform(0.1, 1, size=y.size) if weighted else None
    own = np.ones(y.size) if base is None else base
    sample = sample_of(X, y, base)
    run = Run(sample, Tree(max_leaves=5), Square(learning_rate=rate))
    rounds_of(run, 12)
    scores = np.zeros(y.size)
    for number, done in enumerate(run.done):
        cells = done.hypothesis.cells(sample)
        residuals = y - scores
        before = np.average(residuals**2, weights=own)
        weight = np.bincount(cells, own)
        means = np.bincount(cells, own * residuals) / weight
        used = 1.0 if number == 0 else rate
        fall = used * (2 - used) * (weight * means**2).sum() / own.sum()
        scores += done.hypothesis.values[cells, 0]
        after = np.average((y - scores) ** 2, weights=own)
        assert after == pytest.approx(before - fall, rel=1e-9)
        assert after <= before
        assert done.entry.training_error == pytest.approx(after, rel=1e-12)
        assert done.entry.normaliser == pytest.approx(after / before, rel=1e-9)


def brute_force(X: Numbers, y: Numbers, own: Numbers) -> float:
    """The least squared error that a single split can leave."""
    best = np.inf
    for j in range(X.shape[1]):
        for cut in np.unique(X[:, j])[:-1]:
            cost = 0.0
            for side in (X[:, j] <= cut, X[:, j] > cut):
                mean = np.average(y[side], weights=own[side])
                cost += float((own[side] * (y[side] - mean) ** 2).sum())
            best = min(best, cost)
    return best / float(own.sum())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_first_tree_is_the_best_split_there_is(seed: int, weighted: bool) -> None:
    X, y = world(60, seed)
    base = np.random.default_rng(seed).uniform(0.1, 1, size=60) if weighted else None
    tree = Tree(max_leaves=2, min_leaf_rows=0, min_leaf_weight=0)
    run = Run(sample_of(X, y, base), tree, Square())
    rounds_of(run, 2)
    left = brute_force(X, y, np.ones(60) if base is None else base)
    assert run.done[-1].entry.training_error == pytest.approx(left, rel=1e-9)


def test_goes_on_from_scores_alone() -> None:
    X, y = world(50)
    rules, state = Square(learning_rate=0.5), started(y)
    cells = (X[:, 0] > 0).astype(np.uint8)
    for _ in range(3):
        sums, _ = cell_sums(rules.request(state), cells, 2)
        state = rules.move(state, Moved(cells, rules.values(state, sums, cells), 1.0))
    fresh = rules.resume(started(y), state.margins, [1.0] * 3, rules.memory(state))
    assert np.array_equal(fresh.pulls, state.pulls)
    assert (fresh.scale, fresh.pull, fresh.largest) == (state.scale, state.pull, state.largest)
    assert rules.votes(fresh).tolist() == [1.0] * 3


def test_stops_when_every_target_is_met() -> None:
    y = np.full(5, 0.3)
    rules, state = Square(), started(y)
    assert rules.stop(state) is None
    moved = Moved(np.zeros(5, dtype=np.uint8), np.array([[0.3]]), 1.0)
    state = rules.move(state, moved)
    assert rules.stop(state) == ALL_MET
    assert rules.request(state).pull == 1
