"""Bags are drawn by chance alone, and work on several threads comes out in order."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare

from pacboost.training.bags.bags import Bags, in_order

BAGS = Bags(rows=50, drawn=50, columns=8, kept=8, seed=3)


def test_a_bag_follows_from_seed_and_number() -> None:
    first, again = BAGS.bag(7), BAGS.bag(7)
    assert np.array_equal(first.counts, again.counts)
    assert first.seed == again.seed
    assert first.features is None
    others = [BAGS.bag(8), replace(BAGS, seed=4).bag(7)]
    assert not any(np.array_equal(first.counts, other.counts) for other in others)


def test_bootstrap_draws_every_row_alike() -> None:
    total = np.sum([BAGS.bag(b).counts for b in range(2_000)], axis=0)
    assert chisquare(total).pvalue > 1e-4
    outside = np.mean([BAGS.bag(b).outside.size for b in range(2_000)]) / 50
    assert outside == pytest.approx(BAGS.chance_outside, abs=0.004)


def test_pasting_draws_each_row_once() -> None:
    bags = replace(BAGS, drawn=20, replacement=False)
    for b in range(50):
        bag = bags.bag(b)
        assert bag.counts.max() == 1
        assert bag.inside.size == 20
        assert np.array_equal(np.sort(np.concatenate([bag.inside, bag.outside])), np.arange(50))
    assert bags.chance_outside == 0.6


def test_features() -> None:
    some = replace(BAGS, kept=3).bag(0).features
    assert some is not None
    assert np.unique(some).size == 3
    repeated = replace(BAGS, features_replaced=True)
    drawn = [repeated.bag(b).features for b in range(20)]
    assert all(own is not None and own.size == 8 for own in drawn)
    assert any(own is not None and np.unique(own).size < 8 for own in drawn)


def test_rows_do_not_depend_on_the_features_drawn() -> None:
    assert np.array_equal(BAGS.bag(5).counts, replace(BAGS, kept=2).bag(5).counts)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_order(threads: int) -> None:
    def slow_at_first(item: int) -> int:
        time.sleep(0.002 * (10 - item))
        return item * item

    assert list(in_order(slow_at_first, range(10), threads)) == [k * k for k in range(10)]


def test_what_nobody_wants_is_not_begun() -> None:
    begun: list[int] = []
    lock = threading.Lock()

    def note(item: int) -> int:
        with lock:
            begun.append(item)
        return item

    results = in_order(note, range(1_000), 2)
    assert next(results) == 0
    results.close()
    assert len(begun) <= 6


def test_what_nobody_wants_any_more_is_told_to_end() -> None:
    """Nothing else ends the second item: closing would wait for it for ever."""
    unwanted = threading.Event()

    def until_unwanted(item: int) -> int:
        if item:
            unwanted.wait()
        return item

    results = in_order(until_unwanted, range(3), 2, unwanted)
    assert next(results) == 0
    assert not unwanted.is_set()
    results.close()
    assert unwanted.is_set()


def test_a_failure_is_raised_where_its_result_is_due() -> None:
    results = in_order(lambda item: 1 // item, [1, 0, 1], 2)
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)
