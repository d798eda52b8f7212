"""FilterBoost and MadaBoost pay for every edge out of a potential; SmoothBoost has margins."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.boosters.booster import Measured
from pacboost.boosters.filtering import FilterBoost, Mada, Smooth
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.numerics.exact import MAX_TOTAL
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.examples import examples
from tests.grids import each_value
from tests.training.run.prefixes import class_samples, shares
from tests.worlds import make_sample, noisy

Floats = NDArray[np.float64]


def loss(margins: Floats) -> Floats:
    """The potential of MadaBoost."""
    return np.where(margins < 0, 1 - margins, np.exp(-np.maximum(margins, 0.0)))


@dataclass(frozen=True)
class Account:
    """What a booster pays for an edge under its weights, out of what it has at first."""

    kind: type[FilterBoost | Mada]
    weight: Callable[[Floats], Floats]
    potential: Callable[[Floats], Floats]
    vote: Callable[[float], float]
    price: Callable[[float], float]
    most: float


LOGISTIC = Account(
    FilterBoost,
    lambda margins: 1 / (1 + np.exp(margins)),
    lambda margins: np.logaddexp(0, -margins),
    math.atanh,
    lambda edge: 1 - math.sqrt(max(0.0, 1 - edge**2)),
    math.log(2),
)
CLIPPED = Account(
    Mada,
    lambda margins: np.minimum(1.0, np.exp(-margins)),
    loss,
    lambda edge: edge * math.exp(-edge),
    lambda edge: 0.5 * edge**2 * math.exp(-edge),
    1.0,
)
ACCOUNTS = pytest.mark.parametrize("account", [LOGISTIC, CLIPPED], ids=["logistic", "clipped"])


def check_the_fall(
    account: Account, sample: Sample, learner: Learner, rounds: int,
    rate: float = 1.0, share: float | None = None,
) -> None:  # fmt: skip
    """Walk through a run of ±1 rules: every edge has its price, and all prices their limit."""
    run = Run(sample, learner, account.kind(rate), seed=4)
    list(islice(run, rounds))
    first, signs = shares(sample), sample.signs[:, 0]
    margins, spent = np.zeros(sample.n_rows), 0.0
    for done in run.done:
        weights = first * account.weight(margins)
        mu = float(weights.sum())
        answers = done.hypothesis.answers(sample)  # type: ignore[attr-defined]
        edge = float((weights * signs * answers).sum()) / mu
        rounding = 1e-9 + 2 * sample.n_rows / (mu * 2**52)  # weights are whole
        assert done.entry.edge == pytest.approx(edge, abs=rounding)
        if edge < 1 - 1e-6:
            allowed = 1e-9 + 2 * rounding / (1 - edge**2)
            assert done.entry.vote == pytest.approx(rate * account.vote(edge), abs=allowed)
        before = float((first * account.potential(margins)).sum())
        margins = margins + done.entry.vote * signs * answers
        fall = before - float((first * account.potential(margins)).sum())
        price = (rate if share is None else share) * mu * account.price(edge)
        assert fall >= price - 1e-9
        spent += price
        wrong = float(first[margins <= 0].sum())
        after = float((first * account.weight(margins)).sum())
        assert wrong <= account.kind.error_factor * after + 1e-12
    assert spent <= account.most + 1e-9


@given(
    class_samples(st.just(2)), st.sampled_from([(LOGISTIC, 1.0), (LOGISTIC, 0.3), (CLIPPED, 1.0)])
)
@examples(100)
def test_stumps_pay_for_their_edges(sample: Sample, kind: tuple[Account, float]) -> None:
    check_the_fall(kind[0], sample, Stump(), 30, kind[1])


@each_value
@ACCOUNTS
@pytest.mark.parametrize("edge", [0.05, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
def test_adversaries_pay_for_their_edges(account: Account, edge: float, order: str) -> None:
    check_the_fall(account, make_sample(*noisy(200, 2, seed=1)), Adversary(edge, order), 60)


@pytest.mark.parametrize(
    ("account", "edge", "rounds", "rate", "share"),
    [(LOGISTIC, 0.5, 30, 2.5, None), (CLIPPED, 0.9, 3, 1.0, math.exp(0.9))],
    ids=["votes 2.5 times as large", "a fall of ½ r² μ"],
)
def test_falls_that_do_not_pay_the_price_are_caught(
    account: Account, edge: float, rounds: int, rate: float, share: float | None
) -> None:
    sample = make_sample(*noisy(200, 2, seed=1))
    with pytest.raises(AssertionError):
        check_the_fall(account, sample, Adversary(edge), rounds, rate, share)


@each_value
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize(("edge", "epsilon"), [(0.2, 0.1), (0.4, 0.1), (0.3, 0.05), (0.6, 0.01)])
@pytest.mark.parametrize("rules", [FilterBoost(), FilterBoost(0.5), Mada()])
def test_the_error_falls_below_epsilon_in_the_promised_rounds(
    rules: FilterBoost | Mada, edge: float, epsilon: float, order: str
) -> None:
    """Known from the mean weight alone."""
    run = Run(make_sample(*noisy(300, 2, seed=2)), Adversary(edge, order), rules, seed=7)
    for done in islice(run, math.floor(rules.most_rounds(edge, epsilon)) + 1):
        mu = float(rules.chances(run.state.margins, len(run.done)).mean())
        assert done.entry.training_error <= rules.error_factor * mu
        weights = rules.request(run.state).weights
        assert weights.max() / weights.sum() <= (1 + 1e-9) / (mu * 300)
        if rules.error_factor * mu < epsilon:
            return
    raise AssertionError(f"the mean weight is {mu} after {len(run.done)} rounds")


@ACCOUNTS
@given(class_samples(), st.sampled_from([1.0, 5.0]))
@examples(40)
def test_no_row_weighs_more_than_it_can(account: Account, sample: Sample, rate: float) -> None:
    """Twice its first weight with FilterBoost, where rows start at one half; else that weight."""
    booster = account.kind(rate)
    run = Run(sample, Tree(max_leaves=3, min_leaf_rows=1), booster)
    limit = booster.error_factor * booster.request(run.state).weights.copy()
    for _ in islice(run, 10):
        request = booster.request(run.state)
        assert (request.weights <= limit + 1).all()
        assert (request.weights >= 1).all()
        assert request.weight == int(request.weights.sum()) <= MAX_TOTAL + limit.size
        expected = limit * account.weight(run.state.margins)
        assert request.weights == pytest.approx(expected, rel=1e-12, abs=1.5)


@each_value
@pytest.mark.parametrize("rate", [0.2, 0.7])
@pytest.mark.parametrize(("edge", "epsilon"), [(0.4, 0.1), (0.6, 0.05)])
def test_smaller_votes_keep_a_longer_promise(edge: float, epsilon: float, rate: float) -> None:
    """A part ν of the vote pays (ν - ν²/2)·r²·exp(-r)·μ in every round."""
    rules = Mada(rate)
    run = Run(make_sample(*noisy(300, 2, seed=2)), Adversary(edge), rules, seed=7)
    before, mu = 1.0, 1.0
    for done in islice(run, math.floor(rules.most_rounds(edge, epsilon)) + 1):
        r, margins = done.entry.edge, run.state.margins[:, 0]
        after = float(loss(margins).mean())
        assert before - after >= (rate - rate**2 / 2) * r**2 * math.exp(-r) * mu - 1e-9
        before, mu = after, float(rules.chances(margins, 0).mean())
        if mu < epsilon:
            return
    raise AssertionError(f"the mean weight is {mu}")


def loss_of_a_step(rules: Smooth) -> float:
    """The e of the theorem: (exp(x) - 1 - x)/λ with x = λ(1 + θ)."""
    x = rules.step_size * (1 + rules.ahead)
    return (math.exp(x) - 1 - x) / rules.step_size


def largest_gain(rules: Smooth, rounds: int, steepness: float = 1.0) -> float:
    """The most that Σ_t M_t(s_t - θ - e) comes to for a row, over all ways to be right or wrong."""
    price = rules.ahead + loss_of_a_step(rules)
    best, top = np.array([0.0]), 0.0  # by how often the row was right
    for done in range(rounds):
        expected = rules.ahead * done
        N = 2.0 * np.arange(done + 1, dtype=np.float64) - (done + expected)
        M = rules.chances(rules.step_size * (steepness * N + expected), done)
        after = np.full(done + 2, -np.inf)
        after[1:] = best + M * (1 - price)
        after[:-1] = np.maximum(after[:-1], best + M * (-1 - price))
        best = after
        top = max(top, float(best.max()))
    return top


@pytest.mark.parametrize("edge", [0.05, 0.2, 0.4, 0.6, 0.95])
def test_no_row_gains_more_than_the_area_under_its_weight(edge: float) -> None:
    """Σ_t M_t(s_t - θ - e) ≤ ∫ M = 1/λ, whatever the order in which rules are right and wrong."""
    rules = Smooth(edge)
    gain = largest_gain(rules, 400)
    assert gain <= 1 / rules.step_size + 1e-9
    assert gain >= 0.75 / rules.step_size  # and there is not much less to be said


@pytest.mark.parametrize("edge", [0.2, 0.4])
def test_weights_that_fall_three_times_as_slowly_are_caught(edge: float) -> None:
    rules = Smooth(edge)
    with pytest.raises(AssertionError):
        assert largest_gain(rules, 400, steepness=1 / 3) <= 1 / rules.step_size + 1e-9


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.999))
@examples(200)
def test_fewer_rounds_than_in_the_paper(edge: float, epsilon: float) -> None:
    gamma = edge / 2
    paper = 2 / (epsilon * gamma**2 * math.sqrt(1 - gamma))
    assert 0 < Smooth(edge, epsilon).most_rounds(edge, epsilon) < paper


@each_value
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize(("edge", "epsilon"), [(0.2, 0.1), (0.4, 0.1), (0.3, 0.05), (0.6, 0.01)])
def test_in_the_promised_rounds_rows_get_their_margin(
    edge: float, epsilon: float, order: str
) -> None:
    rules = Smooth(edge, epsilon)
    run = Run(make_sample(*noisy(300, 2, seed=2)), Adversary(edge, order), rules, seed=7)
    heaviest = rules.request(run.state).weights.max() / 2**52
    for done in islice(run, math.floor(rules.most_rounds(edge, epsilon)) + 1):
        assert heaviest <= (1 + 1e-9) / (epsilon * 300)  # of the D_t that this rule was found for
        mu = float(rules.chances(run.state.margins, len(run.done)).mean())
        assert done.entry.training_error <= mu
        weights = rules.request(run.state).weights
        heaviest = weights.max() / weights.sum()
        assert heaviest <= (1 + 1e-9) / (mu * 300)
    assert mu < epsilon
    assert str(run.stopped).endswith(f"the training error, is below {epsilon:g}")
    normalised = run.state.margins[:, 0] / (rules.step_size * len(run.done))
    assert (normalised <= rules.ahead).mean() < epsilon


@given(class_samples(st.just(2)), st.floats(0.1, 0.9), st.floats(0.05, 0.5))
@examples(60)
def test_margins_at_the_stop_whatever_the_learner(
    sample: Sample, edge: float, epsilon: float
) -> None:
    """The share of rows with a margin of θ or less is at most the mean weight, in every round."""
    rules = Smooth(edge, epsilon)
    run = Run(sample, Tree(max_leaves=4, min_leaf_rows=1), rules)
    first = shares(sample)
    for number, _ in enumerate(islice(run, 30), start=1):
        margins = run.state.margins[:, 0]
        slow = margins <= rules.ahead * rules.step_size * number
        mu = float((first * rules.chances(margins, number)).sum())
        assert float(first[slow].sum()) <= mu + 1e-9


def test_weights_are_servedios() -> None:
    rules = Smooth(edge=0.2)
    assert rules.ahead == pytest.approx(0.1 / 2.1)
    assert rules.vote(Measured(10, 1)) == rules.step_size
    for rounds, lead in ((5, 3), (5, -1), (9, 9)):
        N = lead - rounds * rules.ahead
        expected = 1.0 if N < 0 else 0.9 ** (N / 2)
        chance = rules.chances(np.array([lead * rules.step_size]), rounds)
        assert chance == pytest.approx([expected], rel=1e-9)
