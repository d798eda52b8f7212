"""GentleBoost: the weighted mean of the signs, and nothing more."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.boosters.newton import Gentle
from pacboost.errors import ParameterError
from pacboost.learners.tree import Tree
from pacboost.numerics.exact import MOST_VOTE, VOTE_UNIT
from pacboost.samples.sample import Sample, Sums
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.training.run.prefixes import class_samples, sample_of, shares
from tests.worlds import noisy


@given(class_samples(), st.sampled_from([1.0, 0.25]))
@settings(max_examples=60, deadline=None)
def test_cells_say_the_weighted_mean_of_their_signs(sample: Sample, rate: float) -> None:
    run = Run(sample, Tree(max_leaves=4, min_leaf_rows=1), Gentle(rate))
    scores = np.zeros(sample.signs.shape)
    for done in islice(run, 8):
        weights = shares(sample)[:, None] * np.exp(-sample.signs * scores)
        weights /= weights.sum()
        cells = done.hypothesis.cells(sample)
        for cell, values in enumerate(done.hypothesis.values):
            own, signs = weights[cells == cell], sample.signs[cells == cell]
            mean = (own * signs).sum(axis=0) / own.sum(axis=0)
            assert values == pytest.approx(rate * mean, abs=1e-9)
        assert (np.abs(done.hypothesis.values) <= rate + VOTE_UNIT).all()
        assert done.entry.normaliser <= 1  # a Newton step of this loss never overshoots
        scores += done.hypothesis.values[cells]


@pytest.mark.parametrize("edge", [0.1, 0.4, 0.9])
def test_against_an_adversary_each_round_multiplies_the_loss_by_what_the_edge_says(
    edge: float,
) -> None:
    """Rules get -m in one cell and +m' in the other, so Z is that of the cells' own means.

    (1 + m)/2·exp(-m) + (1 - m)/2·exp(m) falls in |m| and |m| averages at least the edge; as it is
    concave up to 1, the worst is one cell of mean 1 or all means equal.
    """
    X, signs = noisy(400, 3, seed=1)
    run = Run(sample_of(X, (signs > 0).astype(np.int64), 2), Adversary(edge), Gentle(), seed=2)
    full = math.exp(-1)
    for done in islice(run, 40):
        assert done.entry.edge >= edge - 1e-9
        straight = 1 - done.entry.edge * (1 - full)
        equal = math.cosh(done.entry.edge) - done.entry.edge * math.sinh(done.entry.edge)
        assert done.entry.normaliser <= max(straight, equal) + 1e-9


def test_steps_are_capped_like_votes() -> None:
    sums = Sums(np.array([[6], [-2]]), np.array([[8], [2]]), 10, 10, 10)
    rules = Gentle(1000.0)
    state = rules.init(np.ones((10, 1), dtype=np.int8), np.ones(1))
    values = rules.values(state, sums, np.zeros(10, dtype=np.uint8))
    assert values[:, 0] == pytest.approx([MOST_VOTE, -MOST_VOTE], abs=1e-9)


def test_a_cell_without_weight_says_nothing() -> None:
    sums = Sums(np.array([[6], [0]]), np.array([[8], [0]]), 8, 8, 10)
    state = Gentle().init(np.ones((10, 1), dtype=np.int8), np.ones(1))
    assert Gentle().values(state, sums, np.zeros(10, dtype=np.uint8)).tolist() == [[0.75], [0.0]]


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan, math.inf])
def test_bad_learning_rates(rate: float) -> None:
    with pytest.raises(ParameterError, match="learning_rate"):
        Gentle(rate)
