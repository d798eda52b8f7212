"""Bags of a forest are bootstrap bags that follow from what rows hold."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from pacboost.training.bags import forest
from pacboost.training.bags.forest import ForestBags, content_order, whole_weights


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


def test_many_draws_are_counted_as_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel counts large bags, NumPy small ones; both give the same bag."""
    bags = ForestBags(order_of(500), 3, 1, 900, replacement=True)
    few = bags.bag(4)
    monkeypatch.setattr(forest, "DRAWS_WORTH_A_KERNEL", 1)
    many = bags.bag(4)
    assert np.array_equal(few.counts, many.counts)
    assert few.seed == many.seed
