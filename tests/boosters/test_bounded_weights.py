"""Weights as chances: the same numbers as in memory, for every booster that can filter."""

import math
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.boosters import FilterBoost, Logit, Mada, Measure, Projection, Smooth
from pacboost.boosters.booster import Measured, Moved
from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.boosters.registry import BOOSTERS
from pacboost.learners import Stump, Tree
from pacboost.learners.learner import Learner
from pacboost.samples.sample import Sample
from pacboost.training.run.loop import Run
from tests.examples import examples
from tests.training.run.prefixes import class_samples, shares, wrong

Floats = NDArray[np.float64]

BY_MARGIN: list[FilteringBooster[Any]] = [
    Logit(),
    Logit(0.3, prior=True),
    Mada(),
    FilterBoost(),
    Measure(0.5, 0.3),
    Smooth(0.5, 0.1),
]
ALL: list[FilteringBooster[Any]] = [*BY_MARGIN, Projection(0.5, 0.2)]
LEARNERS: list[Learner] = [Stump(), Tree(max_leaves=4, min_leaf_rows=1)]
MANY = examples(80)


def weighing(booster: FilteringBooster[Any], state: Any) -> NDArray[np.int64]:
    """What a row counts for in whole numbers: Newton's steps have it in their pulls."""
    request = booster.request(state)
    part = np.abs(request.pulls) if isinstance(booster, Logit) else request.weights
    return np.asarray(part.max(axis=1))


def chances(booster: FilteringBooster[Any], run: Run) -> Floats:
    if booster.by_path:
        return np.asarray(np.exp(run.state.log_weights).max(axis=1))
    return booster.chances(run.state.margins, len(run.done), run.sample.signs)


@given(class_samples(), st.sampled_from(ALL), st.sampled_from(LEARNERS))
@MANY
def test_chances_are_the_weights_in_memory(
    sample: Sample, booster: FilteringBooster[Any], learner: Learner
) -> None:
    run = Run(sample, learner, booster, seed=1)
    first = shares(sample)
    pairs = 2 if isinstance(booster, FilterBoost) else 1  # its rows start at one half
    unit = first * pairs * 2**52 / sample.signs.shape[1]
    for _ in islice(run, 8):
        accepted = chances(booster, run)
        assert accepted.shape == (sample.n_rows,)
        assert (accepted >= 0).all()
        assert (accepted <= 1).all()
        assert weighing(booster, run.state) == pytest.approx(accepted * unit, rel=1e-9, abs=2.0)


@given(class_samples(), st.sampled_from(BY_MARGIN), st.sampled_from(LEARNERS))
@MANY
def test_the_error_is_at_most_the_factor_times_the_mean_chance(
    sample: Sample, booster: FilteringBooster[Any], learner: Learner
) -> None:
    """Row by row: one that is wrong or tied is kept with a chance of at least 1/factor."""
    run = Run(sample, learner, booster, seed=1)
    for _ in islice(run, 8):
        accepted = chances(booster, run)
        scores = run.state.margins * sample.signs
        assert (booster.error_factor * accepted >= wrong(scores, sample) - 1e-12).all()


@pytest.mark.parametrize("booster", BY_MARGIN, ids=lambda b: b.name)
def test_a_smaller_factor_is_caught(booster: FilteringBooster[Any]) -> None:
    """A row that is tied shows it at once."""
    margins = np.array([0.0, 1e-9, -1e-9])
    accepted = booster.chances(margins, 0)
    assert (booster.error_factor * accepted[[0, 2]] >= 1).all()
    assert (0.9 * booster.error_factor * accepted < 1).any()


