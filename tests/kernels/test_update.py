"""Weights after a round: the rounded exponential, and what is done with it."""

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pacboost.boosters.booster import Moved
from pacboost.boosters.log_link import exponential
from pacboost.boosters.losses.absolute import Absolute
from pacboost.boosters.losses.huber import Huber
from pacboost.boosters.losses.quantile import Quantile
from pacboost.boosters.losses.square import Square
from pacboost.boosters.residual import Residual, ResidualState
from pacboost.kernels import team
from pacboost.kernels.arrays import Bytes, Floats, Signs, Wholes
from pacboost.kernels.native import native
from pacboost.kernels.threads import using
from pacboost.numerics.exact import MAX_TOTAL, VOTE_UNIT, round_vote
from tests.examples import examples
from tests.grids import each_value
from tests.kernels import naive
from tests.kernels.naive import summed

LARGEST = math.log(MAX_TOTAL)
RELATIVE = 2.0**-52
"""How far the exponential may be off before it is rounded, relative to itself.

In units of 2**-53, for a reduced argument r > 0: the last addition rounds by 1, the product in it
and r itself by 1/4 each, and what comes before reaches the end times r, as 0.35: 1.85 in all. For
r < 0 it is 1.7. (Measured over 50,000 arguments: 1.53.)
"""

ARGUMENTS = st.floats(-50.0, LARGEST)


def whole_exp(x: float) -> int:
    weight = np.empty(1, dtype=np.int64)
    return int(native.clipped_weights(np.zeros(1), np.array([x]), weight))


def true_exp(x: float) -> Decimal:
    with localcontext() as context:
        context.prec = 50
        return Decimal(x).exp()


def some_margins(generator: np.random.Generator, rows: int) -> Floats:
    return generator.integers(-(2**41), 2**41, rows).astype(np.float64) * VOTE_UNIT


@examples(400)
@given(x=ARGUMENTS)
@example(x=LARGEST)
@example(x=0.0)
@example(x=-0.0)
@example(x=-1.0)
@example(x=-50.0)
@example(x=math.log(1.5))
def test_the_exponential_is_off_by_half_a_unit_and_hardly_more(x: float) -> None:
    exact = true_exp(x)
    allowed = Decimal("0.5") + exact * Decimal(RELATIVE)
    weight = whole_exp(x)
    assert weight >= 1
    assert abs(weight - max(exact, Decimal(1))) <= allowed


def test_the_exponential_is_right_where_the_polynomial_is_stretched_most() -> None:
    """The reduced argument is largest halfway between two powers of two."""
    for k in range(54):
        middle = math.log(2.0) * k
        half = math.log(2.0) / 2 - np.geomspace(1e-12, 1e-2, 20)
        points = [math.nextafter(middle, 0.0), middle, *(middle + half), *(middle - half)]
        for x in points:
            if -0.5 < x <= LARGEST:
                exact = true_exp(x)
                allowed = Decimal("0.5") + exact * Decimal(RELATIVE)
                assert abs(whole_exp(x) - exact) <= allowed


@examples(60)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(1, 300),
    vote=st.floats(0.0, 5.0).map(round_vote),
    scale=st.floats(0.0, 20.0),
    one=st.booleans(),
)
def test_margins_equal_the_twins_and_weights_up_to_rounding(
    seed: int, rows: int, vote: float, scale: float, one: bool
) -> None:
    generator = np.random.default_rng(seed)
    agree = generator.choice(np.array([-1, 1], dtype=np.int8), rows)
    margins = some_margins(generator, rows)
    base = np.log(generator.uniform(0.1, 10.0, 1 if one else rows))
    total = round_vote(2.0 + vote)
    expected, twins = naive.exponential(agree, vote, total, base, scale, margins)
    weights = np.empty(rows, dtype=np.int64)
    summed(native.exponential, agree, vote, total, base, scale, margins, weights)
    np.testing.assert_array_equal(margins, expected)
    assert np.all(np.abs(weights - twins) <= 1 + twins * 2.0**-50)


def test_a_row_that_the_rule_got_right_keeps_its_weight() -> None:
    votes = [round_vote(v) for v in (0.7, 0.3, 1.1)]
    agree = np.array([1, -1], dtype=np.int8)
    margins, weights = np.zeros(2), np.zeros(2, dtype=np.int64)
    before = whole_exp(30.0)
    total = 0.0
    for vote in votes:
        total += vote
        summed(native.exponential, agree, vote, total, np.zeros(1), 30.0, margins, weights)
        assert weights[0] == before
    assert weights[1] > before


