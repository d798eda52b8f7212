"""Lower bounds: vectors, conditions, and worlds in which fewer examples really fail."""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import beta, binom

from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.growth import log_sauer
from pacboost.numerics.kl import kl
from pacboost.theory.finite import examples_for_consistent
from pacboost.theory.sample_sizes import (
    blumer,
    blumer_upper,
    ehkv,
    examples_for_no_free_lunch,
    examples_for_sharp,
    examples_for_strip,
    examples_needed,
    no_free_lunch_risk,
    runs_needed,
    selection_size,
    selection_threshold,
    sharp,
    strip,
    strip_exact,
)
from tests.bounds.coverage import check_coverage, check_rejected
from tests.grids import each_value


def test_vectors() -> None:
    assert blumer(0.05, 0.05) == pytest.approx(56.9, abs=0.05)
    assert ehkv(0.05, 0.01, 10) == pytest.approx(5.6, abs=0.05)
    assert blumer_upper(0.05, 0.05, 10) == 12836
    assert examples_needed(0.05, 0.05, 10) == 57


def test_the_better_of_the_two_is_taken() -> None:
    assert examples_needed(0.05, 0.01, 10_000) == np.ceil(ehkv(0.05, 0.01, 10_000))
    assert examples_needed(0.05, 0.01, 1) == 1
    assert examples_needed(0.3, 0.01, 10_000) == np.ceil(blumer(0.3, 0.01))
    assert examples_needed(0.05, 0.0715, 10_000) < ehkv(0.05, 0.0714, 10_000)


@each_value
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.4, 0.5, 0.9])
@pytest.mark.parametrize("delta", [0.001, 0.05, 0.5])
def test_blumer_exactly(epsilon: float, delta: float) -> None:
    """With fewer examples a point of mass epsilon is missed too often; with many more it is not."""
    needed = blumer(epsilon, delta)
    assert (1 - epsilon) ** np.floor(needed) >= delta
    twin = needed / (1 - epsilon) ** 2  # claims to be necessary, but fewer examples do
    assert (1 - epsilon) ** twin < delta


def test_lower_stays_below_upper() -> None:
    values = (0.001, 0.01, 0.1)
    for epsilon, delta, features in product(values, values, (1, 2, 10)):
        lower = examples_needed(epsilon, delta, 2 * features)
        assert lower <= examples_for_sharp(epsilon, delta, features)
        assert lower <= blumer_upper(epsilon, delta, 2 * features)
        assert lower <= examples_for_consistent(epsilon, delta, 1.4 * features)


@each_value
@pytest.mark.parametrize("epsilon", [0.5, 0.1, 0.01, 0.001])
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-9])
@pytest.mark.parametrize("dimension", [1, 2, 10, 100])
def test_the_sufficient_number_is_sufficient(epsilon: float, delta: float, dimension: int) -> None:
    """2·Π(2m)·2^(-εm/2) ≤ δ, which the page on lower bounds derives with pencil and paper."""
    m = blumer_upper(epsilon, delta, dimension)
    log_failure = np.log(2) + log_sauer(dimension, 2 * m) - epsilon * m / 2 * np.log(2)
    assert log_failure <= np.log(delta)


def test_constants_of_the_agnostic_bound() -> None:
    """The chain of numbers in the proof: with d/(100ε²) examples the failure exceeds 1/64."""
    for epsilon in np.linspace(1e-6, 1 / 64, 200):
        share = (1 - (8 * epsilon) ** 2) ** (1 / (100 * epsilon**2))
        wrong = 0.5 * (1 - np.sqrt(1 - share))
        assert (8 * wrong - 1) / 7 > 1 / 64
    twin = 0.5 * (1 - np.sqrt(1 - share**2))  # with d/(50ε²) examples the argument breaks down
    assert (8 * twin - 1) / 7 < 1 / 64


