"""AdaBoost's theorem on every run and every prefix, over random data and over adversaries."""

import math
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.boosters.adaboost import AdaBoost, ExponentialState
from pacboost.boosters.booster import Measured
from pacboost.bounds.training import product_bound, rounding_slack
from pacboost.hypotheses.hypothesis import Rule
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.examples import examples
from tests.grids import each_value
from tests.worlds import make_sample, noisy, small_samples

MANY = examples(60)


def distribution(sample: Sample, margins: np.ndarray) -> np.ndarray:
    """D(i) ∝ base(i)·exp(-margin_i), computed here in plain floats."""
    base = np.broadcast_to(sample.base, (sample.n_rows,))
    logs = np.log(base) - margins
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def check_every_prefix(sample: Sample, learner: Learner, booster: AdaBoost, rounds: int) -> int:
    """Recompute everything from the rules and votes alone, and hold the ledger against it."""
    run = Run(sample, learner, booster, seed=3)
    signs = sample.signs[:, 0]
    first = distribution(sample, np.zeros(sample.n_rows))
    scores = np.zeros(sample.n_rows)
    product, exponent, count = 1.0, 0.0, 0
    for done in islice(run, rounds):
        entry = done.entry
        if entry.number == 1:  # also after a rule without mistakes has made the run start again
            scores[:], product, exponent, count = 0.0, 1.0, 0.0, 0
        count += 1
        rounding = 1e-9 + count * sample.n_rows / 2**51
        before = distribution(sample, signs * scores)
        assert isinstance(done.hypothesis, Rule)
        answers = done.hypothesis.answers(sample)
        assert set(np.unique(answers)) <= {-1, 1}
        error = before[answers != signs].sum()
        assert entry.error == pytest.approx(error, abs=rounding)
        assert entry.edge == pytest.approx(1 - 2 * entry.error, abs=1e-15)
        scores += entry.vote * answers
        product *= entry.normaliser
        exponent += entry.edge**2 / 2
        loss = (first * np.exp(-signs * scores)).sum()
        if booster.learning_rate > 1:  # large votes magnify the rounding; the proof says how far
            rounding += rounding_slack(run.ledger())
        assert product == pytest.approx(loss, abs=rounding, rel=1e-9)
        training_error = first[signs * scores <= 0].sum()
        assert entry.training_error == pytest.approx(training_error, abs=rounding)
        assert training_error <= product * (1 + 1e-9) + rounding
        assert training_error <= product_bound(run.ledger()) + 1e-15
        if booster.plain_votes and entry.error > 0:
            assert product <= math.exp(-exponent) * (1 + 1e-9)
            after = distribution(sample, signs * scores)
            assert after[answers != signs].sum() == pytest.approx(0.5, abs=rounding)
    return count


@given(small_samples())
@MANY
def test_stumps_on_random_data(sample: Sample) -> None:
    check_every_prefix(sample, Stump(), AdaBoost(), 25)


@given(small_samples(), st.sampled_from([0.05, 0.5, 1.5, 10.0]), st.sampled_from([0.1, 0.4, 50.0]))
@MANY
def test_scaled_and_capped_votes_keep_a_valid_bound(
    sample: Sample, rate: float, cap: float
) -> None:
    check_every_prefix(sample, Stump(), AdaBoost(rate, cap), 25)


@each_value
@pytest.mark.parametrize("edge", [0.02, 0.1, 0.3, 0.6])
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
def test_adversaries(edge: float, order: str) -> None:
    rounds = 80
    sample = make_sample(*noisy(500, 3, seed=1))
    run = Run(sample, Adversary(edge, order), AdaBoost(), seed=5)
    for done in islice(run, rounds):
        assert done.entry.edge >= edge - 1e-12
    assert check_every_prefix(sample, Adversary(edge, order), AdaBoost(), rounds) == rounds
    assert run.done[-1].entry.training_error <= math.exp(-0.5 * edge**2 * rounds) * (1 + 1e-9)


def test_a_broken_update_is_caught() -> None:
    """The twin that forgets to weigh anew must fail the same check."""

    class Forgetful(AdaBoost):
        def step(
            self, state: ExponentialState, agree: np.ndarray, measured: Measured
        ) -> ExponentialState:
            weights = state.weights.copy()
            after = super().step(state, agree, measured)
            after.weights[:] = weights
            return after

    with pytest.raises(AssertionError):
        check_every_prefix(make_sample(*noisy(200, 3, seed=2)), Stump(), Forgetful(), 10)


def test_zero_training_error_within_the_promised_rounds() -> None:
    """With edge r, T > ln(n)/(-½ ln(1 - r²)) rounds leave no mistake."""
    for edge in (0.1, 0.3):
        needed = math.floor(math.log(300) / (-0.5 * math.log1p(-(edge**2)))) + 1
        run = Run(make_sample(*noisy(300, 3, seed=3)), Adversary(edge), AdaBoost(), seed=1)
        last = list(islice(run, needed))[-1]
        assert last.entry.training_error == 0


def test_stagewise_exponential_loss_gives_the_same_votes() -> None:
    """Weights start at 1, never normalised; α = ½ ln(Σw/ε - 1); the loss falls each round."""
    X, signs = noisy(400, 4, seed=4)
    sample = make_sample(X, signs)
    run = Run(sample, Stump(), AdaBoost())
    weights, loss = np.ones(400), 400.0
    for done in islice(run, 40):
        assert isinstance(done.hypothesis, Rule)
        answers = done.hypothesis.answers(sample)
        wrong = weights[answers != signs].sum()
        alpha = 0.5 * math.log(weights.sum() / wrong - 1)
        assert done.entry.vote == pytest.approx(alpha, abs=1e-9)
        weights = weights * np.exp(-alpha * signs * answers)
        assert weights.sum() < loss
        loss = weights.sum()


def test_margins_keep_growing_after_training_error_is_zero() -> None:
    X, signs = noisy(150, 8, seed=5, noise=0.0)
    sample = make_sample(X, signs)
    run = Run(sample, Stump(), AdaBoost())
    least = {}
    scores, norm = np.zeros(150), 0.0
    first_perfect = None
    for done in islice(run, 600):
        assert isinstance(done.hypothesis, Rule)
        scores += done.entry.vote * done.hypothesis.answers(sample)
        norm += done.entry.vote
        least[done.entry.number] = float((signs * scores).min() / norm)
        if first_perfect is None and done.entry.training_error == 0:
            first_perfect = done.entry.number
    assert first_perfect is not None
    assert first_perfect < 300
    assert len(run.done) == 600
    assert least[600] > least[first_perfect + 20] > 0


def test_the_points_of_the_lecture() -> None:
    from pacboost.sources.toy import lecture_points

    X, y = lecture_points()
    sample = make_sample(X, y.astype(np.int8))
    run = Run(sample, Stump(), AdaBoost())
    entries = [done.entry for done in islice(run, 3)]
    assert [e.error for e in entries] == pytest.approx([3 / 10, 3 / 14, 3 / 22], abs=1e-9)
    assert [round(e.vote, 4) for e in entries] == [0.4236, 0.6496, 0.9229]
    assert math.prod(e.normaliser for e in entries) == pytest.approx(0.516230, abs=5e-7)
    assert entries[-1].training_error == 0
