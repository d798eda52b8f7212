"""The tightest box: nothing positive outside, and no side that could move in."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.boosters.adaboost import AdaBoost
from pacboost.hypotheses.hypothesis import Names
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.theory.rectangle import Box, Rectangle, tightest
from pacboost.theory.worlds import Boxes
from pacboost.training.run.loop import Run
from tests.worlds import small_samples

NAMES = Names(lambda j: f"x{j}")


@given(small_samples(weighted=False))
@settings(max_examples=100, deadline=None)
def test_holds_the_positive_rows_and_touches_one_on_every_side(sample: Sample) -> None:
    X, signs = np.where(np.isnan(sample.rows), 0.0, sample.rows), sample.signs[:, 0]
    box = tightest(X, signs)
    positive = X[signs > 0]
    assert box.inside(positive).all()
    if len(positive):
        assert (positive == box.lower).any(axis=0).all()
        assert (positive == box.upper).any(axis=0).all()
    else:
        assert not box.inside(X).any()
        assert box.words(NAMES) == "always −"


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_never_reaches_beyond_the_box_that_labels(seed: int, features: int) -> None:
    generator = np.random.default_rng(seed)
    lower, upper = np.sort(generator.random((2, features)), axis=0)
    X, y = Boxes(tuple(lower), tuple(upper)).draw(60, generator)
    box = tightest(X, y)
    assert (box.lower >= lower).all()
    assert (box.upper <= upper).all()
    assert np.array_equal(box.answers(Sample(ArrayTable(X), y[:, None])), y)


def test_depth_has_the_sign_of_the_answer_on_the_sides_too() -> None:
    box = Box(np.array([0.0, 0.0]), np.array([2.0, 4.0]))
    rows = np.array([[0.0, 1.0], [2.0, 4.0], [1.0, 1.5], [2.5, 9.0], [1.0, -1e-320]])
    depth = box.depth(rows)
    assert np.array_equal(depth > 0, box.inside(rows))
    assert (depth != 0).all()
    assert depth[2:4].tolist() == [1.0, -5.0]


def test_negated_box_answers_the_opposite() -> None:
    box = Box(np.zeros(1), np.ones(1))
    sample = Sample(ArrayTable(np.array([[0.5], [2.0]])), np.ones((2, 1), dtype=np.int8))
    assert box.negated().answers(sample).tolist() == [-1, 1]
    assert box.negated().words(NAMES) == "0 ≤ x0 ≤ 1 → −, else +"


def test_rows_without_weight_are_not_seen() -> None:
    X = np.array([[1.0], [5.0], [9.0]])
    signs = np.array([1, -1, 1], dtype=np.int8)
    search = Rectangle().on(Sample(ArrayTable(X), signs[:, None]))
    box = search.find(np.array([3, 1, 0]), signs, 0)
    assert (box.lower.tolist(), box.upper.tolist()) == ([1.0], [1.0])


def test_is_a_learner_the_loop_can_boost() -> None:
    X, y = Boxes((0.2, 0.2), (0.7, 0.8)).draw(100, 0)
    run = Run(Sample(ArrayTable(X), y[:, None]), Rectangle(), AdaBoost())
    assert [done.entry.error for done in islice(run, 5)] == pytest.approx([0.0])
