"""Least squares: sums and values are those of NumPy, and the loss falls as the identity says."""

from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import mean_gamma_deviance, mean_pinball_loss, mean_poisson_deviance

from pacboost.boosters.booster import MAX_GROWN_RATE, Moved
from pacboost.boosters.log_link import LogLink, exponential
from pacboost.boosters.losses.absolute import Absolute
from pacboost.boosters.losses.gamma import Gamma
from pacboost.boosters.losses.huber import Huber
from pacboost.boosters.losses.poisson import Poisson
from pacboost.boosters.losses.quantile import Quantile
from pacboost.boosters.losses.square import Square
from pacboost.boosters.residual import ALL_MET, ResidualState, unit_of
from pacboost.errors import ParameterError
from pacboost.learners.tree import Tree
from pacboost.numerics.exact import FRESH_TOTAL, MAX_TOTAL
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.training.run.loop import Run
from pacboost.training.run.scores import cell_sums
from tests.grids import each_value

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
    part = np.ones(1) if base is None else base
    return Sample(table, signs, part, fit_bins(table, 255, base), targets=y)


WEIGHTED = pytest.mark.parametrize("weighted", [False, True])


def base_of(rows: int, weighted: bool) -> Numbers | None:
    return np.random.default_rng(3).uniform(0.1, 1, size=rows) if weighted else None


def rounds_of(run: Run, count: int) -> None:
    list(islice(run, count))


def test_needs_targets() -> None:
    with pytest.raises(ParameterError, match="square"):
        Square().init(np.ones((3, 1), dtype=np.int8), np.ones(1))


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
    assert int(np.abs(request.pulls).sum()) <= request.pull < MAX_TOTAL


@each_value
@WEIGHTED
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
    result = rules.values(state, sums, cells)
    np.testing.assert_allclose(result[:, 0], expected, rtol=1e-9)
    assert np.array_equal(result, np.rint(result / state.unit) * state.unit)


def test_first_constant_is_the_weighted_mean_not_shrunk() -> None:
    y, base = np.array([1.0, 2.0, 6.0]), np.array([1.0, 0.5, 0.5])
    rules, state = Square(learning_rate=0.1, l2=5.0), started(y, base)
    cells = np.zeros(3, dtype=np.uint8)
    sums, _ = cell_sums(rules.request(state), cells, 1)
    assert rules.values(state, sums, cells)[0, 0] == pytest.approx(2.5, rel=1e-12)


@given(st.lists(WIDE, min_size=2, max_size=20), st.randoms())
def test_scores_add_up_alike_in_any_order(values: list[float], chance: Any) -> None:
    unit = unit_of(np.array(values))
    complete = [float(np.rint(value / unit) * unit) for value in values]
    shuffled = chance.sample(complete, len(complete))
    assert sum(complete) == sum(shuffled)


@each_value
@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0])
@WEIGHTED
def test_loss_falls_by_what_the_identity_says(rate: float, weighted: bool) -> None:
    X, y = world()
    base = base_of(y.size, weighted)
    part = np.ones(y.size) if base is None else base
    sample = sample_of(X, y, base)
    run = Run(sample, Tree(max_leaves=5), Square(learning_rate=rate))
    rounds_of(run, 12)
    scores = np.zeros(y.size)
    for number, done in enumerate(run.done):
        cells = done.hypothesis.cells(sample)
        residuals = y - scores
        before = np.average(residuals**2, weights=part)
        weight = np.bincount(cells, part)
        means = np.bincount(cells, part * residuals) / weight
        used = 1.0 if number == 0 else rate
        fall = used * (2 - used) * (weight * means**2).sum() / part.sum()
        scores += done.hypothesis.values[cells, 0]
        after = np.average((y - scores) ** 2, weights=part)
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


@each_value
@pytest.mark.parametrize("seed", range(5))
@WEIGHTED
def test_first_tree_is_the_best_split_there_is(seed: int, weighted: bool) -> None:
    X, y = world(60, seed)
    base = np.random.default_rng(seed).uniform(0.1, 1, size=60) if weighted else None
    tree = Tree(max_leaves=2, min_leaf_rows=0, min_leaf_weight=0)
    run = Run(sample_of(X, y, base), tree, Square())
    rounds_of(run, 2)
    remaining = brute_force(X, y, np.ones(60) if base is None else base)
    assert run.done[-1].entry.training_error == pytest.approx(remaining, rel=1e-9)


def test_stops_when_every_target_is_met() -> None:
    y = np.full(5, 0.3)
    rules, state = Square(), started(y)
    assert rules.stop(state) is None
    moved = Moved(np.zeros(5, dtype=np.uint8), np.array([[0.3]]), 1.0)
    state = rules.move(state, moved)
    assert rules.stop(state) == ALL_MET
    assert rules.request(state).pull == 1


def cost(residuals: Numbers, weights: NDArray[Any], value: float) -> float:
    return float((weights * np.abs(residuals - value)).sum())


