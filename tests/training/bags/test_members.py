"""How members are made: from their bag alone, and alike whichever way the bag is handed over."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from pacboost.learners.learner import FunctionLearner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample, signs_of
from pacboost.sources.arrays import ArrayTable
from pacboost.training.bags.bags import Bags
from pacboost.training.bags.forest import (
    ForestBags,
    TreeLimits,
    TreeMaker,
    content_order,
    whole_weights,
)
from pacboost.training.bags.members import BoxMaker, CodesMaker, Maker, RowsMaker
from tests.grids import each_value

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


@each_value
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


# Bags of a forest are bootstrap bags that follow from what rows hold.


def order_of(rows: int) -> NDArray[np.intp]:
    return np.random.default_rng(1).permutation(rows)


def test_every_row_is_drawn_as_often_as_any_other() -> None:
    bags = ForestBags(order_of(40), 3, 0, 40, replacement=True)
    drawn = np.sum([bags.bag(k).counts for k in range(500)], axis=0)
    assert drawn.sum() == 20_000
    assert chisquare(drawn).pvalue > 1e-4
    outside = np.mean([(bags.bag(k).counts == 0).mean() for k in range(500)])
    assert outside == pytest.approx(bags.chance_outside, abs=0.01)


def test_weights_set_how_often_rows_are_drawn() -> None:
    weights = np.array([1, 2, 3, 4])
    bags = ForestBags(order_of(4), 3, 0, 10, replacement=True, weights=weights)
    drawn = np.sum([bags.bag(k).counts for k in range(500)], axis=0)
    assert chisquare(drawn, 500.0 * weights).pvalue > 1e-4


def test_without_replacement_rows_are_taken_once() -> None:
    some = ForestBags(order_of(30), 3, 0, 12, replacement=False).bag(0).counts
    assert sorted(np.unique(some)) == [0, 1]
    assert some.sum() == 12
    assert (ForestBags(order_of(30), 3, 0, 30, replacement=False).bag(0).counts == 1).all()


def test_bags_go_with_content_not_with_places() -> None:
    generator = np.random.default_rng(0)
    codes = generator.integers(4, size=(11, 200)).astype(np.uint8)
    targets = generator.normal(size=200)
    moved = generator.permutation(200)
    bags = [
        ForestBags(content_order(codes[:, own], targets[own]), 11, 5, 200, replacement=True)
        for own in (np.arange(200), moved)
    ]
    assert np.array_equal(bags[0].bag(3).counts[moved], bags[1].bag(3).counts)
    assert not np.array_equal(bags[0].bag(3).counts, bags[1].bag(3).counts)


@pytest.mark.parametrize(
    ("weights", "whole"),
    [
        ([1.0, 1 / 3], [3, 1]),
        ([1.0, 0.4, 0.2], [5, 2, 1]),
        ([1.0, 2 / 3], [3, 2]),
        ([1.0, 1e-12], [65536, 1]),
    ],
)
def test_whole_weights(weights: list[float], whole: list[int]) -> None:
    assert whole_weights(np.array(weights)).tolist() == whole


def test_draws_are_counted_as_numpy_counts_them() -> None:
    order = order_of(500)
    bag = ForestBags(order, 3, 1, 900, replacement=True).bag(4)
    places = np.random.default_rng((1, 4)).integers(500, size=900)
    assert np.array_equal(bag.counts, np.bincount(order[places], minlength=500))


# Numbers that trees of a forest hold.


@pytest.mark.parametrize("scale", [1e-90, 1.0, 1e90])
def test_numbers_of_any_size_are_predicted_to_seven_digits(scale: float) -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 2))
    targets = (X[:, 0] + 100) * scale
    table = ArrayTable(X)
    sample = Sample(table, np.ones((300, 1), np.int8), bins=fit_bins(table))
    maker = TreeMaker(sample, targets, 0, TreeLimits(2))
    tree = maker.make(ForestBags(np.arange(300), 2, 0, 300, replacement=False).bag(0))
    codes = tree.answers(sample)
    assert np.abs(codes - targets).max() < 0.1 * scale  # bins hold two rows at the most
    assert np.median(np.abs(codes - targets)) < 1e-7 * 100 * scale
