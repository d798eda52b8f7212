"""Least absolute deviations: cells say their median, which nothing else betters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.boosters.regression import Absolute
from pacboost.errors import ParameterError
from pacboost.learners.tree import Tree
from pacboost.numerics.quantiles import quantile_of
from pacboost.training.run.loop import Run
from pacboost.training.run.scores import cell_sums
from tests.boosters.test_square import Numbers, rounds_of, sample_of, world

SMALL = st.lists(st.tuples(st.floats(-100, 100), st.integers(1, 9)), min_size=1, max_size=15)


def median(numbers: Numbers, weights: NDArray[Any]) -> float:
    return quantile_of(numbers, weights, 0.5)


def cost(residuals: Numbers, weights: NDArray[Any], value: float) -> float:
    return float((weights * np.abs(residuals - value)).sum())


@given(SMALL)
def test_median_costs_least(rows: list[tuple[float, int]]) -> None:
    numbers, weights = np.array([r for r, _ in rows]), np.array([w for _, w in rows])
    found = cost(numbers, weights, median(numbers, weights))
    best = min(cost(numbers, weights, number) for number in numbers)
    # a slack of a unit a row is for weights of 2^52/rows units, so these are raised first
    raised = cost(numbers, weights, median(numbers, weights * 10**9))
    assert raised <= best * (1 + 1e-12) + 1e-12
    assert found <= best + len(rows) * np.ptp(numbers) + 1e-12


@given(SMALL)
def test_a_weight_is_a_number_of_rows(rows: list[tuple[float, int]]) -> None:
    numbers, weights = np.array([r for r, _ in rows]), np.array([w for _, w in rows])
    assert median(numbers, weights * 10**9) == np.median(np.repeat(numbers, weights))


@given(SMALL)
def test_median_of_opposites_is_the_opposite(rows: list[tuple[float, int]]) -> None:
    numbers, weights = np.array([r for r, _ in rows]), np.array([w for _, w in rows]) * 10**9
    assert median(-numbers, weights) == -median(numbers, weights)


def test_weights_off_by_a_unit_are_halves_all_the_same() -> None:
    assert median(np.array([1.0, 2.0, 4.0]), np.array([2001, 1000, 1000])) == 1.5
    assert median(np.array([1.0, 2.0, 4.0]), np.array([1999, 1000, 1000])) == 1.5


def test_the_lightest_rows_have_a_median_too() -> None:
    assert median(np.arange(5.0), np.ones(5, dtype=np.int64)) == 2.0


@pytest.mark.parametrize("rate", [0.0, 2.0, np.nan])
def test_a_rate_outside_zero_to_one_is_refused(rate: float) -> None:
    with pytest.raises(ParameterError, match="learning_rate is"):
        Absolute(learning_rate=rate)


def test_rows_ask_for_signs_and_met_ones_for_nothing() -> None:
    y = np.array([2.0, -3.0, 0.0, 1e-30])
    rules = Absolute()
    state = rules.init(np.ones((4, 1), dtype=np.int8), np.ones(1), y)
    request = rules.request(state)
    assert request.signed
    assert request.pulls[:, 0].tolist() == [1, -1, 0, 0]
    assert request.pull == request.weights[:2].sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_shrunk_medians_of_the_cells(weighted: bool) -> None:
    generator = np.random.default_rng(0)
    y = generator.normal(size=301) * 50
    base = generator.integers(1, 4, size=301) / 3.0 if weighted else np.ones(1)
    counts = np.rint(base * 3).astype(int) if weighted else np.ones(301, dtype=int)
    rules = Absolute(learning_rate=0.25)
    state = rules.init(np.ones((301, 1), dtype=np.int8), base, y)
    cells = generator.integers(0, 5, size=301).astype(np.uint8)
    cells[cells == 3] = 2  # cell 3 is empty
    sums, _ = cell_sums(rules.request(state), cells, 5)
    found = rules.values(state, sums, cells)[:, 0]
    for cell in (0, 1, 2, 4):
        own = np.repeat(y[cells == cell], counts[cells == cell])
        assert found[cell] == pytest.approx(0.25 * np.median(own), rel=1e-12)
    assert found[3] == 0


@pytest.mark.parametrize("rate", [0.1, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_leaf_is_best_and_the_loss_never_rises(rate: float, weighted: bool) -> None:
    X, y = world(300)
    base = np.random.default_rng(3).uniform(0.1, 1, size=y.size) if weighted else None
    own = np.ones(y.size) if base is None else base
    sample = sample_of(X, y, base)
    run = Run(sample, Tree(max_leaves=6), Absolute(learning_rate=rate))
    rounds_of(run, 15)
    assert len(run.done) == 15
    scores = np.zeros(y.size)
    for number, done in enumerate(run.done):
        cells, residuals = done.hypothesis.cells(sample), y - scores
        values = done.hypothesis.values[:, 0] / (1.0 if number == 0 else rate)
        for cell, value in enumerate(values):
            rows = cells == cell
            best = min(cost(residuals[rows], own[rows], r) for r in residuals[rows])
            assert cost(residuals[rows], own[rows], value) <= best * (1 + 1e-9)
        before = np.average(np.abs(residuals), weights=own)
        scores += done.hypothesis.values[cells, 0]
        after = np.average(np.abs(y - scores), weights=own)
        assert after <= before * (1 + 1e-12)
        assert done.entry.training_error == pytest.approx(after, rel=1e-12)


def test_an_outlier_does_not_move_the_others() -> None:
    X, y = world(300)
    spoilt = y.copy()
    spoilt[y.argmax()] = 1e6
    for targets in (y, spoilt):
        run = Run(sample_of(X, targets), Tree(max_leaves=4), Absolute(learning_rate=0.3))
        rounds_of(run, 1)
        assert run.done[0].hypothesis.values[0, 0] == pytest.approx(np.median(y))
