"""VC bounds: vectors, dimensions, labelings counted by brute force, coverage and twins."""

import math
from collections.abc import Callable
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, hypergeom

from pacboost.bounds.holdout import clopper_pearson
from pacboost.errors import ParameterError
from pacboost.numerics.growth import log_stump_growth, vc_of_stumps
from pacboost.theory.vc import (
    growth_of_dimension,
    growth_of_stump_votes,
    growth_of_vote,
    hypergeometric,
    pessimistic,
    realizable,
    relative_deviation,
)
from tests.bounds.coverage import check_coverage, check_rejected

TEN = growth_of_dimension(10)
Bound = Callable[[int, int, float, float], float]
BOUNDS: list[Bound] = [relative_deviation, pessimistic, hypergeometric]


@pytest.mark.parametrize(
    ("k", "n", "hyper", "relative", "absolute"),
    [
        (0, 1000, 0.08025, 0.2611, 0.2565),
        (100, 1000, 0.26675, 0.4383, 0.3565),
        (1000, 10_000, 0.151575, 0.1797, 0.1941),
    ],
)
def test_vectors(k: int, n: int, hyper: float, relative: float, absolute: float) -> None:
    assert hypergeometric(k, n, 0.05, TEN) == pytest.approx(hyper, abs=5e-7)
    assert hypergeometric(k, n, 0.05, TEN, ghost=4 * n) == hypergeometric(k, n, 0.05, TEN)
    assert relative_deviation(k, n, 0.05, TEN) == pytest.approx(relative, abs=5e-5)
    assert pessimistic(k, n, 0.05, TEN) == pytest.approx(absolute, abs=5e-5)


def test_vectors_of_one_number() -> None:
    assert realizable(1000, 0.05, TEN) == pytest.approx(0.1863, abs=5e-5)
    assert TEN(1000) == pytest.approx(53.938, abs=5e-4)


def test_hypergeometric_inverts_the_tail() -> None:
    k, n, g, nats = 7, 60, 240, 5.0
    level = math.log(0.05 / 4) - nats
    pool = next(K for K in range(n + g) if hypergeom.logcdf(k, n + g, K, n) <= level)
    assert hypergeometric(k, n, 0.05, nats) == pytest.approx((pool - 1 - k) / g)


def lecture(k: int, n: int, eta: float, h: int) -> float:
    """The broken twin: the lecture's formula, in which a factor 4 under the root is missing."""
    r, e = k / n, 4 * (h * (math.log(2 * n / h) + 1) - math.log(eta / 4)) / n
    return r + e / 2 * (1 + math.sqrt(1 + r / e))


def corrected(k: int, n: int, eta: float, h: int) -> float:
    return relative_deviation(k, n, eta, h * (math.log(2 * n / h) + 1))


def test_vapnik_corrected() -> None:
    assert lecture(1000, 10_000, 0.05, 10) == pytest.approx(0.1532, abs=5e-5)
    assert corrected(1000, 10_000, 0.05, 10) == pytest.approx(0.1809, abs=5e-5)


@given(st.integers(1, 10**6), st.floats(0, 1), st.floats(1e-9, 0.9), st.integers(1, 50))
def test_vapnik_solves_its_inequality(n: int, share: float, eta: float, h: int) -> None:
    """Whatever the deviation inequality allows lies below; E = 4e is the lecture's letter."""
    if 2 * n < h:
        return
    k = int(share * n)
    r, e = k / n, 4 * (h * (math.log(2 * n / h) + 1) - math.log(eta / 4)) / n
    largest = ((math.sqrt(e) + math.sqrt(e + 4 * r)) / 2) ** 2  # (R - r)/√R = √E
    assert largest - r == pytest.approx(math.sqrt(e * largest))
    assert corrected(k, n, eta, h) == pytest.approx(min(1, largest), rel=1e-9)
    if k:
        twin = lecture(k, n, eta, h)
        assert twin - r < math.sqrt(e * twin), "the theorem does not exclude a risk above the twin"


def test_the_lectures_formula_is_caught_exactly() -> None:
    """Even one fixed hypothesis breaks it: at n = 10^6 it fails 300 times as often as eta."""
    n, eta = 10**6, 1e-20
    places = [int(share * n) for share in (0.01, 0.02, 0.05, 0.1, 0.2, 0.3)]
    assert all(binom.cdf(k, n, corrected(k, n, eta, 1)) <= eta for k in places)
    assert sum(binom.cdf(k, n, lecture(k, n, eta, 1)) > 2 * eta for k in places) >= 3
    k = n // 20
    assert binom.cdf(k, n, lecture(k, n, eta, 1)) > 100 * eta
    # No distribution-free bound that knows only k and n is below the exact one.
    assert lecture(k, n, eta, 1) < clopper_pearson(k, n, eta) < corrected(k, n, eta, 1)