def some_cells(
    generator: np.random.Generator, rows: int, outputs: int
) -> tuple[Bytes, Floats, Signs, Floats]:
    """Cells, their values, signs and margins."""
    cells = generator.integers(5, size=rows).astype(np.uint8)
    values = np.rint(generator.normal(size=(5, outputs)) / VOTE_UNIT) * VOTE_UNIT
    signs = generator.choice(np.array([-1, 1], dtype=np.int8), (rows, outputs))
    margins = generator.integers(-(2**43), 2**43, (rows, outputs)).astype(np.float64) * VOTE_UNIT
    return cells, values, signs, margins


SHAPES = pytest.mark.parametrize("rows", [1, 7, 1_023, 1_024, 1_025, 3_000])


@each_value
@SHAPES
@pytest.mark.parametrize("outputs", [1, 2, 3, 7])
@pytest.mark.parametrize("one", [True, False])
def test_cells_of_exponential_weights_equal_the_twins(rows: int, outputs: int, one: bool) -> None:
    generator = np.random.default_rng(rows + outputs)
    cells, values, signs, margins = some_cells(generator, rows, outputs)
    base = np.log(generator.uniform(0.1, 10.0, 1 if one else rows * outputs))
    expected, twins = naive.exponential_cells(cells, values, signs, base, 20.0, margins)
    weights = np.empty((rows, outputs), dtype=np.int64)
    total = summed(native.exponential_cells, cells, values, signs, base, 20.0, margins, weights)[0]
    np.testing.assert_array_equal(margins, expected)
    assert np.all(np.abs(weights - twins) <= 1 + twins * 2.0**-48)
    assert total == weights.sum()


def newton_kernel(
    cells: Bytes, values: Floats, signs: Signs,
    base: Floats, most: float, margins: Floats,
) -> tuple[Wholes, Wholes, int, int]:  # fmt: skip
    weights, pulls = np.zeros((2, *signs.shape), dtype=np.int64)
    if signs.shape[1] == 1:
        flat = (values[:, 0], signs[:, 0], margins[:, 0], weights[:, 0], pulls[:, 0])
        own, side, margin, weight, pull = flat
        sums = summed(native.logistic, cells, own, side, base, most, margin, weight, pull)
    else:
        own_rows, raised = np.arange(len(signs)), np.full((len(signs), 2), np.nan)
        given = own_rows, cells, values, signs, base, most
        sums = summed(native.softmax, *given, margins, weights, pulls, raised)
        scores = margins * signs
        np.testing.assert_array_equal(raised[:, 0], scores.max(axis=1))
        exact = np.exp(scores - scores.max(axis=1, keepdims=True)).sum(axis=1)
        np.testing.assert_allclose(raised[:, 1], exact, rtol=1e-13)
    return weights, pulls, int(sums[0]), int(sums[1])


def one_class_signs(generator: np.random.Generator, rows: int, outputs: int) -> Signs:
    if outputs == 1:
        return generator.choice(np.array([-1, 1], dtype=np.int8), (rows, 1))
    labels = generator.integers(outputs, size=rows)
    return np.where(np.eye(outputs)[labels] > 0, np.int8(1), np.int8(-1))


@each_value
@SHAPES
@pytest.mark.parametrize("outputs", [1, 3, 7])
@pytest.mark.parametrize("most", [1.5, 4.0, math.inf])
@pytest.mark.parametrize("one", [True, False])
def test_newton_weights_and_pulls_equal_the_twins(
    rows: int, outputs: int, most: float, one: bool
) -> None:
    generator = np.random.default_rng(rows + outputs)
    cells, values, _, margins = some_cells(generator, rows, outputs)
    signs = one_class_signs(generator, rows, outputs)
    base = np.rint(generator.uniform(2.0**39, 2.0**40, 1 if one else rows))
    after = margins + values[cells] * signs
    twins = naive.newton(after, signs, base, most)
    weights, pulls, weight_sum, pull_sum = newton_kernel(cells, values, signs, base, most, margins)
    np.testing.assert_array_equal(margins, after)
    for ours, theirs in zip((weights, pulls), twins, strict=True):
        assert np.all(np.abs(ours - theirs) <= 1 + np.abs(theirs) * 2.0**-45)
    assert weight_sum == weights.sum()
    assert pull_sum == np.abs(pulls).sum()


