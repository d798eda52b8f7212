"""How members are made: from their bag alone, and alike whichever way the bag is handed over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from pacboost.learners.learner import FunctionLearner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample, signs_of
from pacboost.sources.arrays import ArrayTable
from pacboost.training.bags.bags import Bags
from pacboost.training.bags.members import BoxMaker, CodesMaker, Maker, RowsMaker, for_bags

Table = NDArray[np.float64]


def drawn(rows: int, classes: int, seed: int) -> tuple[Table, NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    X = generator.integers(12, size=(rows, 4)).astype(np.float64)
    y = (X[:, 0] + generator.integers(6, size=rows)).astype(np.int64) * classes // 17
    return X, y


def sample_of(X: Table, y: NDArray[np.int64], classes: int, *, coded: bool) -> Sample:
    signs, labels = signs_of(y, classes)
    table = ArrayTable(X)
    return Sample(table, signs, bins=fit_bins(table, 255) if coded else None, labels=labels)


def makers(X: Table, y: NDArray[np.int64], classes: int, learner: Any) -> list[Maker]:
    """The same learner on codes of all rows, and on the rows of a bag."""
    coded, plain = (sample_of(X, y, classes, coded=coded) for coded in (True, False))
    return [CodesMaker(learner, coded, y, classes), RowsMaker(learner, 255, plain, y, classes)]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", [Stump(), Tree(max_leaves=6, min_leaf_rows=1)])
def test_codes_and_rows_make_the_same_errors(learner: Any, classes: int) -> None:
    """Cuts may lie elsewhere between the values of a bag, but its rows are split alike."""
    X, y = drawn(300, classes, 1)
    bag = Bags(300, 300, 4, 4, seed=2).bag(0)
    sample = sample_of(X, y, classes, coded=False)
    errors = []
    for maker in makers(X, y, classes, learner):
        said = maker.make(bag).answers(sample)
        assert set(said.tolist()) <= set(range(classes))
        errors.append(int(bag.counts[said != y].sum()))
    assert errors[0] == errors[1] < 150


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_member_follows_from_its_bag_alone(which: int) -> None:
    """Other labels, and for handed rows other features, outside the bag change nothing."""
    X, y = drawn(200, 2, 3)
    bag = Bags(200, 200, 4, 4, seed=4).bag(0)
    other_X, other_y = X.copy(), y.copy()
    other_y[bag.outside] = 1 - y[bag.outside]
    if which != 0:
        other_X[bag.outside] = -99.0

    def made(rows: Table, labels: NDArray[np.int64]) -> Any:
        learner = Tree(max_leaves=8, min_leaf_rows=1)
        both = makers(rows, labels, 2, learner)
        box = DecisionTreeClassifier()
        maker = [*both, BoxMaker(box, both[1].sample, labels, 2)][which]
        return maker.make(bag).answers(sample_of(X, y, 2, coded=False))

    assert np.array_equal(made(X, y), made(other_X, other_y))


def test_functions_see_the_rows_of_their_bag_and_no_others() -> None:
    seen: list[int] = []

    def learn(X: Table, y: NDArray[np.int8], weights: Table) -> Any:
        seen.append(len(X))
        assert weights.sum() == pytest.approx(1)
        return lambda rows: np.where(rows[:, 0] > 5, 1, -1)

    X, y = drawn(100, 2, 5)
    bag = Bags(100, 100, 4, 4, seed=6).bag(0)
    sample = sample_of(X, y, 2, coded=False)
    member = RowsMaker(FunctionLearner(learn), 255, sample, y, 2).make(bag)
    assert seen == [bag.inside.size]
    assert np.array_equal(member.answers(sample), (X[:, 0] > 5).astype(int))


def test_answers_out_of_bag_are_answers() -> None:
    X, y = drawn(150, 3, 7)
    bag = Bags(150, 150, 4, 2, seed=8).bag(0)
    plain = sample_of(X, y, 3, coded=False)
    for maker in (
        RowsMaker(Stump(), 255, plain, y, 3),
        BoxMaker(DecisionTreeClassifier(random_state=0), plain, y, 3),
    ):
        member = maker.make(bag)
        assert member.features is not None
        assert member.features.size == 2
        outside = maker.out_of_bag(member, bag.outside)
        assert np.array_equal(outside, member.answers(plain)[bag.outside])


def test_one_class_in_a_bag_needs_no_learner() -> None:
    X = np.zeros((3, 4))
    sample = sample_of(X, np.array([1, 1, 1]), 2, coded=False)
    member = BoxMaker(DummyClassifier(strategy="bad"), sample, np.array([1, 1, 1]), 2).make(
        Bags(3, 3, 4, 4, seed=0).bag(0)
    )
    assert member.answers(sample).tolist() == [1, 1, 1]


def test_trees_split_by_gini_unless_told_otherwise() -> None:
    tree = for_bags(Tree())
    assert isinstance(tree, Tree)
    assert tree.criterion == "gini"
    assert for_bags(Tree(criterion="error")) == Tree(criterion="error")
    assert for_bags(Stump()) == Stump()