def test_no_free_lunch_over_all_labellings() -> None:
    """Eight points, three examples: averaged over all labellings every learner guesses off-sample,
    and for some labelling the risk is 1/8 or more with probability 1/7 or more."""
    domain, n = 8, 3
    labellings = np.array(list(product((0, 1), repeat=domain)))
    samples = np.array(list(product(range(domain), repeat=n)))
    is_drawn = np.zeros((len(samples), domain), dtype=bool)
    np.put_along_axis(is_drawn, samples, True, axis=1)
    for guess in ("zero", "majority", "opposite"):
        risks = np.empty((len(labellings), len(samples)))
        off = 0.0
        for i, labels in enumerate(labellings):
            ones = (is_drawn * labels).sum(axis=1)
            common = (2 * ones > is_drawn.sum(axis=1)).astype(int)
            rest = {"zero": 0 * common, "majority": common, "opposite": 1 - common}[guess]
            wrong = ~is_drawn & (rest[:, None] != labels)
            risks[i] = wrong.mean(axis=1)
            off += (wrong.sum(axis=1) / (~is_drawn).sum(axis=1)).mean()
        assert off / len(labellings) == pytest.approx(0.5, abs=1e-12)
        assert risks.mean() == pytest.approx(no_free_lunch_risk(n, domain), rel=1e-9)
        assert (risks >= 1 / 8).mean(axis=1).max() >= 1 / 7


def test_no_free_lunch_in_numbers() -> None:
    assert examples_for_no_free_lunch(7) == examples_for_no_free_lunch(8) == 4
    assert no_free_lunch_risk(5, 1) == 0


@pytest.mark.parametrize(
    ("epsilon", "delta", "dimension"), [(0.05, 1 / 14, 10), (0.2, 0.01, 10), (0.05, 0.01, 1)]
)
def test_refuses_where_not_proved(epsilon: float, delta: float, dimension: int) -> None:
    with pytest.raises(NotCertified):
        ehkv(epsilon, delta, dimension)


def test_vectors_of_confidence() -> None:
    assert selection_size(0.1, 0.02, 37, 0.05) == 14_261
    assert selection_size(0.1, 0.1, 37, 0.05) == 722
    assert selection_threshold(0.1, 0.02) == pytest.approx(0.109734, abs=5e-7)
    assert runs_needed(0.9, 0.05) == 36


@given(st.floats(1e-6, 0.999), st.floats(1e-9, 0.999))
@example(0.5, 2**-9)
@example(0.25, 2**-11)
@example(0.1, 0.02)
@example(0.4, 3.4359738368000034e-07)
def test_runs_are_the_fewest_that_suffice(failure: float, delta: float) -> None:
    k = runs_needed(failure, delta)
    assert k * math.log(failure) <= math.log(delta / 2)
    if k > 1:
        assert (k - 1) * math.log(failure) > math.log(delta / 2) * (1 + 1e-12)
    assert runs_needed(failure, delta / 2) >= k
    assert runs_needed(failure / 2, delta) <= k


@given(st.floats(0.001, 0.5), st.floats(0.001, 0.45), st.integers(1, 1000), st.floats(1e-6, 0.5))
def test_selection_size(epsilon: float, gap: float, runs: int, delta: float) -> None:
    t = selection_threshold(epsilon, gap)
    assert epsilon < t < epsilon + gap
    assert kl(t, epsilon) == pytest.approx(kl(t, epsilon + gap), rel=1e-6)
    size = selection_size(epsilon, gap, runs, delta)
    each = delta / (2 * runs)
    assert math.exp(-size * kl(t, epsilon)) <= each * (1 + 1e-9)
    assert math.exp(-size * kl(t, epsilon + gap)) <= each * (1 + 1e-5)
    assert selection_size(epsilon, gap, runs + 1, delta) >= size
    assert selection_size(epsilon, gap, runs, delta / 2) >= size