@pytest.mark.parametrize("outputs", [3, 40])
def test_rows_that_are_not_chosen_stay_as_they_are(outputs: int) -> None:
    """And the sums grow by what the others gained: the same as weighing all rows."""
    generator = np.random.default_rng(outputs)
    cells, values, _, margins = some_cells(generator, 500, outputs)
    values[-1] = 0
    signs, base = one_class_signs(generator, 500, outputs), np.array([2.0**40])
    nothing = np.zeros((1, outputs)), signs, base, math.inf
    weights, pulls = np.zeros((2, *signs.shape), dtype=np.int64)
    rows = np.arange(500)
    raised = np.zeros((500, 2))
    before = summed(native.softmax, rows, 0 * cells, *nothing, margins, weights, pulls, raised)
    moved = np.flatnonzero(cells != len(values) - 1)
    assert 0 < moved.size < 500
    some_of = margins, weights, pulls, raised
    all_of = margins.copy(), weights.copy(), pulls.copy(), raised.copy()
    grown = summed(native.softmax, moved, cells, values, signs, base, math.inf, *some_of)
    alike = summed(native.softmax, rows, cells, values, signs, base, math.inf, *all_of)
    for ours, theirs in zip(some_of, all_of, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert grown == alike
    assert before[0] + grown[0] == weights.sum()
    assert before[1] + grown[1] == np.abs(pulls).sum()


@each_value
@pytest.mark.parametrize("outputs", [1, 3, 40])
@pytest.mark.parametrize("most", [4.0, math.inf])
def test_far_margins_leave_whole_numbers(outputs: int, most: float) -> None:
    """No probability is so near to 0 or 1 that a weight or a pull is anything but in [0, base]."""
    for far in (18.0, 40.0, 800.0, 8000.0):
        signs = np.full((2 * outputs, outputs), -1, dtype=np.int8)
        signs[np.arange(2 * outputs), np.arange(2 * outputs) % outputs] = 1
        margins = np.full(signs.shape, far)
        margins[outputs:] *= -1
        zeros, base = np.zeros(2 * outputs, dtype=np.uint8), np.array([2.0**40])
        weights, pulls, *_ = newton_kernel(
            zeros, np.zeros((1, outputs)), signs, base, most, margins
        )
        assert (weights >= 0).all()
        assert (weights <= 2**38).all()
        assert (pulls * signs >= 0).all()
        assert (np.abs(pulls) <= 2**40).all()
        assert np.abs(pulls[:outputs]).max() <= 1 or far < 20
        if most == math.inf and outputs < 3:
            assert (np.abs(pulls[outputs:]) >= 2**39).all()


@each_value
@SHAPES
@pytest.mark.parametrize("one", [True, False])
def test_clipped_weights_equal_the_twins(rows: int, one: bool) -> None:
    generator = np.random.default_rng(rows)
    margins = some_margins(generator, rows)
    base = np.log(generator.uniform(1.0, 2.0**30, 1 if one else rows))
    weights = np.empty(rows, dtype=np.int64)
    total = native.clipped_weights(margins, base, weights)
    twins = naive.clipped(margins, base)
    assert np.all(np.abs(weights - twins) <= 1 + twins * 2.0**-48)
    assert total == weights.sum()


ROWS = 70_001
TEAMS = (1, 2, 3, 7, 16)


def expected(booster: Residual, state: ResidualState) -> Any:
    """Return the pulls that the definitions ask for."""
    gaps, weights = state.residuals, state.weights[:, 0]
    if isinstance(booster, Absolute):
        return np.where(np.abs(gaps) < state.unit, 0, np.sign(gaps))
    if isinstance(booster, Quantile):
        sides = np.where(gaps > 0, booster.quantile, booster.quantile - 1.0)
        return np.rint(weights * np.where(np.abs(gaps) < state.unit, 0.0, sides))
    return np.rint(weights * (np.clip(gaps, -state.cut, state.cut) * state.scale))


@each_value
@pytest.mark.parametrize("booster", [Square(), Absolute(), Huber(), Quantile(quantile=0.3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_pulls_are_those_of_the_definitions_for_any_team(
    booster: Residual, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team, "cores", lambda: 32)
    generator = np.random.default_rng(0)
    targets = generator.normal(size=ROWS).round(2)
    base = generator.uniform(0.5, 2.0, size=ROWS) if weighted else np.ones(1)
    cells = generator.integers(3, size=ROWS).astype(np.uint8)
    moved = Moved(cells, np.array([[0.25], [-0.5], [0.0]]), 1.0)
    seen = set()
    for count in TEAMS:
        with using(count):
            state = booster.init(np.ones((ROWS, 1), np.int8), base, targets)
            state = booster.move(state, moved)
        np.testing.assert_array_equal(state.margins[:, 0], moved.values[cells, 0])
        assert state.largest == np.abs(state.residuals).max()
        np.testing.assert_array_equal(state.pulls[:, 0], expected(booster, state))
        own = state.pulls.astype(np.int64)
        own = own * state.weights if isinstance(booster, Absolute) else own
        assert state.pull == np.abs(own).sum()
        seen.add(state.pulls.tobytes() + state.margins.tobytes())
    assert len(seen) == 1


def test_exponentials_do_not_depend_on_the_team(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team, "cores", lambda: 32)
    scores = np.random.default_rng(0).normal(size=ROWS) * 5
    actual = set()
    for count in TEAMS:
        with using(count):
            actual.add(exponential(scores, -1.0).tobytes())
    assert len(actual) == 1
    np.testing.assert_allclose(np.frombuffer(actual.pop()), np.exp(-scores), rtol=1e-14)
