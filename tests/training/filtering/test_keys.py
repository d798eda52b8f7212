"""Keys differ with every part they are made of."""

from __future__ import annotations

import numpy as np

from pacboost.kernels.runtime.threads import using
from pacboost.training.filtering.candidates import key_of, numbers


def test_keys_are_the_same_for_the_same_parts_alone() -> None:
    parts = [(0,), (1,), (0, 0), (0, 1), (1, 0), (0, 1, 0), (0, 1, 1), (0, 2, 1), (2**31, 7)]
    assert len({int(key_of(*own)) for own in parts}) == len(parts)
    assert key_of(3, 4) == key_of(3, 4)


def test_numbers_lie_below_one_and_do_not_depend_on_threads_or_company() -> None:
    rows = np.arange(10**6, dtype=np.uint64)
    with using(2):
        all_of_them = numbers(rows, key_of(0))
    assert (all_of_them >= 0).all()
    assert (all_of_them < 1).all()
    with using(1):
        np.testing.assert_array_equal(numbers(rows, key_of(0)), all_of_them)
    np.testing.assert_array_equal(numbers(rows[7:9], key_of(0)), all_of_them[7:9])
    assert numbers(rows[:0], key_of(0)).size == 0
