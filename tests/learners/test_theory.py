"""The adversary keeps its promise and gives no more than whole rows force it to."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from pacboost import BoostClassifier
from pacboost.boosters import AdaBoost, Logit
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Names
from pacboost.learners import Stump, Tree
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.theory.learners import Adversary, Box, Rectangle, Scripted, WeakStump, tightest
from pacboost.theory.sampling import Plane
from pacboost.theory.worlds import Boxes
from tests.examples import examples
from tests.worlds import make_sample, small_samples


@given(
    st.floats(0, 1),
    st.sampled_from(["random", "heavy", "light"]),
    st.integers(0, 2**32 - 1),
    st.integers(1, 60),
)
@examples(200)
def test_promise(edge: float, order: str, seed: int, rows: int) -> None:
    generator = np.random.default_rng(seed)
    weights = generator.integers(1, 10**6, size=rows)
    signs = np.where(generator.random(rows) < 0.5, 1, -1).astype(np.int8)
    sample = make_sample(np.zeros((rows, 1)), signs)
    agree = Adversary(edge, order).on(sample).find(weights, signs, seed).recorded * signs
    measured = (weights * agree).sum() / weights.sum()
    assert measured >= edge - 1e-12
    right = weights[agree > 0]
    if right.size:
        assert measured < edge + 2 * (right.min() + 1) / weights.sum()


# Rules that are decided beforehand, and stumps that are weak on purpose.

X, Y = Plane("moons", noise=0.1).draw(120, seed=0)


def fitted(learner: Any, rounds: int = 6, booster: Any = None) -> BoostClassifier:
    rules = booster or AdaBoost()
    return BoostClassifier(rules, learner, rounds, early_stopping=False, random_state=0).fit(X, Y)


def votes(model: BoostClassifier) -> list[tuple[str, float]]:
    return [(entry.rule, entry.vote) for entry in model.ledger_.rounds]


def test_without_rules_it_is_the_learner() -> None:
    assert votes(fitted(Scripted())) == votes(fitted("stump"))


def test_the_rules_of_another_run_give_that_run_again() -> None:
    first = fitted(Stump())
    rules = dict(enumerate(first.model_.vote.hypotheses, start=1))
    assert votes(fitted(Scripted(rules))) == votes(first)
    later = fitted(Scripted({n: rule for n, rule in rules.items() if n <= 3}))
    assert votes(later) == votes(first)


def test_rules_are_due_in_their_rounds_also_if_the_learner_is_asked_again() -> None:
    """A learner that needs no luck still counts as one that may be asked twice."""
    own = Scripted({3: (1, 0.2, 1)}, DecisionTreeClassifier(max_depth=1))
    actual = fitted(own).model_.vote.hypotheses
    assert [type(rule).__name__ for rule in actual][:4] == [
        "Function",
        "Function",
        "StumpRule",
        "Function",
    ]


def test_cells_of_given_rules_get_values_of_their_own() -> None:
    own = Scripted({2: (0, 0.5, -1)}, Tree(max_leaves=4, min_leaf_rows=5))
    model = fitted(own, 4, Logit())
    assert model.ledger_.rounds[1].rule.startswith("x0 > ")
    assert model.ledger_.cells
    assert model.ledger_.rounds[-1].training_error < 0.2


def test_the_class_of_rules_is_known_only_if_all_are_stumps() -> None:
    assert (
        fitted(Scripted({1: (0, 0.5, 1)})).ledger_.vc_dimension
        == fitted("stump").ledger_.vc_dimension
    )
    assert fitted(Scripted({1: (0, 0.5, 1)}, Tree(max_leaves=4))).ledger_.vc_dimension is None


def test_weak_stumps_keep_their_promise_and_hardly_exceed_it() -> None:
    """Of all edges that stumps have under D_1, it is the smallest that reaches the promise."""
    signs = Y.astype(int)
    edges = []
    for column in X.T:
        places = np.sort(column)
        for cut in [(a + b) / 2 for a, b in pairwise(places)]:
            edges.append(abs(np.mean(np.where(column > cut, 1, -1) * signs)))
    edges.append(abs(signs.mean()))
    for promise in (0.05, 0.2, 0.35):
        least = min(edge for edge in edges if edge >= promise - 1e-9)
        assert fitted(WeakStump(promise), 1).ledger_.rounds[0].edge == pytest.approx(least)
    best = fitted(WeakStump(0.99), 1).ledger_.rounds[0]  # no stump has that: the best is given
    assert best.edge == pytest.approx(max(edges))
    with pytest.raises(ParameterError, match="edge is 2"):
        WeakStump(2)


# The tightest box: nothing positive outside, and no side that could move in.

NAMES = Names()


@given(small_samples(weighted=False))
@examples(100)
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
@examples(100)
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


def test_rows_without_weight_are_not_seen() -> None:
    X = np.array([[1.0], [5.0], [9.0]])
    signs = np.array([1, -1, 1], dtype=np.int8)
    search = Rectangle().on(Sample(ArrayTable(X), signs[:, None]))
    box = search.find(np.array([3, 1, 0]), signs, 0)
    assert (box.lower.tolist(), box.upper.tolist()) == ([1.0], [1.0])
