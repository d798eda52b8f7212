"""Stumps: what they answer, by codes and by values, and how they are said."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Names
from pacboost.hypotheses.stump import StumpRule
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample, unlabelled
from pacboost.sources.arrays import ArrayTable

NAMES = Names(lambda j: f"x{j}", ("no", "yes"))
SIGN = st.sampled_from([-1, 1])


def answers(stump: StumpRule, values: NDArray[np.floating]) -> list[int]:
    given_answers: list[int] = stump.answers(unlabelled(ArrayTable(values[:, None]))).tolist()
    return given_answers


@pytest.mark.parametrize("above", [-1, 1])
@pytest.mark.parametrize("missing", [-1, 1])
def test_values_above_at_and_missing_are_answered(above: int, missing: int) -> None:
    stump = StumpRule(0, 2.5, 2, above, missing)
    values = np.array([3.0, 2.5, 2.0, np.nan])
    assert answers(stump, values) == [above, -above, -above, missing]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_value_that_rounds_to_the_threshold_is_not_above_it(
    dtype: type[np.floating],
) -> None:
    threshold = float(np.float32(0.1))
    values = np.array([0.1, math.nextafter(threshold, 1.0)]).astype(dtype)
    above = np.nextafter(np.float32(0.1), np.float32(1.0)).astype(dtype)
    assert answers(StumpRule(0, threshold, 0, 1, 1), np.append(values, above)) == [-1, -1, 1]


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    above=SIGN,
    missing=SIGN,
    max_bins=st.sampled_from([3, 255, 400]),
    constant=st.booleans(),
)
def test_codes_and_values_are_answered_alike(
    seed: int, above: int, missing: int, max_bins: int, constant: bool
) -> None:
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(500, 2))
    values[generator.random(values.shape) < 0.1] = np.nan
    table = ArrayTable(values)
    bins = fit_bins(table, max_bins)
    cut = int(generator.integers(bins.thresholds[1].size))
    stump = StumpRule(1, float(bins.thresholds[1][cut]), cut, above, missing)
    if constant:
        stump = StumpRule(1, math.inf, bins.missing - 1, above, missing)
    coded = Sample(table, np.ones((500, 1), dtype=np.int8), bins=bins)
    np.testing.assert_array_equal(stump.answers(coded), stump.answers(unlabelled(table)))
    assert stump.answers(coded).dtype == np.int8


def test_asking_twice_gives_the_same_answers() -> None:
    table = ArrayTable(np.array([[1.0], [np.nan], [3.0]]))
    sample = Sample(table, np.ones((3, 1), dtype=np.int8), bins=fit_bins(table))
    stump = StumpRule(0, 2.0, 0, 1, -1)
    assert stump.answers(sample).tolist() == stump.answers(sample).tolist() == [-1, -1, 1]


def test_nothing_is_above_an_infinite_threshold() -> None:
    values = np.array([1e300, -1e300, np.nan])
    assert answers(StumpRule(0, math.inf, 9, 1, 1), values) == [-1, -1, 1]


@given(threshold=st.one_of(st.just(math.inf), st.floats(-5, 5, width=32)), above=SIGN, missing=SIGN)
def test_negated_answers_the_opposite_everywhere(
    threshold: float, above: int, missing: int
) -> None:
    stump = StumpRule(0, threshold, 0, above, missing)
    values = np.array([-6.0, threshold, 0.0, 6.0, np.nan])
    assert answers(stump.negated(), values) == [-answer for answer in answers(stump, values)]
    assert stump.negated().negated() == stump


@pytest.mark.parametrize(
    ("stump", "words"),
    [
        (StumpRule(3, 2.5, 2, 1, -1), "x3 > 2.5 → yes, else no"),
        (StumpRule(3, 2.5, 2, -1, 1), "x3 > 2.5 → no, else yes"),
        (StumpRule(0, 1234567.0, 2, 1, 1), "x0 > 1.23457e+06 → yes, else no"),
        (StumpRule(0, math.inf, 2, 1, -1), "always no"),
        (StumpRule(0, math.inf, 2, -1, 1), "always yes"),
        (StumpRule(0, math.inf, 2, 1, 1), "x0 is missing → yes, else no"),
        (StumpRule(0, math.inf, 2, -1, -1), "x0 is missing → no, else yes"),
    ],
)
def test_stumps_are_said_in_words(stump: StumpRule, words: str) -> None:
    assert stump.words(NAMES) == words