@given(st.integers(1, 60), st.floats(0, 1), st.floats(1e-6, 0.9), st.floats(0, 40))
def test_shape(n: int, share: float, delta: float, nats: float) -> None:
    k = int(share * n)
    for bound in BOUNDS:
        value = bound(k, n, delta, nats)
        assert 0 < value <= 1
        assert bound(k, n, delta / 2, nats) >= value
        assert bound(k, n, delta, nats + 1) >= value
        assert k == n or bound(k + 1, n, delta, nats) >= value
        assert bound is hypergeometric or bound(k, n + 1, delta, nats) <= value
    assert realizable(n + 1, delta, nats) <= realizable(n, delta, nats)
    assert realizable(n, delta / 2, nats) >= realizable(n, delta, nats)


@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_more_examples_help(rate: float) -> None:
    for bound in BOUNDS:
        sizes = (100, 200, 500, 1000, 5000, 20_000)
        values = [bound(int(rate * n), n, 0.05, TEN(5 * n)) for n in sizes]
        assert values == sorted(values, reverse=True)


def test_open_and_closed_halfspaces_through_the_origin_have_one_dimension_more() -> None:
    """0 and the unit vectors: open ones leave 0 out, closed ones hold it."""
    points = np.vstack([np.zeros(2), np.eye(2)])
    values = np.array(list(product((-1, 0, 1), repeat=2))) @ points.T
    open_ones, closed = {tuple(row) for row in values > 0}, {tuple(row) for row in values >= 0}
    assert len(open_ones | closed) == 2**3
    assert max(len(open_ones), len(closed)) < 2**3
    printed = {1: 2, 2: 3, 3: 4, 5: 5, 10: 6, 20: 7, 100: 9, 1000: 13}
    assert {p: vc_of_stumps(p) for p in printed} == printed


def test_stump_labelings_by_brute_force() -> None:
    """On random points, stumps give no more labelings than counted, and on one feature as many."""
    generator = np.random.default_rng(1)
    for p, m in ((1, 6), (2, 5), (3, 6)):
        X = generator.normal(size=(m, p))
        labelings = {
            tuple(sign * np.where(X[:, j] > t, 1, -1))
            for j in range(p)
            for t in (-np.inf, *X[:, j])
            for sign in (-1, 1)
        }
        limit = math.exp(log_stump_growth(m, p))
        assert len(labelings) <= limit * (1 + 1e-9)
        assert limit <= 2 + 2 * p * (m - 1) + 1e-9
        if p == 1:
            assert len(labelings) == round(limit)


def test_interval_labelings_by_brute_force() -> None:
    """Unions of two intervals on eight points: exactly Sauer's sum."""
    labelings = {
        tuple(a <= i < b or c <= i < d for i in range(8))
        for a, b, c, d in combinations_with_replacement(range(9), 4)
    }
    assert len(labelings) == round(math.exp(growth_of_dimension(4)(8)))


def test_vote_labelings_by_brute_force() -> None:
    """Votes over two of four unsigned rules on six points, ties to the first voter."""
    generator = np.random.default_rng(2)
    rules = generator.choice([-1, 1], size=(4, 6))
    labelings = set()
    for pair in combinations(range(4), 2):
        for votes in product((-2, -1, 0, 1, 2), repeat=2):
            score = votes[0] * rules[pair[0]] + votes[1] * rules[pair[1]]
            labelings.add(tuple(np.where(score == 0, rules[pair[0]], np.sign(score))))
    assert len(labelings) <= math.exp(growth_of_vote(4, 2)(6) - math.log(6)) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_ties_as_mistakes_make_no_more_patterns(seed: int) -> None:
    """Lemma 5 of the page on growth: Cover's count bounds the sets of mistakes, ties included.

    Every answer occurs with both labels, so that no vote without ties makes the same mistakes.
    """
    generator = np.random.default_rng(seed)
    distinct = int(generator.integers(1, 4))
    answers = generator.choice([-1, 1], size=(4, distinct)).repeat(2, axis=0)
    labels = np.tile([1, -1], 4)
    labelings = set()
    for votes in product(range(-3, 4), repeat=distinct):
        score = answers @ np.array(votes)
        if score.any():  # a vote that is 0 everywhere makes only mistakes, and violates no bound
            labelings.add(tuple(labels * score <= 0))
    limit = math.exp(growth_of_vote(distinct, distinct)(8)) / distinct / (distinct + 1)
    assert len(labelings) <= limit


