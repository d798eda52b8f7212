"""Finite classes: counts and least mistakes against going through every hypothesis."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.hypothesis import Names
from pacboost.samples.sample import Signs, unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.theory.version_space import (
    Band,
    Bands,
    Conjunctions,
    Listed,
    Literals,
    _climb,
    _count,
    _eliminate,
    _errors,
)
from tests.examples import examples

NAMES = Names()
Rows = NDArray[np.float64]


def mistakes_of(rule: Band | Literals, X: Rows, signs: Signs) -> int:
    return int((rule.answers(unlabelled(ArrayTable(X))) != signs).sum())


def all_literals(n: int, every: bool) -> list[Literals]:
    rules = [Literals(None, every)]
    for states in product([0, 1, 2], repeat=n):
        tests = tuple((j, 1.0, s == 1) for j, s in enumerate(states) if s < 2)
        rules.append(Literals(tests, every))
    return rules


def draw_bits(seed: int, n: int, rows: int, noise: float) -> tuple[Rows, Signs]:
    """Bits labelled by a random conjunction, some labels flipped."""
    generator = np.random.default_rng(seed)
    X = generator.integers(2, size=(rows, n)).astype(np.float64)
    states = generator.integers(3, size=n)
    holds = ((states == 2) | (states == X)).all(axis=1) ^ (generator.random(rows) < noise)
    return X, np.where(holds, 1, -1).astype(np.int8)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 4),
    st.integers(1, 12),
    st.sampled_from([0.0, 0.3]),
    st.booleans(),
    st.booleans(),
)
@examples(150)
def test_literals_against_all_of_them(
    seed: int, n: int, rows: int, noise: float, every: bool, turned: bool
) -> None:
    X, signs = draw_bits(seed, n, rows, noise)
    signs = -signs if turned else signs
    actual = Conjunctions(every).search(X, signs)
    errors = [mistakes_of(rule, X, signs) for rule in all_literals(n, every)]
    assert len(errors) == Conjunctions(every).size(n)
    assert actual.mistakes == min(errors)
    assert actual.survivors == errors.count(0)
    assert isinstance(actual.rule, Literals)
    assert mistakes_of(actual.rule, X, signs) == actual.mistakes


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 30))
@examples(100)
def test_elimination_finds_the_most_specific_one_that_fits(seed: int, n: int, rows: int) -> None:
    X, signs = draw_bits(seed, n, rows, 0.0)
    expected = signs.astype(np.int64)
    states, mistakes, survivors = _eliminate(X == 1, expected)
    counted, least, _ = _count(X == 1, expected)
    assert mistakes == least == 0
    assert survivors is None
    assert (states is None) == (counted is None)
    if states is not None and counted is not None:
        assert states.tolist() == counted.tolist()


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 300))
@examples(100)
def test_climbing_counts_right_and_only_improves(seed: int, n: int, rows: int) -> None:
    X, signs = draw_bits(seed, n, rows, 0.2)
    expected, bits = signs.astype(np.int64), X == 1
    start = np.full(n, 2, dtype=np.intp)
    states, errors = _climb(bits, expected, start)
    assert errors == _errors(bits, expected, states) <= _errors(bits, expected, start)
    assert (start == 2).all()
    actual, mistakes, _ = _eliminate(bits, expected)
    assert _count(bits, expected)[1] <= mistakes <= int((signs > 0).sum())
    if actual is not None:
        assert _errors(bits, expected, actual) == mistakes


@pytest.mark.parametrize("every", [True, False])
def test_many_features_are_eliminated(every: bool) -> None:
    """Forty features, a concept of two literals: found, but the version space is not counted."""
    X = np.random.default_rng(0).integers(2, size=(400, 40)).astype(np.float64)
    first, second = X[:, 3] == 1, X[:, 17] == 0
    signs = np.where(first & second if every else first | second, 1, -1).astype(np.int8)
    actual = Conjunctions(every).search(X, signs)
    assert (actual.mistakes, actual.survivors) == (0, None)
    word = "and" if every else "or"
    assert actual.rule.words(NAMES) == f"x3 {word} not x17 → +, else −"
    assert Conjunctions().size(40) == 3**40 + 1


def test_many_features_with_noise_still_find_the_concept() -> None:
    generator = np.random.default_rng(1)
    X = generator.integers(2, size=(600, 30)).astype(np.float64)
    holds = (X[:, 3] == 1) & (X[:, 17] == 0)
    signs = np.where(holds ^ (generator.random(600) < 0.1), 1, -1).astype(np.int8)
    actual = Conjunctions().search(X, signs)
    assert actual.rule.words(NAMES) == "x3 and not x17 → +, else −"
    assert actual.mistakes == int(((signs > 0) != holds).sum())


def test_columns_of_any_two_values() -> None:
    X = np.array([[3.0, 7.0, 0.0], [5.0, 7.0, 0.0], [5.0, 7.0, 0.0]])
    found = Conjunctions().search(X, np.array([-1, 1, 1], dtype=np.int8))
    assert found.rule.words(NAMES) == "x0 = 5 and x1 = 7 and not x2 → +, else −"
    with pytest.raises(DataError, match="column 0 has"):
        Conjunctions().search(np.array([[1.0], [2.0], [3.0]]), np.ones(3, dtype=np.int8))


def all_bands(p: int, grid: list[float], intervals: bool) -> list[Band]:
    rules = [Band(0, math.inf, math.inf), Band(0, -math.inf, math.inf)]
    ends = [-math.inf, *grid, math.inf]
    for j in range(p):
        for low, high in product(ends, ends):
            one_sided = math.isinf(low) != math.isinf(high)
            if low < high and (one_sided or (intervals and math.isfinite(low))):
                rules.append(Band(j, low, high))
    return rules


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 3),
    st.integers(1, 12),
    st.lists(st.integers(-2, 2), min_size=1, max_size=4, unique=True),
    st.booleans(),
)
@examples(150)
def test_bands_against_all_of_them(
    seed: int, p: int, rows: int, cuts: list[int], intervals: bool
) -> None:
    generator = np.random.default_rng(seed)
    X = generator.integers(-3, 4, size=(rows, p)).astype(np.float64)
    true = (X[:, 0] > -1) & (X[:, 0] <= 1) ^ (generator.random(rows) < generator.choice([0, 0.3]))
    signs = np.where(true, 1, -1).astype(np.int8)
    grid = sorted(float(cut) for cut in cuts)
    bands = Bands(tuple(grid), intervals=intervals)
    actual = bands.search(X, signs)
    errors = [mistakes_of(rule, X, signs) for rule in all_bands(p, grid, intervals)]
    assert len(errors) == bands.size(p)
    assert (actual.mistakes, actual.survivors) == (min(errors), errors.count(0))
    assert isinstance(actual.rule, Band)
    assert mistakes_of(actual.rule, X, signs) == actual.mistakes


def test_one_feature_only() -> None:
    X = np.array([[0.0, 5.0], [1.0, 4.0], [2.0, 6.0]])
    signs = np.array([-1, 1, 1], dtype=np.int8)
    assert Bands((0.5,)).search(X, signs).mistakes == 0
    alone = Bands((0.5,), feature=1)
    assert alone.size(2) == 4
    assert alone.search(X, signs).mistakes == 1


def test_the_tightest_interval_and_the_middle_threshold_are_taken() -> None:
    X = np.array([[0.5], [4.5], [9.5]])
    grid = tuple(float(cut) for cut in range(11))
    middle = Bands(grid).search(X, np.array([-1, 1, 1], dtype=np.int8)).rule
    assert middle == Band(0, 3.0, math.inf)
    tight = Bands(grid, intervals=True).search(X, np.array([-1, 1, -1], dtype=np.int8)).rule
    assert tight == Band(0, 4.0, 5.0)


def test_listed_functions_are_all_asked() -> None:
    def above(cut: float) -> Callable[[Rows], Rows]:
        return lambda X: X[:, 0] - cut

    def never(X: Rows) -> Rows:
        return -np.ones(len(X))

    X, signs = np.array([[1.0], [2.0], [3.0]]), np.array([-1, 1, 1], dtype=np.int8)
    actual = Listed([never, above(1.5), above(1.7), above(2.5)]).search(X, signs)
    assert (actual.mistakes, actual.survivors) == (0, 2)
    assert actual.rule.words(NAMES) == "hypothesis 2"
    actual = Listed([never]).search(X, signs)
    assert (actual.rule.words(NAMES), actual.mistakes, actual.survivors) == ("never", 2, 0)
