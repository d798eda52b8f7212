"""The best cut: the twin agrees, ties go to the first, and slack is kept to."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nph
from numpy.typing import NDArray

from pacboost.kernels import stumps
from tests.kernels import naive


def best_cut(histogram: NDArray[np.int64], missing: int, slack: int) -> tuple[int, int, int]:
    edges = np.array([stumps.scan(own, missing, stumps.NEVER)[0] for own in histogram])
    feature, wanted = stumps.first_feature(edges, slack)
    _, cut, difference = stumps.scan(histogram[feature], missing, wanted)
    return feature, cut, int(difference)


HISTOGRAMS = nph.arrays(
    np.int64,
    nph.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=9),
    elements=st.one_of(st.integers(-3, 3), st.integers(-(2**50), 2**50)),
)


@settings(deadline=None, max_examples=150)
@given(histogram=HISTOGRAMS, slack=st.sampled_from([0, 1, 5, 2**49]), padding=st.integers(0, 2))
def test_the_cut_equals_the_twins(histogram: NDArray[np.int64], slack: int, padding: int) -> None:
    missing = max(1, histogram.shape[1] - 1 - padding)
    assert best_cut(histogram, missing, slack) == naive.best_cut(histogram, missing, slack)


@settings(deadline=None, max_examples=100)
@given(histogram=HISTOGRAMS)
def test_no_stump_has_a_larger_edge_than_the_cut(histogram: NDArray[np.int64]) -> None:
    missing = histogram.shape[1] - 1
    feature, _, difference = best_cut(histogram, missing, 0)
    found = abs(difference) + abs(int(histogram[feature, missing]))
    for own in histogram.tolist():
        for cut in range(missing):
            edge = sum(own[cut + 1 : missing]) - sum(own[: cut + 1])
            assert abs(edge) + abs(own[missing]) <= found


def test_many_bins_equal_the_twins() -> None:
    generator = np.random.default_rng(0)
    histogram = generator.integers(-(2**40), 2**40, (7, 1001))
    assert best_cut(histogram, 1000, 0) == naive.best_cut(histogram, 1000, 0)


def test_of_equal_edges_the_first_feature_and_the_lowest_cut_win() -> None:
    histogram = np.array([[1, 0, 0, 0], [-4, 0, 4, 0], [4, 0, -4, 0]])
    assert best_cut(histogram, 3, 0) == (1, 0, 8)


def test_within_slack_an_earlier_cut_wins_over_a_larger_edge() -> None:
    histogram = np.array([[-9, 0, 0], [-10, 0, 0]])
    assert best_cut(histogram, 2, 0) == (1, 0, 10)
    assert best_cut(histogram, 2, 1) == (0, 0, 9)


def test_missing_rows_add_to_the_edge_whatever_their_sign() -> None:
    histogram = np.array([[-5, 5, 0], [-1, 1, -20]])
    assert best_cut(histogram, 2, 0) == (1, 0, 2)


def test_features_without_cuts_give_the_constant_rule() -> None:
    histogram = np.array([[7, 0], [9, 0]])
    assert best_cut(histogram, 1, 0) == (1, 0, -9)
