"""Whole numbers as labels are numbered by counting, just as sorting numbers them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pacboost.estimators.inputs.labels import (
    MOST_APART,
    ROWS_WORTH_COUNTING,
    lowest_label,
    number_classes,
)

ROWS = ROWS_WORTH_COUNTING + 5
draw = np.random.default_rng(0)

COUNTED: list[Any] = [
    draw.integers(0, 2, ROWS),
    draw.integers(-120, 120, ROWS).astype(np.int8),
    draw.choice([3, 200], ROWS).astype(np.uint8),
    draw.choice([-3.0, 5.0, 6.0], ROWS),
    draw.integers(0, 2, ROWS).astype(np.float32),
    draw.integers(0, 2, ROWS).astype(bool),
    np.full(ROWS, 7),
]
SORTED: list[Any] = [
    draw.choice([0.5, 1.0], ROWS),
    draw.choice([-0.0, 1.0], ROWS),
    draw.choice([0, MOST_APART], ROWS),
    draw.choice([2.0**53, 2.0**53 + 2], ROWS),
    draw.choice(["a", "b"], ROWS),
    draw.integers(0, 2, 90),
]


@pytest.mark.parametrize("labels", COUNTED + SORTED)
def test_classes_and_numbers_are_those_of_unique(labels: Any) -> None:
    classes, numbers = number_classes(labels)
    expected, places = np.unique(labels, return_inverse=True)
    assert classes.dtype == expected.dtype
    assert np.array_equal(classes, expected)
    assert np.array_equal(numbers, places)


def test_only_whole_numbers_that_lie_close_together_are_counted() -> None:
    assert all(lowest_label(labels) is not None for labels in COUNTED)
    assert all(lowest_label(labels) is None for labels in SORTED)
    assert lowest_label(np.full(ROWS, np.nan)) is None
