"""What a vote decides, and the majority of three."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.errors import DataError
from pacboost.hypotheses import function, hypothesis, pattern, stump, vote
from pacboost.hypotheses.decision import Decision
from pacboost.hypotheses.pattern import Pattern
from pacboost.hypotheses.three import Three
from pacboost.samples.bins import fit_bins
from pacboost.samples.coded_table import CodedTable
from pacboost.samples.sample import Sample, unlabelled
from pacboost.sources.arrays import ArrayTable
from tests.examples import examples

NAMES = hypothesis.Names()


def rows(X: list[list[float]]) -> Sample:
    return unlabelled(ArrayTable(np.array(X, dtype=np.float64)))


def bit(j: int) -> function.Function:
    return function.Function(lambda X: X[:, j] - 0.5, f"bit {j}")


def test_majority_of_all_combinations() -> None:
    everything = [list(map(float, bits)) for bits in product((0, 1), repeat=3)]
    three = Three(bit(0), bit(1), bit(2))
    assert three.cells(rows(everything)).tolist() == [int(sum(b) >= 2) for b in everything]


def test_third_is_asked_only_where_the_others_disagree() -> None:
    asked: list[int] = []

    def ask(X: np.ndarray) -> np.ndarray:
        asked.append(len(X))
        return X[:, 2] - 0.5

    sample = rows([[0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 0]])
    three = Three(bit(0), bit(1), function.Function(ask, "third"))
    assert three.cells(sample).tolist() == [0, 1, 1, 0]
    assert asked == [2]
    Three(bit(0), bit(0), function.Function(ask, "third")).cells(sample)
    assert asked == [2]


def test_three_classes_go_by_the_third_in_a_dispute() -> None:
    def says(column: int) -> function.ClassFunction:
        return function.ClassFunction(lambda X: X[:, column].astype(int), 3, f"column {column}")

    three = Three(says(0), says(1), says(2))
    sample = rows([[2, 2, 0], [0, 1, 2], [1, 0, 0]])
    assert three.cells(sample).tolist() == [2, 2, 0]
    assert three.values[three.cells(sample)].tolist() == [[0, 0, 1], [0, 0, 1], [1, 0, 0]]


def test_decision_forgets_how_close_it_was() -> None:
    stumps = [stump.StumpRule(j, 0.5, 0, 1, -1) for j in (0, 1)]
    decision = Decision(vote.Vote(stumps, np.array([1.0, 1.0])))
    sample = rows([[1, 1], [0, 1], [0, 0]])
    assert decision.values[decision.cells(sample)][:, 0].tolist() == [1, 0, -1]
    assert decision.words(NAMES) == "vote of 2 rules"
    heavy = Decision(vote.Vote(stumps, np.array([5.0, 1.0])))
    assert heavy.values[heavy.cells(sample)][:, 0].tolist() == [1, -1, -1]


@pytest.mark.parametrize("missing", [-1, 1])
def test_codes_and_raw_rows_are_answered_alike(missing: int) -> None:
    generator = np.random.default_rng(1)
    X = generator.normal(size=(300, 3))
    X[generator.random(X.shape) < 0.1] = np.nan
    table = ArrayTable(X)
    bins = fit_bins(table)
    stumps = [
        stump.StumpRule(j, float(bins.thresholds[j][100]), 100, 1, missing if j else -1)
        for j in range(3)
    ]
    three = Three(*stumps)
    coded = Sample(CodedTable(bins.encode(table), bins), np.empty((300, 0), np.int8), bins=bins)
    assert three.cells(coded).tolist() == three.cells(unlabelled(table)).tolist()


def rules_of(features: int) -> list[stump.StumpRule]:
    """One rule for the sign of each feature."""
    return [stump.StumpRule(j, 0.0, 0, 1, 1) for j in range(features)]


def bits(generator: np.random.Generator, rows: int, features: int) -> Sample:
    """Rows whose pattern is their own values."""
    return unlabelled(ArrayTable(generator.choice([-1.0, 1.0], size=(rows, features))))


@given(st.integers(0, 10**6), st.integers(1, 20), st.sampled_from([3, 7, 2**22]))
@examples(80)
def test_against_counting_by_hand(seed: int, features: int, at_once: int) -> None:
    generator = np.random.default_rng(seed)
    rules = rules_of(features)
    observed, new = bits(generator, 30, features), bits(generator, 40, features)
    signs = generator.choice([-1, 1], size=30).astype(np.int8)
    base = generator.integers(1, 4, size=30).astype(float)
    answers_by_hand = np.stack([rule.answers(observed) for rule in rules])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pattern, "PAIRS_PER_BLOCK", at_once)
        table = Pattern.of(rules, answers_by_hand, signs, base)
        cells = table.cells(new)
        assert (
            table.values[table.cells(observed), 0] == _by_hand(answers_by_hand.T, signs, base)
        ).all()
    assert np.unique(table.patterns, axis=0).shape == table.patterns.shape
    for row, cell in zip(new.table.rows(), cells, strict=True):
        distances = (table.patterns != row).sum(axis=1)
        near = np.flatnonzero(distances == distances.min())
        assert cell in near
        masses = table.masses.sum(axis=1)
        assert masses[cell] == masses[near].max()


def _by_hand(said: np.ndarray, signs: np.ndarray, base: np.ndarray) -> np.ndarray:
    values = []
    for row in said:
        same = (said == row).all(axis=1)
        plus, minus = base[same & (signs > 0)].sum(), base[same & (signs < 0)].sum()
        values.append((plus - minus) / (plus + minus))
    return np.array(values)


ROWS = np.array([[1.0, 2.0], [3.0, 0.0], [5.0, 5.0]])


def sample() -> Sample:
    return unlabelled(ArrayTable(ROWS))


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ([1, -1, -1], [1, -1, -1]),
        ([0.5, 0.0, -3.0], [1, 0, -1]),
        ([True, False, False], [1, -1, -1]),
    ],
)
def test_numbers_count_by_their_sign(given: list[Any], read: list[int]) -> None:
    answers = function.Function(lambda rows: np.array(given), "rule").answers(sample())
    assert answers.tolist() == read
    assert answers.dtype == np.int8


@pytest.mark.parametrize(
    ("given", "shape"),
    [([1, -1], r"\(2,\)"), ([[1], [1], [1]], r"\(3, 1\)"), ([], r"\(0,\)")],
)
def test_answers_of_another_shape_are_refused(given: Any, shape: str) -> None:
    with pytest.raises(DataError, match=rf"shape {shape} for 3 rows"):
        function.Function(lambda rows: given, "rule").answers(sample())