def test_exact_tails_keep_the_promise() -> None:
    """One good run and k - 1 that are just too bad: the exact chance of a wrong choice."""
    n, k = selection_size(0.1, 0.1, 37, 0.05), 37
    mistakes = np.arange(n + 1)
    good = binom.pmf(mistakes, n, 0.1)
    some_bad_is_no_worse = 1 - binom.sf(mistakes, n, 0.2) ** (k - 1)
    assert float(good @ some_bad_is_no_worse) <= 0.05 / 2


LECTURE_RUNS = math.ceil(1 / 0.9 * math.log(2 / 0.05))
"""The lecture's formula, read with the chance of failure 0.9, asks for 5 runs."""


def chosen(failure: float, k: int, n: int, runs: int) -> int:
    """Count how often the winner is worse than ε + gap = 0.2, when good runs err on 0.1."""
    generator = np.random.default_rng(1)
    risks = np.where(generator.random((runs, k)) < failure, 0.201, 0.1)
    mistakes = generator.binomial(n, risks)
    winners: Sequence[float] = risks[np.arange(runs), mistakes.argmin(axis=1)].tolist()
    return sum(risk > 0.2 for risk in winners)


def test_coverage_of_the_promise() -> None:
    k = runs_needed(0.9, 0.05)
    n = selection_size(0.1, 0.1, k, 0.05)
    check_coverage("confidence: winner within gap", chosen(0.9, k, n, 2000), 2000, 0.05)