def test_rows_ask_for_signs_and_met_ones_for_nothing() -> None:
    y = np.array([2.0, -3.0, 0.0, 1e-30])
    rules = Absolute()
    state = rules.init(np.ones((4, 1), dtype=np.int8), np.ones(1), y)
    request = rules.request(state)
    assert request.signed
    assert request.pulls[:, 0].tolist() == [1, -1, 0, 0]
    assert request.pull == request.weights[:2].sum()


@WEIGHTED
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
    result = rules.values(state, sums, cells)[:, 0]
    for cell in (0, 1, 2, 4):
        part = np.repeat(y[cells == cell], counts[cells == cell])
        assert result[cell] == pytest.approx(0.25 * np.median(part), rel=1e-12)
    assert result[3] == 0


@each_value
@pytest.mark.parametrize("rate", [0.1, 1.0])
@WEIGHTED
def test_every_leaf_is_best_and_the_loss_never_rises(rate: float, weighted: bool) -> None:
    X, y = world(300)
    base = base_of(y.size, weighted)
    part = np.ones(y.size) if base is None else base
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
            best = min(cost(residuals[rows], part[rows], r) for r in residuals[rows])
            assert cost(residuals[rows], part[rows], value) <= best * (1 + 1e-9)
        before = np.average(np.abs(residuals), weights=part)
        scores += done.hypothesis.values[cells, 0]
        after = np.average(np.abs(y - scores), weights=part)
        assert after <= before * (1 + 1e-12)
        assert done.entry.training_error == pytest.approx(after, rel=1e-12)


@each_value
@WEIGHTED
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_quantiles_of_leaves_are_best_and_the_loss_never_rises(
    share: float, weighted: bool
) -> None:
    X, y = world(300)
    base = base_of(y.size, weighted)
    part = np.ones(y.size) if base is None else base
    run = Run(sample_of(X, y, base), Tree(max_leaves=6), Quantile(0.5, share))
    rounds_of(run, 12)
    recorded = [done.entry.training_error for done in run.done]
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(recorded))
    scores = run.vote().scores(run.sample.table)
    expected = mean_pinball_loss(y, scores, alpha=share, sample_weight=part)
    assert recorded[-1] == pytest.approx(expected, rel=1e-12)
    below = float(part[y <= scores].sum() / part.sum())
    assert below == pytest.approx(share, abs=0.06)


def test_the_middle_quantile_is_least_absolute_deviation() -> None:
    X, y = world(300)
    votes = []
    for rules in (Quantile(0.3, 0.5), Absolute(0.3)):
        run = Run(sample_of(X, y), Tree(max_leaves=6), rules)
        rounds_of(run, 8)
        votes.append(run.vote().scores(run.sample.table))
    assert np.array_equal(votes[0], votes[1])


def test_quantile_rows_ask_for_their_side() -> None:
    y = np.array([2.0, -3.0, 0.0, 1e-30])
    rules = Quantile(quantile=0.75)
    state = rules.init(np.ones((4, 1), dtype=np.int8), np.ones(1), y)
    request = rules.request(state)
    asked = request.pulls[:, 0] / request.weights[:, 0]
    np.testing.assert_allclose(asked, [0.75, -0.25, 0, 0])
    assert request.pull == np.abs(request.pulls).sum() < MAX_TOTAL


@WEIGHTED
def test_huber_rows_ask_for_cut_residuals(weighted: bool) -> None:
    y = np.random.default_rng(0).standard_t(1.5, size=500) * 1e5
    base = base_of(500, weighted)
    rules = Huber(alpha=0.8)
    state = rules.init(np.ones((500, 1), np.int8), np.ones(1) if base is None else base, y)
    request = rules.request(state)
    asked = request.pulls[:, 0] / request.weights[:, 0] / state.scale
    np.testing.assert_allclose(asked, np.clip(y, -state.cut, state.cut), rtol=1e-6)
    part = np.ones(500) if base is None else base
    assert part[np.abs(y) <= state.cut].sum() / part.sum() == pytest.approx(0.8, abs=0.01)


def test_huber_is_far_less_moved_by_outliers_than_squares_are() -> None:
    X, y = world(400)
    spoilt = y.copy()
    spoilt[::20] += 1e4
    run = Run(sample_of(X, spoilt), Tree(max_leaves=6), Huber(0.3, alpha=0.9))
    rounds_of(run, 40)
    scores = run.vote().scores(run.sample.table)
    clean = np.ones(y.size, dtype=bool)
    clean[::20] = False
    assert np.abs(scores - y)[clean].mean() < 2.5


def test_huber_loss_is_recorded_for_the_cut_of_the_round() -> None:
    X, y = world(300)
    run = Run(sample_of(X, y), Tree(max_leaves=6), Huber(0.3, alpha=0.7))
    rounds_of(run, 5)
    off = np.abs(y - run.vote().scores(run.sample.table))
    cut = np.sort(off)[209:211].mean()
    expected = np.where(off <= cut, off**2 / 2, cut * (off - cut / 2)).mean()
    assert run.done[-1].entry.training_error == pytest.approx(expected, rel=1e-12)


