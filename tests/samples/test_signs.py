"""Numbers of classes become signs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pacboost.samples.sample import signs_of


@given(st.lists(st.integers(0, 1), min_size=1, max_size=20))
def test_two_classes_have_one_column(numbers: list[int]) -> None:
    signs, labels = signs_of(np.array(numbers), 2)
    assert labels is None
    assert signs.dtype == np.int8
    assert signs[:, 0].tolist() == [2 * number - 1 for number in numbers]


def test_one_class_is_the_last() -> None:
    signs, labels = signs_of(np.zeros(3, dtype=np.int64), 1)
    assert signs.tolist() == [[1]] * 3
    assert labels is None


@given(st.integers(3, 9), st.integers(0, 2**32))
def test_more_classes_have_a_column_each(classes: int, seed: int) -> None:
    numbers = np.random.default_rng(seed).integers(classes, size=30)
    signs, labels = signs_of(numbers, classes)
    assert labels is not None
    assert labels.tolist() == numbers.tolist()
    assert signs.shape == (30, classes)
    assert (signs.sum(axis=1) == 2 - classes).all()
    assert signs.argmax(axis=1).tolist() == numbers.tolist()
