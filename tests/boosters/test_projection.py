"""The projected booster: exact projections, smooth weights, and an error below ε in few rounds."""

import math
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost import BoostClassifier
from pacboost.boosters.bounded_weights import BoundedState
from pacboost.boosters.projection import Projection, capped_scale
from pacboost.bounds.training import product_bound, training_error
from pacboost.errors import ParameterError
from pacboost.hypotheses.function import Recorded
from pacboost.learners.learner import Learner, Weights
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.models.file.format import model_bytes
from pacboost.samples.sample import Sample, Signs
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.examples import examples
from tests.grids import each_value
from tests.training.run.prefixes import class_samples, sample_of, shares
from tests.worlds import make_sample, noisy

Floats = NDArray[np.float64]


@given(
    st.lists(st.floats(1e-12, 3.0), min_size=1, max_size=60),
    st.floats(0.01, 0.9),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
@examples(200)
def test_the_scale_makes_the_mean(
    heights: list[float], mean: float, seed: int, weighted: bool
) -> None:
    raised = np.array(heights)
    base = np.random.default_rng(seed).uniform(0.1, 9, raised.size) if weighted else np.ones(1)
    scale = capped_scale(raised, base, mean)
    result = float(np.average(np.minimum(1, scale * raised), weights=base + 0 * raised))
    assert result == pytest.approx(mean, rel=1e-9)
    assert result <= mean * (1 + 1e-12)


def entropy(p: Floats, q: Floats) -> float:
    return float((p * np.log(p / q)).sum())


@given(st.integers(2, 12), st.floats(0.1, 0.9), st.integers(0, 2**32 - 1))
@examples(100)
def test_nothing_else_that_is_smooth_is_nearer(rows: int, epsilon: float, seed: int) -> None:
    """Of all D ≤ 1/(εn), the one that is found has the least relative entropy to what was there."""
    generator = np.random.default_rng(seed)
    there = generator.dirichlet(np.full(rows, 0.5)) + 1e-9
    scale = capped_scale(there, np.ones(1), epsilon)
    result = np.minimum(1, scale * there) / (epsilon * rows)
    for _ in range(20):
        other = generator.dirichlet(np.ones(rows))
        share = float(min(1, (1 / (epsilon * rows) - 1 / rows) / max(other.max() - 1 / rows, 1e-9)))
        other = share * other + (1 - share) / rows
        assert other.max() <= 1 / (epsilon * rows) + 1e-12
        assert entropy(result, there) <= entropy(other, there) + 1e-9
        # Pythagoras, on which the theorem rests
        assert entropy(other, result) <= entropy(other, there) - entropy(result, there) + 1e-9


def check_smooth_and_bounded(
    sample: Sample, learner: Learner, rules: Projection, rounds: int
) -> Run:
    """Hold D ≤ D_1/ε and the error ≤ max(ε, ∏ Z) in every round."""
    run = Run(sample, learner, rules, seed=3)
    first, product = shares(sample), 1.0
    for done in islice(run, rounds):
        edge, eta = done.entry.edge, rules.rate
        normaliser = (1 + edge) / 2 * math.exp(-eta) + (1 - edge) / 2 * math.exp(eta)
        assert normaliser <= math.exp(-eta * (edge - eta / 2)) * (1 + 1e-12)
        product *= normaliser
        weights = rules.request(run.state).weights[:, 0]
        cap = first / rules.epsilon * (1 + 1e-9) + 2 * sample.n_rows / (rules.epsilon * 2**52)
        assert (weights / weights.sum() <= cap).all()
        error = done.entry.training_error
        assert error <= max(rules.epsilon, product) + 1e-9
        assert error <= product_bound(run.ledger())
    return run


@given(
    class_samples(st.just(2)),
    st.floats(0.05, 0.95),
    st.floats(0.02, 0.9),
    st.sampled_from([Stump(), Adversary(0.1), Adversary(0.4, "heavy"), Adversary(0.2, "light")]),
)
@examples(80)
def test_the_bound_whatever_the_learner(
    sample: Sample, edge: float, epsilon: float, learner: Learner
) -> None:
    check_smooth_and_bounded(sample, learner, Projection(edge, epsilon), 25)


@each_value
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize(("edge", "epsilon"), [(0.2, 0.1), (0.4, 0.1), (0.3, 0.05), (0.6, 0.01)])
def test_the_error_is_below_epsilon_after_the_promised_rounds(
    edge: float, epsilon: float, order: str
) -> None:
    rules = Projection(edge, epsilon)
    promised = math.log(1 / epsilon) / (2 * (edge / 2) ** 2)
    assert rules.most_rounds(edge, epsilon) == pytest.approx(promised, rel=1e-9)
    run = check_smooth_and_bounded(
        make_sample(*noisy(300, 2, seed=2)), Adversary(edge, order), rules, 10_000
    )
    assert len(run.done) == math.floor(rules.most_rounds(edge, epsilon)) + 1
    assert "no more rounds" in str(run.stopped)
    assert run.done[-1].entry.training_error < epsilon
    assert epsilon <= training_error(run.ledger()).value <= epsilon * (1 + 1e-6)


class Unprojected(Projection):
    """Normalises, but lets rows weigh what they will."""

    def _projected(self, state: BoundedState, agree: NDArray[np.number[Any]]) -> BoundedState:
        limited = super()._projected(state, agree)
        assert state.log_weights is not None
        raised = state.log_weights - self.rate * agree
        log_weights = raised + math.log(self.epsilon / float(np.exp(raised).mean()))
        return BoundedState(**{**limited.__dict__, "log_weights": log_weights})

    def _fill(self, margins: Floats, base: Floats, rounds: int, weights: NDArray[np.int64]) -> int:
        np.maximum(np.rint(np.exp(base + margins)), 1, out=weights, casting="unsafe")
        return int(weights.sum())


def test_weights_that_are_not_projected_are_caught() -> None:
    with pytest.raises(AssertionError):
        check_smooth_and_bounded(
            make_sample(*noisy(100, 2, seed=2)), Stump(), Unprojected(0.5, 0.5), 60
        )


class Stubborn(Adversary):
    """Keeps its promise, and is wrong on the first ``kept`` rows whenever it can."""

    kept = 0

    def _find(self, sample: Sample, weights: Weights, answers: Signs, seed: int) -> Recorded:
        accepted = self.kept
        order = np.random.default_rng(seed).permutation(weights.size)
        allowance = (1 - self.edge) / 2 * int(weights.sum())
        argument = answers.copy()
        for row in [*order[order < accepted], *order[order >= accepted]]:
            if weights[row] <= allowance:
                allowance -= int(weights[row])
                argument[row] = -answers[row]
        return Recorded(argument, "stubborn")


def stubborn(kept: int, edge: float) -> Stubborn:
    learner = Stubborn(edge)
    object.__setattr__(learner, "kept", kept)
    return learner


def test_the_product_alone_is_no_bound() -> None:
    """A share 0.19ε of the rows has at most 0.19 of the weight: rules may always be wrong there."""
    rules = Projection(0.3, 0.2)
    run = Run(make_sample(*noisy(500, 2, seed=2)), stubborn(19, 0.6), rules)
    product = 1.0
    for done in islice(run, 36):
        error, vote = done.entry.error, done.entry.vote
        product *= error * math.exp(vote) + (1 - error) * math.exp(-vote)
        assert done.entry.training_error <= product_bound(run.ledger())
    assert done.entry.training_error == 19 / 500
    assert product < 0.2 * done.entry.training_error


@pytest.mark.parametrize(
    ("edge", "epsilon"), [(0.2, 0.1), pytest.param(0.1, 0.02, marks=pytest.mark.slow)]
)
def test_a_quarter_of_the_rounds_is_not_enough(edge: float, epsilon: float) -> None:
    """So the bound on the rounds is nearly as good as it could be."""
    rules = Projection(edge, epsilon)
    run = Run(make_sample(*noisy(1000, 2, seed=2)), stubborn(int(1100 * epsilon), edge), rules)
    enough = rules.most_rounds(edge, epsilon)
    for done in islice(run, 10_000):
        if done.entry.number <= enough / 4:
            assert done.entry.training_error >= epsilon
    assert done.entry.number > enough
    assert done.entry.training_error < epsilon


@given(class_samples(), st.floats(0.1, 0.9), st.floats(0.05, 0.5))
@examples(40)
def test_rows_that_are_followed_arrive_where_they_are(
    sample: Sample, edge: float, epsilon: float
) -> None:
    rules = Projection(edge, epsilon)
    run = Run(sample, Tree(max_leaves=3, min_leaf_rows=1), rules)
    log_weights = rules.start(sample.signs.shape)
    before, wronged = np.zeros(sample.signs.shape), rules.start((1,))
    for done in islice(run, 8):
        agree = (run.state.margins - before) / rules.rate
        log_weights = rules.follow(log_weights, agree, done.entry.memory)
        before = run.state.margins.copy()
        assert np.array_equal(log_weights, run.state.log_weights)
        assert (log_weights <= 0).all()
        wronged = rules.follow(wronged, np.full(1, -1.0), done.entry.memory)
        assert log_weights.max() <= wronged[0]  # no row stands above one that is always wrong


def test_a_run_with_monotone_trees_goes_on_as_if_never_stopped() -> None:
    """Such trees have cells that say less than a vote, or nothing."""
    X, signs = noisy(300, 3, seed=5)
    tree = Tree(max_leaves=12, min_leaf_rows=2)
    options: dict[str, Any] = {"learner": tree, "monotone_constraints": [1, -1, 1]}
    straight = BoostClassifier("projection", n_estimators=15, random_state=0, **options).fit(
        X, signs
    )
    model = BoostClassifier(
        "projection", n_estimators=4, random_state=0, warm_start=True, **options
    ).fit(X, signs)
    model.set_params(n_estimators=15).fit(X, signs)
    assert model_bytes(model.model_) == model_bytes(straight.model_)
    values = np.concatenate([tree.values.ravel() for tree in straight.estimators_])
    assert len(np.unique(np.abs(values))) > 1


def test_rows_of_little_weight_do_not_stop_the_scale() -> None:
    """Half of the rows are far below one unit; the rest has to make the mean."""
    raised = np.concatenate([np.full(50, 1e-300), np.full(50, 0.3)])
    scale = capped_scale(raised, np.ones(1), 0.4)
    assert np.minimum(1, scale * raised).mean() == pytest.approx(0.4, rel=1e-12)
    limit = capped_scale(raised, np.ones(1), 0.6)  # nor can they, where it is not enough
    assert np.minimum(1, limit * raised).mean() == pytest.approx(0.6, rel=1e-9)


def test_what_margins_cannot_tell_is_refused() -> None:
    rules = Projection()
    state = rules.init(np.ones((4, 1), dtype=np.int8), np.ones(1))
    with pytest.raises(ParameterError, match="path"):
        rules.chances(np.zeros(4), 0)
    with pytest.raises(ParameterError, match="path"):
        rules.resume(state, np.zeros((4, 1)), [0.1], [0.0])
    with pytest.raises(ParameterError, match="log weights"):
        rules.continue_on_other_rows(state, np.zeros((4, 1)), [0.1])


def test_many_classes_pay_the_number_of_classes() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(150, 2))
    labels = np.digitize(X[:, 0] + 0.3 * generator.normal(size=150), [-0.5, 0.5])
    run = Run(sample_of(X, labels, 3), Tree(max_leaves=4), Projection(0.2, 0.1))
    for done in islice(run, 80):
        assert done.entry.training_error <= product_bound(run.ledger())
    assert product_bound(run.ledger()) == pytest.approx(0.3, rel=1e-6)
