"""Black boxes and recorded answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pacboost.errors import DataError
from pacboost.hypotheses.function import Function, Recorded
from pacboost.hypotheses.hypothesis import Names
from pacboost.samples.sample import Sample, unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.table import Values

NAMES = Names(lambda j: f"x{j}")
ROWS = np.array([[1.0, 2.0], [3.0, 0.0], [5.0, 5.0]])


def sample() -> Sample:
    return unlabelled(ArrayTable(ROWS))


def test_the_function_is_given_the_raw_rows() -> None:
    seen: list[Values] = []

    def look(rows: Values) -> list[int]:
        seen.append(rows)
        return [1] * len(rows)

    Function(look, "look").answers(sample())
    np.testing.assert_array_equal(seen[0], ROWS)


@pytest.mark.parametrize(
    "given", [[1, -1, -1], [0.5, 0.0, -3.0], np.array([True, False, False]), (7, 0, np.nan)]
)
def test_what_is_above_zero_counts_as_plus(given: Any) -> None:
    answers = Function(lambda rows: given, "rule").answers(sample())
    assert answers.tolist() == [1, -1, -1]
    assert answers.dtype == np.int8


def test_negated_turns_every_answer() -> None:
    rule = Function(lambda rows: rows[:, 0] - rows[:, 1], "first is larger")
    assert rule.answers(sample()).tolist() == [-1, 1, -1]
    assert rule.negated().answers(sample()).tolist() == [1, -1, 1]
    assert rule.negated().negated() == rule


def test_a_function_is_said_by_its_description() -> None:
    rule = Function(lambda rows: rows[:, 0], "rule")
    assert rule.words(NAMES) == "rule"
    assert rule.negated().words(NAMES) == "not (rule)"


@pytest.mark.parametrize(
    ("given", "shape"),
    [([1, -1], r"\(2,\)"), ([[1], [1], [1]], r"\(3, 1\)"), (1, r"\(\)"), ([], r"\(0,\)")],
)
def test_answers_of_another_shape_are_refused(given: Any, shape: str) -> None:
    with pytest.raises(DataError, match=rf"^rule answered with shape {shape} for 3 rows"):
        Function(lambda rows: given, "rule").answers(sample())


def test_recorded_answers_are_given_back() -> None:
    rule = Recorded(np.array([1, -1, 1], dtype=np.int8), "record")
    assert rule.answers(sample()).tolist() == [1, -1, 1]
    assert rule.negated().answers(sample()).tolist() == [-1, 1, -1]


def test_recorded_answers_are_said_by_their_description() -> None:
    rule = Recorded(np.array([1], dtype=np.int8), "record")
    assert rule.words(NAMES) == "record"
    assert rule.negated().words(NAMES) == "not (record)"


@pytest.mark.parametrize("size", [0, 2, 4])
def test_recorded_answers_refuse_other_rows(size: int) -> None:
    rule = Recorded(np.ones(size, dtype=np.int8), "record")
    with pytest.raises(DataError, match=f"record knows only the {size} rows .* but 3 were given"):
        rule.answers(sample())
