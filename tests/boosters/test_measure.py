"""Lecture 003's measure: the elevator, the identities on an enumerated cube, and the rounds."""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.boosters.filtering import Measure
from pacboost.samples.sample import Sample
from pacboost.theory.finite_worlds import BooleanConcept
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from pacboost.training.run.stop_reason import Stop
from tests.examples import examples
from tests.grids import each_value
from tests.worlds import make_sample, noisy

Floats = NDArray[np.float64]
Weigh = Callable[[int], float]


def weigher(rules: Measure, steepness: float = 1.0) -> Weigh:
    """M as a function of the floor N."""
    return lambda floor: float(rules.chances(np.array([steepness * rules.slope * floor]), 0)[0])


def most(theta: float, rides: int) -> float:
    return 1 / (2 * theta) + theta * rides / 2


def check_ride(M: Weigh, theta: float, ride: Iterable[int]) -> None:
    floor, total = 0, 0.0
    for length, direction in enumerate(ride, start=1):
        total += direction * M(floor)
        floor += direction
        assert total <= most(theta, length) + 1e-9


def greedy(M: Weigh, length: int) -> list[int]:
    """Take the two moves that together give most, and make the first of them."""
    floor, ride = 0, []
    for _ in range(length):
        up = M(floor) + max(M(floor + 1), -M(floor + 1))
        down = -M(floor) + max(M(floor - 1), -M(floor - 1))
        ride.append(1 if up >= down else -1)
        floor += ride[-1]
    return ride


def optimal(M: Weigh, length: int) -> list[float]:
    """The largest A_i over all rides of each length, by a dynamic programme over floors."""
    weights = np.array([M(floor) for floor in range(-length, length + 1)])
    best = np.full(2 * length + 1, -np.inf)
    best[length] = 0.0
    tops = []
    for _ in range(length):
        after = np.full(best.size, -np.inf)
        after[1:] = best[:-1] + weights[:-1]
        after[:-1] = np.maximum(after[:-1], best[1:] - weights[1:])
        best = after
        tops.append(float(best.max()))
    return tops


RULES = st.builds(Measure, st.floats(0.05, 0.99), st.floats(0.05, 0.99), st.floats(0.2, 1.0))


@given(RULES)
@examples(25)
def test_no_ride_at_all_exceeds_the_bound(rules: Measure) -> None:
    for length, top in enumerate(optimal(weigher(rules), 200), start=1):
        assert top <= most(rules.slope, length) + 1e-9


@pytest.mark.parametrize(("edge", "epsilon"), [(0.5, 0.5), (0.5, 0.25), (0.5, 0.125)])
def test_the_best_ride_attains_the_bound(edge: float, epsilon: float) -> None:
    """Up to the top, where M is 0, then down one floor and up again for ever."""
    rules = Measure(edge, epsilon, share=1.0)
    top = round(1 / rules.slope)
    tops = optimal(weigher(rules), 3 * top)
    for length in range(top, 3 * top + 1, 2):
        assert tops[length - 1] == pytest.approx(most(rules.slope, length), rel=1e-12)


def test_a_slope_twice_as_steep_breaks_the_bound() -> None:
    rules = Measure(0.5, 0.25, share=1.0)
    steep = weigher(rules, steepness=2.0)
    with pytest.raises(AssertionError):
        check_ride(steep, rules.slope, greedy(steep, 400))
    assert optimal(steep, 400)[-1] > most(rules.slope, 400) + 1


def test_the_lectures_own_constant_is_looser() -> None:
    """It says 1/θ + θi/2, and with it 2/(εr)² rounds instead of 1/(εr)²."""
    rules = Measure(0.2, 0.1, share=1.0)
    assert rules.most_rounds(0.2, 0.1) == pytest.approx(1 / (0.2 * 0.1) ** 2)
    assert optimal(weigher(rules), 60)[-1] <= most(rules.slope, 60) + 1e-9 < 1 / rules.slope


def cube(features: int, seed: int) -> Sample:
    """All rows, with a concept drawn at random."""
    table = np.random.default_rng(seed).random(2**features) < 0.5
    place = 2 ** np.arange(features)
    world = BooleanConcept(features, lambda X: table[(X @ place).astype(int)])
    return make_sample(world.domain(), world.truth(world.domain()))