@given(class_samples(), st.sampled_from(ALL), st.sampled_from(LEARNERS), st.integers(0, 6))
@MANY
def test_entering_rows_go_on_as_if_they_had_been_there(
    sample: Sample, booster: FilteringBooster[Any], learner: Learner, rounds: int
) -> None:
    run = Run(sample, learner, booster, seed=1)
    list(islice(run, rounds))
    state = run.state
    fresh = booster.init(sample.signs, sample.base)
    log_weights = state.log_weights.copy() if booster.by_path else None
    entered = booster.continue_on_other_rows(
        fresh, state.margins.copy(), booster.votes(state).tolist(), log_weights
    )
    assert np.array_equal(weighing(booster, entered), weighing(booster, state))
    assert booster.stop(entered) == booster.stop(state)
    generator = np.random.default_rng(rounds)
    if isinstance(booster, Logit) or sample.signs.shape[1] > 1:
        cells = generator.integers(3, size=sample.n_rows).astype(np.uint8)
        values = 2.0**-6 * generator.integers(-5, 6, size=(3, sample.signs.shape[1]))
        both = [booster.move(s, Moved(cells, values.astype(float), 1.0)) for s in (entered, state)]
    else:
        agree = generator.choice(np.array([-1, 1], dtype=np.int8), size=sample.signs.shape)
        both = [booster.step(s, agree, Measured(10, 3)) for s in (entered, state)]
    one, other = (booster.request(s) for s in both)
    assert np.array_equal(one.weights, other.weights)
    assert np.array_equal(one.pulls, other.pulls)
    assert (one.weight, one.pull) == (other.weight, other.pull)
    assert booster.votes(both[0]).tolist() == booster.votes(both[1]).tolist()
    assert booster.memory(both[0]) == booster.memory(both[1])


@pytest.mark.parametrize("booster", BY_MARGIN[2:], ids=lambda b: b.name)
def test_rows_kept_by_chance_and_weighed_by_its_inverse_stand_for_all(
    booster: FilteringBooster[Any],
) -> None:
    """Base weights 1/chance make all rows that are kept equal when they enter."""
    margins = np.linspace(-1, 0.9, 50)[:, None] * 0.5
    accepted = booster.chances(margins[:, 0], 3)
    signs = np.ones((50, 1), dtype=np.int8)
    state = booster.continue_on_other_rows(
        booster.init(signs, 1 / accepted), margins, [0.1, 0.1, 0.1]
    )
    weights = booster.request(state).weights[:, 0]
    assert weights / weights.mean() == pytest.approx(np.ones(50), rel=1e-9)


def test_far_margins_neither_overflow_nor_warn() -> None:
    far = np.array([-1e6, -800.0, 800.0, 1e6])
    for booster in BY_MARGIN:
        assert booster.chances(far, 1) == pytest.approx([1, 1, 0, 0], abs=1e-9)
    scores = np.array([[900.0, -900.0, 0.0], [-900.0, 900.0, 0.0]])
    signs = np.array([[1, -1, -1], [1, -1, -1]], dtype=np.int8)
    assert Logit().chances(scores * signs, 1, signs) == pytest.approx([0, 1], abs=1e-9)


OF_FILTER_BOOST = 2 * math.log(2) / (0.1 * (1 - math.sqrt(0.96)))
OF_MADA = math.exp(0.2) / (2 * 0.1 * 0.1**2)


@pytest.mark.parametrize(
    ("rules", "edge", "epsilon", "expected"),
    [
        (FilterBoost(), 0.2, 0.1, OF_FILTER_BOOST),
        (FilterBoost(0.1), 0.2, 0.1, 10 * OF_FILTER_BOOST),
        (FilterBoost(1.5), 0.2, 0.1, math.inf), (FilterBoost(), 0.0, 0.1, math.inf),
        (Mada(), 0.2, 0.1, OF_MADA), (Mada(0.5), 0.2, 0.1, OF_MADA / 0.75),
        (Mada(1.1), 0.2, 0.1, math.inf), (Mada(), 0.0, 0.1, math.inf),
        (Smooth(0.4), 0.1, 0.1, math.inf),
        (Projection(0.2, 0.1), 0.4, 0.1, math.log(10) / (0.2 * 0.3)),
        (Projection(0.2, 0.1), 0.2, 0.2, math.log(5) / (0.2 * 0.1)),
        (Projection(0.2, 0.1), 0.09, 0.1, math.inf), (Projection(0.2, 0.1), 0.2, 0.05, math.inf),
    ],
)  # fmt: skip
def test_promised_rounds(
    rules: FilteringBooster[Any], edge: float, epsilon: float, expected: float
) -> None:
    """More for smaller votes, none for votes that are too large or edges that are too small."""
    assert rules.most_rounds(edge, epsilon) == pytest.approx(expected)


def test_all_that_can_filter_are_tested_here() -> None:
    names_of_kind = {name for name, kind in BOOSTERS.items() if issubclass(kind, FilteringBooster)}
    assert names_of_kind == {booster.name for booster in ALL} | {
        "majority"
    }  # which test_majority.py tests