def test_lemmas_of_the_page_on_growth() -> None:
    """Lemma 1: P[Bin(g, p) ≥ gp] > 1/4 for p > 1/g; inequality (1), for pools of up to 38."""
    for g in (2, 3, 4, 5, 7, 10, 30, 100, 1000):
        means = np.concatenate([np.arange(1, g) + 1e-9, np.linspace(1.001, g, 400)])
        p = np.minimum(means / g, 1.0)
        assert np.all(binom.sf(np.ceil(g * p * (1 - 1e-15)) - 1, g, p) > 0.25)
    for n in range(1, 20):
        pool, k = np.mgrid[: 2 * n + 1, : n + 1]
        d = np.maximum(pool - 2 * k, 0)
        limit = 2 * np.exp(-(d**2) / n) * (1 + 1e-9)
        assert np.all(hypergeom.cdf(k, 2 * n, pool, n) <= limit)


def test_vote_vectors() -> None:
    """20 features, 20 rules, 20,000 points: the product of the lecture against counting."""
    m, price = 20_000, math.log(20 * 21)
    by_product = 20 * math.log(math.e * m / 20) + 20 * 7 * math.log(math.e * m / 7)
    assert by_product == pytest.approx(1412, abs=0.5)
    assert growth_of_vote(20 * 63, 20)(m) - price == pytest.approx(250, abs=0.5)
    # Rules in order, G^D, are 407; as a set, C(G, D), they are fewer.
    by_set = growth_of_stump_votes(20, 20)(m) - price
    assert by_set == pytest.approx(365.16, abs=0.01)
    assert by_set + math.lgamma(21) == pytest.approx(407, abs=0.5)


def cells_on_noise(cells: int, n: int, runs: int) -> NDArray[np.int64]:
    """Mistakes of a majority in each of some cells; labels are coin flips, so the risk is 1/2."""
    generator = np.random.default_rng(3)
    mistakes = np.empty(runs, dtype=np.int64)
    for run in range(runs):
        members = np.bincount(generator.integers(cells, size=n), minlength=cells)
        ones = generator.binomial(members, 0.5)
        mistakes[run] = np.minimum(ones, members - ones).sum()
    return mistakes


def violated(bound: Bound, mistakes: NDArray[np.int64], n: int, nats: float, risk: float) -> int:
    """Count the runs whose bound, by their mistakes, is below the true risk."""
    values = {k: bound(int(k), n, 0.05, nats) for k in np.unique(mistakes)}
    return sum(values[k] < risk for k in mistakes)


@pytest.mark.parametrize("bound", BOUNDS)
def test_coverage_on_noise(bound: Bound) -> None:
    """1000 cells label points in at most 2^1000 ways; without that price the bound fails."""
    cells, n, runs = 1000, 2000, 500
    mistakes = cells_on_noise(cells, n, runs)
    violations = violated(bound, mistakes, n, cells * math.log(2), risk=0.5)
    check_coverage(f"vc.{bound.__name__}, 1000 cells on noise", violations, runs, 0.05)
    violations = violated(bound, mistakes, n, 0.0, risk=0.5)
    check_rejected(f"twin: {bound.__name__}, labelings dropped", violations, runs, 0.05)


def test_coverage_of_one_hypothesis() -> None:
    """The tightest case there is, a single hypothesis: still loose, by the factor 4 at least."""
    runs, n = 20_000, 200
    mistakes = np.random.default_rng(4).binomial(n, 0.3, size=runs)
    for bound in BOUNDS:
        violations = violated(bound, mistakes, n, 0.0, risk=0.3)
        check_coverage(f"vc.{bound.__name__}, one hypothesis", violations, runs, 0.05)


def test_coverage_of_intervals_without_mistakes() -> None:
    """The tightest interval around the positives of a uniform law."""
    runs, n, growth = 5000, 100, growth_of_dimension(2)
    points = np.random.default_rng(5).random((runs, n))
    risks = 1 - (points.max(axis=1) - points.min(axis=1))
    violations = (risks > realizable(n, 0.05, growth)).sum()
    check_coverage("vc.realizable, intervals", violations, runs, 0.05)
    twin = 2 / n * math.log2(2)  # loose as it is, it fails only when both are gone
    check_rejected(
        "twin: realizable, labelings and delta dropped", (risks > twin).sum(), runs, 0.05
    )


@pytest.mark.parametrize("nats", [-1.0, math.inf, math.nan, True])
def test_refuses_growth(nats: float) -> None:
    with pytest.raises(ParameterError, match="log_growth"):
        relative_deviation(1, 10, 0.05, nats)
