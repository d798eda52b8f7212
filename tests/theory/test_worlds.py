"""Worlds: the same draws in any batches, and risks that are what they claim to be."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, norm

from pacboost.errors import DataError, ParameterError
from pacboost.theory.finite_worlds import BooleanConcept, Finite, NoFreeLunch
from pacboost.theory.worlds import (
    Boxes,
    Halfspaces,
    Intervals,
    LabelNoise,
    NoisyAdditive,
    Risk,
    Rows,
    World,
    hastie,
)


def both_first(X: Rows) -> NDArray[np.bool_]:
    return np.asarray((X[:, 0] == 1) & (X[:, 1] == 1))


WORLDS = [
    Boxes((0.1, 0.2), (0.7, 0.9)),
    Intervals(((0.1, 0.3), (0.5, 0.9))),
    Halfspaces((1.0, -2.0, 0.5), 0.3),
    BooleanConcept(5, both_first),
    hastie(4, noise=0.1),
    LabelNoise(Boxes((0.1,), (0.7,)), 0.2),
    LabelNoise(LabelNoise(BooleanConcept(3, both_first), 0.2), 0.1),
    NoFreeLunch(6, 0b101101),
    NoFreeLunch(8, 0b11010010, features=3),
]
every_world = pytest.mark.parametrize("world", WORLDS, ids=lambda world: type(world).__name__)


def first_is_high(X: Rows) -> NDArray[np.float64]:
    return np.where(X[:, 0] > 0.4, 1.0, -1.0)


@every_world
def test_batches_of_any_size_give_the_same_examples(world: World) -> None:
    X, y = world.draw(50, 7)
    generator = np.random.default_rng(7)
    parts = [world.draw(n, generator) for n in (1, 0, 16, 33)]
    assert np.array_equal(np.concatenate([part[0] for part in parts]), X)
    assert np.array_equal(np.concatenate([part[1] for part in parts]), y)
    assert not np.array_equal(world.draw(50, 8)[0], X)


@every_world
def test_rows_are_doubles_and_labels_signs(world: World) -> None:
    X, y = world.draw(200, 0)
    assert X.shape == (200, world.features)
    assert X.dtype == np.float64
    assert y.dtype == np.int8
    assert set(y.tolist()) == {-1, 1}
    assert np.isfinite(X).all()


@every_world
def test_risk_is_the_share_of_mistakes_on_fresh_draws(world: World) -> None:
    """Within the binomial tails at 1e-6, plus six standard errors where it is estimated."""
    risk = world.risk(first_is_high, draws=2**17)
    X, y = world.draw(20_000, 1)
    mistakes = int((first_is_high(X) * y <= 0).sum())
    low, high = binom.ppf(1e-6, 20_000, risk), binom.isf(1e-6, 20_000, risk)
    slack = 6 * risk.standard_error * 20_000
    assert low - slack <= mistakes <= high + slack


@every_world
def test_the_truth_has_the_bayes_risk_and_its_opposite_the_worst(world: World) -> None:
    assert world.risk(world.truth, draws=1000) == pytest.approx(world.bayes_risk, abs=1e-15)
    worst = world.risk(lambda X: -world.truth(X), draws=1000)
    assert worst == pytest.approx(1 - world.bayes_risk, abs=1e-15)


@every_world
def test_only_finite_domains_are_exact_for_any_function(world: World) -> None:
    inner: World = world
    while isinstance(inner, LabelNoise):
        inner = inner.world
    exact = world.risk(first_is_high, draws=100).standard_error == 0
    assert exact == isinstance(inner, Finite)


def test_a_tie_is_a_mistake_and_an_answer_of_another_shape_an_error() -> None:
    assert BooleanConcept(2, both_first).risk(lambda X: np.zeros(len(X))) == 1.0
    with pytest.raises(DataError, match=r"shape \(4, 1\) for 4 rows"):
        BooleanConcept(2, both_first).risk(lambda X: X[:, :1])


def test_no_mistake_seen_is_not_certainty() -> None:
    risk = Intervals(((0.0, 0.5),)).risk(Intervals(((0.0, 0.5),)).truth, draws=100)
    assert risk == 0.0
    assert risk.standard_error > 0


def test_risk_keeps_its_standard_error_in_a_pickle() -> None:
    back = pickle.loads(pickle.dumps(Risk(0.25, 0.01)))
    assert (back, back.standard_error) == (0.25, 0.01)


ends = st.floats(-0.25, 1.25)


@given(st.lists(st.tuples(ends, ends), min_size=1, max_size=3), st.data())
@settings(max_examples=100, deadline=None)
def test_box_risk_is_the_volume_of_the_cells_that_differ(
    sides: list[tuple[float, float]], data: st.DataObject
) -> None:
    others = [data.draw(st.tuples(ends, ends)) for _ in sides]
    low, high = zip(*(sorted(pair) for pair in sides), strict=True)
    low2, high2 = zip(*(sorted(pair) for pair in others), strict=True)
    world, other = Boxes(low, high), Boxes(low2, high2)
    cells = world.piecewise_risk(other.truth, other.cuts)
    assert world.box_risk(low2, high2) == pytest.approx(cells, abs=1e-12)
    assert cells.standard_error == 0


def test_box_risk_by_hand() -> None:
    world = Boxes((0.2, 0.2), (0.6, 0.6))
    assert world.box_risk((0.2, 0.2), (0.6, 0.6)) == 0.0
    assert world.box_risk((0.4, 0.4), (0.8, 0.8)) == pytest.approx(0.16 + 0.16 - 2 * 0.04)
    estimated = world.risk(Boxes((0.4, 0.4), (0.8, 0.8)).truth, draws=2**17)
    twin = 0.16 + 0.16 - 0.04  # forgets that both share this
    assert abs(estimated - 0.24) < 5 * estimated.standard_error < abs(estimated - twin)
    assert world.box_risk((np.inf, np.inf), (-np.inf, -np.inf)) == pytest.approx(0.16)
    assert world.box_risk((-np.inf, -np.inf), (np.inf, np.inf)) == pytest.approx(0.84)


def test_interval_risks_by_hand() -> None:
    world = Intervals(((0.1, 0.3), (0.5, 0.9)))
    assert world.interval_risk(0.1, 0.9) == pytest.approx(0.2)
    assert world.interval_risk(0.2, 0.6) == pytest.approx(0.1 + 0.2 + 0.3)
    assert world.interval_risk(2, 1) == pytest.approx(0.6)


def test_boolean_risk_counts_rows() -> None:
    world = BooleanConcept(3, both_first)
    assert sorted(world.domain().tolist()) == [list(row) for row in product([0, 1], repeat=3)]
    assert world.risk(lambda X: np.full(len(X), -1)) == 0.25
    assert world.risk(lambda X: 2 * X[:, 0] - 1) == 0.25
    assert LabelNoise(world, 0.1).risk(lambda X: 2 * X[:, 0] - 1) == pytest.approx(0.1 + 0.8 / 4)


def test_noise_flips_at_its_rate() -> None:
    world = LabelNoise(LabelNoise(Boxes((0.1,), (0.7,)), 0.2), 0.1)
    assert world.noise == pytest.approx(0.2 * 0.9 + 0.8 * 0.1)
    X, y = world.draw(20_000, 3)
    flipped = int((world.truth(X) != y).sum())
    assert binom.ppf(1e-6, 20_000, 0.26) <= flipped <= binom.isf(1e-6, 20_000, 0.26)
    assert LabelNoise(Boxes((0.1,), (0.7,)), 0.5).bayes_risk == 0.5


def test_chi_square_problem_is_balanced() -> None:
    X, y = hastie().draw(40_000, 0)
    assert X.shape == (40_000, 10)
    assert np.array_equal(y > 0, (X**2).sum(axis=1) > hastie().cut)
    assert abs(int((y > 0).sum()) - 20_000) < 5 * 100
    assert hastie(noise=0.15).bayes_risk == 0.15


def test_gaussian_rows_are_gaussian() -> None:
    X, _ = Halfspaces((1.0,)).draw(50_000, 5)
    for quantile in (-2.0, -0.5, 0.0, 1.0, 2.5):
        share = float(norm.cdf(quantile))
        assert abs((quantile >= X).mean() - share) < 5 * math.sqrt(share * (1 - share) / 50_000)
    assert np.isfinite(Halfspaces((1.0,)).points(np.zeros((1, 1)))).all()


def test_every_labeling_comes_once() -> None:
    labelings = {tuple(w.truth(w.domain()).tolist()) for w in NoFreeLunch.every(5)}
    assert labelings == set(product([-1, 1], repeat=5))


def test_drawn_labelings_are_fair_and_repeatable() -> None:
    drawn = [NoFreeLunch.drawn(10, seed) for seed in range(400)]
    assert drawn == [NoFreeLunch.drawn(10, seed) for seed in range(400)]
    ones = sum(world.labeling.bit_count() for world in drawn)
    assert abs(ones - 2000) < 5 * math.sqrt(1000)
    assert NoFreeLunch.drawn(200, 0).truth(NoFreeLunch.drawn(200, 0).domain()).size == 200


@pytest.mark.parametrize(("size", "features"), [(1, 1), (7, 1), (8, 3), (10, 2), (5, 4)])
def test_points_are_all_different_and_unseen_ones_are_the_rest(size: int, features: int) -> None:
    world = NoFreeLunch(size, 0, features)
    points = [tuple(row) for row in world.domain().tolist()]
    assert len(set(points)) == size
    assert size != 2**features or set(points) == set(product([0.0, 1.0], repeat=features))
    X, _ = world.draw(size // 2, 1)
    drawn_rows = {tuple(row) for row in X.tolist()}
    assert {tuple(row) for row in world.unseen(X).tolist()} == set(points) - drawn_rows


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Boxes((0.1, 0.2), (0.3,)), "lower has 2 ends, upper 1"),
        (lambda: Boxes((), ()), "one of each per feature"),
        (lambda: Halfspaces((0.0, 0.0)), "not all 0"),
        (lambda: Halfspaces((math.inf,)), "finite"),
        (lambda: BooleanConcept(21, both_first), "features is 21; it must be 1 to 20"),
        (lambda: LabelNoise(hastie(), 0.6), "rate is 0.6"),
        (lambda: NoisyAdditive((np.square,), 0.0, -0.1), "noise is -0.1"),
        (lambda: NoFreeLunch(3, 8), r"labeling 8.*0 to 2\^size - 1"),
        (lambda: NoFreeLunch(0, 0), "at least one point"),
    ],
)
def test_impossible_worlds_are_refused(make: Callable[[], object], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        make()
