"""AdaBoost's arithmetic alone, without data or learner."""

import math
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pacboost import AdaBoostClassifier
from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import Measured, Moved, whole_values
from pacboost.boosters.newton import Gentle
from pacboost.learners.tree import Tree
from pacboost.numerics.exact import FRESH_TOTAL, MAX_TOTAL, MAX_VOTE, VOTE_UNIT
from pacboost.samples.sample import Sample, Sums
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.examples import examples
from tests.training.run.prefixes import class_samples, sample_of, shares
from tests.worlds import noisy


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
@examples(200)
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
        assert FRESH_TOTAL / 2 < total <= MAX_TOTAL
        assert weights.min() >= 1
        agree = agreement(seed, rows, share)
        agree, result = measured(weights, agree)
        state = rules.step(state, agree, result)
        exact = logs - state.margins
        expected = np.exp(exact - exact.max())
        got = state.weights / state.weights.max()
        assert got == pytest.approx(expected, abs=2.0 / state.weights.max() + 1e-11)


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


def test_votes_of_extreme_edges_are_finite() -> None:
    assert AdaBoost().vote(Measured(10, 0)) == pytest.approx(MAX_VOTE, abs=1e-9)
    assert AdaBoost().vote(Measured(10, 5)) == 0
    assert AdaBoost(max_vote=0.5).vote(Measured(1000, 5)) == pytest.approx(0.5)
    one_unit = AdaBoost().vote(Measured(2**52, 1))
    assert one_unit == pytest.approx(0.5 * math.log(2**52 - 1), abs=1e-11)


def normaliser(weights: np.ndarray, signs: np.ndarray, added: np.ndarray) -> float:
    return float((weights * np.exp(-signs * added)).sum() / weights.sum())


@given(
    st.integers(0, 10**6),
    st.integers(1, 60),
    st.integers(1, 4),
    st.sampled_from([0.01, 1.0, 18.0]),
    st.sampled_from([0, 5, 300]),
)
@example(3318, 1, 3, 0.01, 300)  # one row of a weight so small that its inverse overflows
@examples(60)
def test_weights_of_cells_follow_the_margins_and_stay_in_range(
    seed: int, rows: int, outputs: int, step: float, spread: int
) -> None:
    """Whatever the cells say, up to the largest votes, and for base weights of any size."""
    generator = np.random.default_rng(seed)
    rules = Gentle()
    signs = generator.choice(np.array([-1, 1], dtype=np.int8), (rows, outputs))
    base = np.maximum(10.0 ** -generator.uniform(0, spread, rows), 1e-307) if spread else np.ones(1)
    state = rules.init(signs, base)
    one = state.log_base.size == 1
    logs = state.log_base if one else state.log_base.reshape(signs.shape)
    for _ in range(8):
        request = rules.request(state)
        assert request.weight == request.pull == int(request.weights.sum())
        assert FRESH_TOTAL / 2 < request.weight <= MAX_TOTAL
        assert request.weights.min() >= 1
        cells = generator.integers(5, size=rows).astype(np.uint8)
        values = whole_values(generator.uniform(-step, step, (5, outputs)))
        z = normaliser(request.weights, signs, values[cells])
        state = rules.move(state, Moved(cells, values, z))
        exact = logs - state.margins
        expected = np.exp(exact - exact.max())
        got = state.weights / state.weights.max()
        assert got == pytest.approx(expected, abs=2.0 / state.weights.max() + 1e-11)


def test_a_false_normaliser_does_not_push_the_total_out_of_range() -> None:
    """It only says which scale to try first."""
    signs = np.ones((50, 2), dtype=np.int8)
    rules = Gentle()
    cells, values = np.zeros(50, dtype=np.uint8), whole_values(np.array([[3.0, -2.0]]))
    for false in (1e-300, 1e-5, 1.0, 1e5, 1e300):
        state = rules.move(rules.init(signs, np.ones(1)), Moved(cells, values, false))
        assert FRESH_TOTAL / 2 < state.total <= MAX_TOTAL
        ratio = state.weights[0, 1] / state.weights[0, 0]
        assert ratio == pytest.approx(math.exp(5), rel=1e-9)