KINDS = pytest.mark.parametrize("kind", [Poisson, Gamma])
DEVIANCE: dict[Any, Any] = {Poisson: mean_poisson_deviance, Gamma: mean_gamma_deviance}
OURS: dict[Any, Any] = {Poisson: Poisson().value, Gamma: Gamma().value}


def positive_world(kind: type[LogLink], rows: int = 300) -> tuple[Numbers, Numbers]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, 3))
    mean = np.exp(np.sin(2 * X[:, 0]) + 0.5 * X[:, 1])
    counts = generator.poisson(mean).astype(np.float64)
    return X, counts if kind is Poisson else generator.gamma(2.0, mean / 2)


@given(st.floats(-700, 700))
def test_exponentials_are_right_to_the_last_digits(x: float) -> None:
    assert exponential(np.array([x]))[0] == pytest.approx(np.exp(x), rel=1e-15)
    assert exponential(np.array([x]), -1.0)[0] == pytest.approx(np.exp(-x), rel=1e-15)


@KINDS
def test_slopes_are_those_of_half_the_deviance(kind: type[Any]) -> None:
    _, y = positive_world(kind)
    scores, step = np.random.default_rng(1).normal(size=y.size), 1e-5
    pulls, curvatures = kind().row_slopes(y, scores)
    at = [
        [OURS[kind](y[i : i + 1], np.array([scores[i] + off])) / 2 for off in (-step, 0, step)]
        for i in range(y.size)
    ]
    low, middle, high = np.array(at).T
    np.testing.assert_allclose(-pulls, (high - low) / (2 * step), rtol=1e-4, atol=1e-5)
    if kind is Poisson:
        second = (high - 2 * middle + low) / step**2
        np.testing.assert_allclose(curvatures, second, rtol=1e-2, atol=1e-3)
    else:  # the expected curvature, since the mean of y/μ is 1
        assert (curvatures == 1).all()


@each_value
@KINDS
@WEIGHTED
@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_every_leaf_of_a_log_link_is_best_and_the_loss_never_rises(
    kind: type[Any], weighted: bool, rate: float
) -> None:
    X, y = positive_world(kind)
    base = base_of(y.size, weighted)
    part = np.ones(y.size) if base is None else base
    sample = sample_of(X, y, base)
    run = Run(sample, Tree(max_leaves=5), kind(learning_rate=rate))
    rounds_of(run, 10)
    recorded = [done.entry.training_error for done in run.done]
    assert all(after <= before for before, after in pairwise(recorded))
    scores = np.zeros(y.size)
    for number, done in enumerate(run.done):
        cells = done.hypothesis.cells(sample)
        values = done.hypothesis.values[:, 0] / (1.0 if number == 0 else rate)
        mean = np.exp(scores)
        ratio = part * y / mean if kind is Gamma else part * y
        below = part if kind is Gamma else part * mean
        factors = np.bincount(cells, ratio) / np.bincount(cells, below)
        np.testing.assert_allclose(values, np.log(np.maximum(factors, np.exp(-8))), atol=1e-6)
        scores += done.hypothesis.values[cells, 0]
        expected = DEVIANCE[kind](y, np.exp(scores), sample_weight=part)
        assert recorded[number] == pytest.approx(expected, rel=1e-9)


@KINDS
def test_the_first_constant_is_the_logarithm_of_the_mean(kind: type[Any]) -> None:
    X, y = positive_world(kind)
    run = Run(sample_of(X, y), Tree(), kind(learning_rate=0.1))
    rounds_of(run, 1)
    assert run.done[0].hypothesis.values[0, 0] == pytest.approx(np.log(y.mean()), rel=1e-9)


def test_cells_without_events_do_not_run_away() -> None:
    X = np.repeat([0.0, 1.0], 50)[:, None]
    y = np.where(X[:, 0] > 0, 3.0, 0.0)
    run = Run(sample_of(X, y), Tree(max_leaves=2), Poisson())
    rounds_of(run, 200)
    scores = run.vote().scores(run.sample.table)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(np.exp(scores), y, atol=1e-3)


@pytest.mark.parametrize("rate", [0.05, 0.8])
def test_residuals_shrink_by_a_rate_that_grows_with_the_rounds(rate: float) -> None:
    """Two values of one column: each round takes the rate of that round from all residuals."""
    X = np.repeat([0.0, 1.0], 20)
    table = ArrayTable(X[:, None])
    signs = np.ones((X.size, 1), dtype=np.int8)
    sample = Sample(table, signs, bins=fit_bins(table), targets=6 * X - 3)
    run = Run(sample, Tree(2), Square(rate, grows_after=10.0))
    losses = [done.entry.training_error for done in islice(run, 15)]
    assert run.done[0].hypothesis.values.size == 2  # no constant: its value would be 0
    rates = [max(rate, min(MAX_GROWN_RATE, rate * done / 10)) for done in range(15)]
    expected = 9.0 * np.cumprod(1 - np.array(rates)) ** 2
    np.testing.assert_allclose(losses, expected, rtol=1e-9, atol=1e-12)