def check_the_lecture(run: Run, rules: Measure, rounds: int) -> int:
    """Hold items 4 to 9 of the lecture in every round; give how many there were."""
    sample = run.sample
    size, signs = sample.n_rows, sample.signs[:, 0]
    theta, level = Fraction(rules.slope), Fraction(rules.share) * Fraction(rules.epsilon)
    floors = np.zeros(size, dtype=int)
    summed = [Fraction(0)] * size
    M = [Fraction(1)] * size
    advantages = Fraction(0)
    for number, done in enumerate(islice(run, rounds), start=1):
        right = signs * done.hypothesis.answers(sample)  # type: ignore[attr-defined]
        # 4, 5: the mean and the mass; 7, 8: the advantage and the chance to be right
        mass, advantage = sum(M), sum(int(r) * m for r, m in zip(right, M, strict=True))
        mu = mass / size
        chance = sum(m / mass for r, m in zip(right, M, strict=True) if r > 0)
        assert advantage == (2 * chance - 1) * mass
        edge = Fraction(rules.edge)
        assert (advantage >= edge * mass) == (chance >= (1 + edge) / 2)
        zeros = sum(1 for m in M if m == 0)  # they weigh one unit, so as not to be forgotten
        assert done.entry.edge == pytest.approx(float(advantage / mass), abs=1e-9)
        assert abs(Fraction(done.entry.weight) - mass * (2**52 // size)) <= zeros
        # 9: what the rounds spend
        assert mu >= level
        if chance >= (1 + edge) / 2:
            assert advantage >= edge * size * level
        advantages += advantage
        for x in range(size):
            summed[x] += int(right[x]) * M[x]
            assert summed[x] <= 1 / (2 * theta) + theta * number / 2
        assert sum(summed) == advantages
        floors += right
        M = [min(Fraction(1), max(Fraction(0), 1 - theta * int(floor))) for floor in floors]
        # 3, 6: the measure, and the distribution it makes
        assert sum(m / sum(M) for m in M) == 1
        weights = run.booster.request(run.state).weights[:, 0]
        unit = 2**52 // size
        assert [max(Fraction(1), m * unit) for m in M] == [Fraction(int(w)) for w in weights]
        wrong = sum(1 for floor in floors if floor <= 0)
        assert done.entry.training_error == wrong / size
        assert Fraction(wrong, size) <= sum(M) / size
    return len(run.done)


@each_value
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize(("edge", "epsilon", "share"), [(0.5, 0.25, 1.0), (0.25, 0.25, 0.75)])
def test_the_lecture_on_a_cube(edge: float, epsilon: float, share: float, order: str) -> None:
    rules = Measure(edge, epsilon, share)
    promised = math.floor(rules.most_rounds(edge, epsilon))
    assert promised <= 1 / (share * epsilon * edge) ** 2 + 1e-6
    run = Run(cube(6, seed=3), Adversary(edge, order), rules, seed=5)
    assert check_the_lecture(run, rules, promised + 1) <= promised
    assert run.stopped is not None
    assert run.stopped.kind is Stop.BOOSTER
    assert run.done[-1].entry.training_error < epsilon


def test_a_measure_of_half_the_weight_is_caught() -> None:
    class Light(Measure):
        def chances(self, margins: Floats, rounds: int, signs: object = None) -> Floats:
            return 0.5 * super().chances(margins, rounds)

        def _fill(
            self, margins: Floats, base: Floats, rounds: int, weights: NDArray[np.int64]
        ) -> int:
            return super()._fill(margins, base if rounds == 0 else base / 2, rounds, weights)

    rules = Light(0.5, 0.25, 1.0)
    with pytest.raises(AssertionError):
        check_the_lecture(Run(cube(5, seed=3), Adversary(0.5), rules), rules, 64)


@each_value
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize(("edge", "epsilon"), [(0.2, 0.1), (0.4, 0.1), (0.3, 0.05), (0.6, 0.01)])
@pytest.mark.parametrize("share", [0.75, 1.0])
def test_the_mean_weight_falls_below_epsilon_in_the_promised_rounds(
    edge: float, epsilon: float, share: float, order: str
) -> None:
    rules = Measure(edge, epsilon, share)
    run = Run(make_sample(*noisy(300, 2, seed=2)), Adversary(edge, order), rules, seed=7)
    for _ in islice(run, math.floor(rules.most_rounds(edge, epsilon)) + 1):
        weights = rules.request(run.state).weights[:, 0]
        mu = float(rules.chances(run.state.margins, 0).mean())
        assert run.done[-1].entry.training_error <= mu
        assert weights.max() / weights.sum() <= (1 + 1e-9) / (mu * 300)
    assert mu < epsilon
    assert "mean weight" in str(run.stopped)
    assert run.done[-1].entry.training_error < epsilon


def test_an_edge_below_half_the_promise_bounds_nothing() -> None:
    rules = Measure(0.2, 0.1)
    assert rules.most_rounds(0.09, 0.1) == math.inf
    assert rules.most_rounds(0.2, 0.04) == math.inf
    assert rules.most_rounds(0.4, 0.1) < rules.most_rounds(0.2, 0.1)