@given(class_samples(), st.sampled_from([1.0, 0.25]))
@examples(60)
def test_cells_say_the_weighted_mean_of_their_signs(sample: Sample, rate: float) -> None:
    run = Run(sample, Tree(max_leaves=4, min_leaf_rows=1), Gentle(rate))
    scores = np.zeros(sample.signs.shape)
    for done in islice(run, 8):
        weights = shares(sample)[:, None] * np.exp(-sample.signs * scores)
        weights /= weights.sum()
        cells = done.hypothesis.cells(sample)
        for cell, values in enumerate(done.hypothesis.values):
            part, signs = weights[cells == cell], sample.signs[cells == cell]
            mean = (part * signs).sum(axis=0) / part.sum(axis=0)
            assert values == pytest.approx(rate * mean, abs=1e-9)
        assert (np.abs(done.hypothesis.values) <= rate + VOTE_UNIT).all()
        assert done.entry.normaliser <= 1  # a Newton step of this loss never overshoots
        scores += done.hypothesis.values[cells]


@pytest.mark.parametrize("edge", [0.1, 0.4, 0.9])
def test_against_an_adversary_each_round_multiplies_the_loss_by_what_the_edge_says(
    edge: float,
) -> None:
    """Rules get -m in one cell and +m' in the other, so Z is that of the cells' own means.

    (1 + m)/2·exp(-m) + (1 - m)/2·exp(m) falls in |m| and |m| averages at least the edge; as it is
    concave up to 1, the worst is one cell of mean 1 or all means equal.
    """
    X, signs = noisy(400, 3, seed=1)
    run = Run(sample_of(X, (signs > 0).astype(np.int64), 2), Adversary(edge), Gentle(), seed=2)
    full = math.exp(-1)
    for done in islice(run, 40):
        assert done.entry.edge >= edge - 1e-9
        straight = 1 - done.entry.edge * (1 - full)
        equal = math.cosh(done.entry.edge) - done.entry.edge * math.sinh(done.entry.edge)
        assert done.entry.normaliser <= max(straight, equal) + 1e-9


def test_steps_are_capped_like_votes() -> None:
    sums = Sums(np.array([[6], [-2]]), np.array([[8], [2]]), 10, 10, 10)
    rules = Gentle(1000.0)
    state = rules.init(np.ones((10, 1), dtype=np.int8), np.ones(1))
    values = rules.values(state, sums, np.zeros(10, dtype=np.uint8))
    assert values[:, 0] == pytest.approx([MAX_VOTE, -MAX_VOTE], abs=1e-9)


def test_a_cell_without_weight_says_nothing() -> None:
    sums = Sums(np.array([[6], [0]]), np.array([[8], [0]]), 8, 8, 10)
    state = Gentle().init(np.ones((10, 1), dtype=np.int8), np.ones(1))
    assert Gentle().values(state, sums, np.zeros(10, dtype=np.uint8)).tolist() == [[0.75], [0.0]]


@pytest.mark.parametrize("tiny", [1e-300, 1e-20, 1e-10])
def test_tiny_base_weights(tiny: float) -> None:
    """The same point with both labels, one of them hardly counting."""
    X, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, 1])
    model = AdaBoostClassifier(n_estimators=5).fit(X, y, sample_weight=[1, tiny, 1])
    entries = model.ledger_.rounds
    assert model.certificate_.value >= entries[-1].training_error
    assert all(b.error > 0.1 for b in entries[1:])
    first = [(r.feature, r.threshold, r.above) for r in model.estimators_]
    assert all(a != b for a, b in pairwise(first))


def test_warm_start_goes_on_with_tiny_weights() -> None:
    X, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, 1])
    model = AdaBoostClassifier(n_estimators=3, warm_start=True)
    model.fit(X, y, sample_weight=[1, 1e-20, 1])
    model.set_params(n_estimators=8).fit(X, y, sample_weight=[1, 1e-20, 1])
    straight = AdaBoostClassifier(n_estimators=8).fit(X, y, sample_weight=[1, 1e-20, 1])
    assert model.votes_.tolist() == straight.votes_.tolist()
