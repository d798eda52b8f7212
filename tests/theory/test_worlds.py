"""Worlds: the same draws in any batches, risks that are what they claim to be, and their shapes."""

import math
import pickle
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, norm
from sklearn.ensemble import RandomForestClassifier

from pacboost.errors import DataError, ParameterError
from pacboost.learners.stump import Stump
from pacboost.sources.oracles.choose import as_oracle
from pacboost.theory.finite_worlds import BooleanConcept, Finite, NoFreeLunch, UniformOnly
from pacboost.theory.sampling import SHAPES, Plane
from pacboost.theory.world_oracle import Rows
from pacboost.theory.worlds import (
    Boxes,
    Halfspaces,
    Intervals,
    LabelNoise,
    NoisyAdditive,
    World,
    hastie,
)
from tests.examples import examples
from tests.worlds import make_sample


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


def test_no_mistake_seen_is_not_certainty_also_in_a_pickle() -> None:
    risk = Intervals(((0.0, 0.5),)).risk(Intervals(((0.0, 0.5),)).truth, draws=100)
    assert risk == 0.0 < risk.standard_error
    assert pickle.loads(pickle.dumps(risk)).standard_error == risk.standard_error


ends = st.floats(-0.25, 1.25)


@given(st.lists(st.tuples(ends, ends), min_size=1, max_size=3), st.data())
@examples(100)
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
        (lambda: UniformOnly(2), "3 to 20"),
    ],
)
def test_impossible_worlds_are_refused(make: Callable[[], object], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        make()


@pytest.mark.parametrize("shape", SHAPES)
def test_shares_and_noise_are_those_asked_for(shape: str) -> None:
    X, y, flipped = Plane(shape, noise=0.2, share=0.3).draw_marked(20_000, seed=1)
    assert X.shape == (20_000, 2)
    assert flipped.mean() == pytest.approx(0.2, abs=0.015)
    clean = np.where(flipped, -y, y)
    assert (clean > 0).mean() == pytest.approx(0.3, abs=0.015)
    repeated, labels = Plane(shape, noise=0.2, share=0.3).draw(20_000, seed=1)
    np.testing.assert_array_equal(repeated, X)
    np.testing.assert_array_equal(labels, y)


def test_without_spread_points_lie_on_their_shapes() -> None:
    checks: dict[str, Callable[..., NDArray[np.bool_]]] = {
        "xor": lambda u, v, y: np.sign(u * v) == y,
        "rings": lambda u, v, y: (np.hypot(u, v) < 0.65) == (y > 0),
        "stripes": lambda u, v, y: np.floor((u + 1) * 3) % 2 == (y < 0),
        "gaussians": lambda u, v, y: u == 0.7 * y,
        "moons": lambda u, v, y: (np.abs(np.hypot(u, v) - 1) < 1e-9) | (y < 0),
    }
    for shape, lies_there in checks.items():
        X, y = Plane(shape, spread=0.0).draw(500, seed=0)
        assert np.all(lies_there(*X.T, y)), shape


def test_batches_may_be_drawn_without_end() -> None:
    assert as_oracle(Plane("moons"), seed=3).draw(5000).n_rows == 5000


@pytest.mark.parametrize(
    ("name", "value"), [("shape", "heart"), ("noise", 0.6), ("share", 1.0), ("spread", -1.0)]
)
def test_impossible_points_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ParameterError) as problem:
        Plane(**{"shape": "xor", name: value})
    assert problem.value.parameter == name


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_third_bit_has_edge_three_quarters_whatever_the_coins(seed: int) -> None:
    world = UniformOnly(14, seed)
    edge = 1 - 2 * world.risk(lambda X: 2 * X[:, 2] - 1)
    assert edge == pytest.approx(0.75, abs=0.02)
    X = world.domain()
    visible = ~world.blind(X)
    assert visible.mean() == 0.75
    assert (world.truth(X)[visible] == 2 * X[visible, 2] - 1).all()


def test_no_stump_has_an_edge_on_the_blind_quarter() -> None:
    world = UniformOnly(14)
    X = world.domain()
    blind = world.blind(X)
    sample = make_sample(X, world.truth(X))
    rule = Stump().on(sample).find(blind.astype(np.int64), sample.signs[:, 0], 0)
    answers = rule.values[rule.cells(sample), 0]
    edge = float((answers * sample.signs[:, 0])[blind].mean())
    assert 0 <= edge < 0.06  # of 2^12 coins, the best of 29 stumps


def test_no_other_learner_errs_less_than_the_coins_allow() -> None:
    world, m = UniformOnly(16), 2000
    X, y = world.draw(m, 1)
    forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    blind = len(np.unique(X[world.blind(X)], axis=0))  # coins that are known
    min_risk = (1 - 4 * blind / 2**16) / 8
    assert world.risk(forest.predict) > min_risk - 0.01
    everything = dict(zip(map(bytes, X.astype(np.uint8)), y, strict=True))

    def rote(rows: np.ndarray) -> np.ndarray:
        labels_seen = [everything.get(bytes(row)) for row in rows.astype(np.uint8)]
        guess = np.where(world.blind(rows), 1, 2 * rows[:, 2] - 1)
        return np.array([g if k is None else k for k, g in zip(labels_seen, guess, strict=True)])

    assert world.risk(rote) == pytest.approx(min_risk, abs=0.01)  # the best there is