def test_twins_with_too_few_runs_or_rows() -> None:
    n = selection_size(0.1, 0.1, 36, 0.05)
    assert 0.9**LECTURE_RUNS > 0.05 / 2
    check_rejected("twin: runs by the lecture", chosen(0.9, LECTURE_RUNS, n, 2000), 2000, 0.05)
    check_rejected("twin: a tenth of the rows", chosen(0.9, 36, n // 10, 2000), 2000, 0.05)


@pytest.mark.parametrize("gap", [0.0, -0.1, 0.9, 1.0, float("nan")])
def test_refuses_gaps(gap: float) -> None:
    with pytest.raises(ParameterError, match="gap"):
        selection_threshold(0.1, gap)


Risks = NDArray[np.float64]


@pytest.mark.parametrize(
    ("features", "by_strips", "by_peeling"),
    [(2, 0.017528, 0.0077352), (5, 0.052983, 0.0156526), (10, 0.119829, 0.0277553)],
)
def test_vectors_of_rectangle(features: int, by_strips: float, by_peeling: float) -> None:
    assert strip(1000, 0.05, features) == pytest.approx(by_strips, abs=5e-7)
    assert sharp(1000, 0.05, features) == pytest.approx(by_peeling, abs=5e-8)
    quantile = beta.isf(0.05, 2 * features, 1000 - 2 * features + 1)
    assert sharp(1000, 0.05, features) == pytest.approx(quantile, rel=1e-9)


def test_examples() -> None:
    assert examples_for_strip(0.1, 0.05, 2) == 176
    assert examples_for_strip(0.1, 0.05, 5) == 530
    for features in (1, 2, 7):
        n = examples_for_sharp(0.1, 0.05, features)
        assert sharp(n, 0.05, features) <= 0.1 < sharp(n - 1, 0.05, features)
        n = examples_for_strip(0.1, 0.05, features)
        assert strip(n, 0.05, features) <= 0.1 < strip(n - 1, 0.05, features)


def test_shape_of_rectangle() -> None:
    for features, n in product((1, 2, 5), (1, 9, 50, 400)):
        values = [bound(n, 0.05, features) for bound in (sharp, strip_exact, strip)]
        assert values == sorted(values)
        for bound, value in zip((sharp, strip_exact, strip), values, strict=True):
            assert bound(n + 1, 0.05, features) <= value
            assert bound(n, 0.01, features) >= value
            assert bound(n, 0.05, features + 1) >= value
    assert sharp(3, 0.05, 2) == 1
    assert sharp(4, 0.05, 2) == pytest.approx(0.95**0.25)


def uniform_box(runs: int, n: int, features: int, share: float, seed: int) -> Risks:
    """Risks of tightest boxes; the target has a share of the mass, in which points are uniform."""
    generator = np.random.default_rng(seed)
    positives = generator.binomial(n, share, size=runs)
    points = generator.random((runs, n, features), dtype=np.float32)
    inside = np.less(np.arange(n)[None, :, None], positives[:, None, None])
    low = np.where(inside, points, 1).min(axis=1)
    high = np.where(inside, points, 0).max(axis=1)
    volumes = np.clip(high - low, 0, 1).astype(np.float64).prod(axis=1)
    return np.asarray(share * (1 - volumes))


def atoms(runs: int, n: int, levels: int, share: float, seed: int) -> Risks:
    """The same on a grid of two features, full of ties; the target is the first levels of each."""
    generator = np.random.default_rng(seed)
    points = generator.integers(levels, size=(runs, n, 2))
    target = round(share * levels)
    inside = np.less(points, target).all(axis=2, keepdims=True)
    low = np.where(inside, points, levels).min(axis=1)
    high = np.where(inside, points, -1).max(axis=1)
    volumes = np.clip(high - low + 1, 0, None).prod(axis=1)
    return np.asarray((target**2 - volumes) / levels**2)


def test_sharp_is_close_to_equality() -> None:
    """200 examples on a uniform square: it fails as often as it may, no more and not much less."""
    risks = uniform_box(20_000, 200, 2, 1.0, seed=1)
    for delta in (0.05, 0.01):
        violations = int((risks > sharp(200, delta, 2)).sum())
        check_coverage(f"rectangle.sharp, uniform square, delta {delta}", violations, 20_000, delta)
        assert violations / 20_000 >= 0.6 * delta
    violations = int((risks > strip(200, 0.05, 2)).sum())
    check_coverage("rectangle.strip, uniform square", violations, 20_000, 0.05)
    one_side = float(beta.isf(0.05, 2, 199))  # one side a feature instead of two
    check_rejected("twin: rectangle, half the sides", int((risks > one_side).sum()), 20_000, 0.05)
    mean = 4 / 201  # the mean mass removed: delta dropped
    check_rejected("twin: rectangle, delta dropped", int((risks > mean).sum()), 20_000, 0.05)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_negatives_and_few_positives(share: float) -> None:
    risks = uniform_box(10_000, 60, 2, share, seed=2)
    violations = int((risks > sharp(60, 0.05, 2)).sum())
    check_coverage(f"rectangle.sharp, positives {share}", violations, 10_000, 0.05)


@pytest.mark.parametrize(("levels", "share"), [(2, 1.0), (2, 0.5), (5, 0.6), (20, 1.0), (100, 0.9)])
def test_atoms_and_ties(levels: int, share: float) -> None:
    for n in (4, 8, 40):
        risks = atoms(5000, n, levels, share, seed=3)
        violations = int((risks > sharp(n, 0.05, 2)).sum())
        name = f"rectangle.sharp, {levels} levels, box {share}, n={n}"
        check_coverage(name, violations, 5000, 0.05)


@pytest.mark.parametrize("mass", [0.02, 0.1, 0.3])
def test_a_single_atom_exactly(mass: float) -> None:
    """A target of one atom is missed with probability (1 - mass)^n; the theorem allows more."""
    for n, features in product((2, 10, 100), (1, 3)):
        assert (1 - mass) ** n <= binom.cdf(2 * features - 1, n, mass) * (1 + 1e-12)


@pytest.mark.slow
def test_coverage_in_full() -> None:
    for features, n in product((1, 2, 3, 5), (20, 200)):
        draws = [uniform_box(20_000, n, features, 1.0, seed) for seed in range(10)]
        violations = int((np.concatenate(draws) > sharp(n, 0.05, features)).sum())
        name = f"rectangle.sharp, {features} features, n={n}"
        check_coverage(name, violations, 200_000, 0.05)
