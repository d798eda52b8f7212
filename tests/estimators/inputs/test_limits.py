"""Sizes and times as people write them, and the arithmetic of the memory promise."""

import sys
from typing import Any

import numpy as np
import pytest

from pacboost.errors import ParameterError
from pacboost.estimators.filtering import memory
from pacboost.estimators.parameters.checks import Bytes, Seconds
from pacboost.fit.targets import MAX_LABEL_SPAN, MIN_ROWS_TO_COUNT, lowest_label, number_classes
from tests.grids import each_value


def test_sizes_and_times_as_people_write_them() -> None:
    sizes = {7: 7, "2GB": 2 * 10**9, "2 gb": 2 * 10**9, " .5MB ": 500_000, "1e3KB": 10**6}
    for text, size in {None: None, **sizes, "3GiB": 3 * 2**30, 1e9: 10**9}.items():
        assert Bytes(optional=True).checked("memory", text) == size
    times = {60: 60.0, "60s": 60.0, "2m": 120.0, "1.5 h": 5400.0, "3min": 180.0}
    for text, seconds in {None: None, **times}.items():
        assert Seconds(optional=True).checked("time_limit", text) == seconds


def test_other_sizes_and_times_are_refused() -> None:
    sizes = ["", "GB", "-1GB", "0", 0, -5, "2XB", "1 000 MB", "1e999GB", True, [2], "inf", "nan"]
    for wrong in sizes:
        with pytest.raises(ParameterError, match=r"memory is .*'500MB'"):
            Bytes(optional=True).checked("memory", wrong)
    for wrong in ["soon", "5d", 0, "-1s", "1e999"]:
        with pytest.raises(ParameterError, match=r"time_limit is .*'60s'"):
            Seconds(optional=True).checked("time_limit", wrong)


def test_a_process_knows_what_it_holds() -> None:
    before = memory.resident()
    assert 10**7 < before < 10**11
    held = bytearray(200_000_000)
    held[::4096] = b"x" * len(held[::4096])
    if sys.platform == "linux":
        assert memory.resident() - before > 150_000_000


def taken(blocks: int, held: int = 0) -> int:
    return max(held, memory.USUAL) + memory.RESERVE + blocks + 2**21 * 12


@each_value
@pytest.mark.parametrize("columns", [1, 30, 2000])
@pytest.mark.parametrize("outputs", [1, 7])
@pytest.mark.parametrize("codes", [True, False])
def test_so_many_rows_fit_and_no_more(columns: int, outputs: int, codes: bool) -> None:
    blocks, limit = 123_456_789, 3 * 10**9
    rows = memory.rows_in(limit, columns, outputs, blocks, codes=codes)
    each = memory.row_bytes(columns, outputs, codes=codes)
    assert taken(blocks) + rows * each <= limit
    assert taken(blocks) + (rows + 1) * each > limit


def test_a_process_that_holds_more_leaves_less() -> None:
    few = memory.rows_in(2 * 10**9, 10, 1, 0, codes=True, held=10**9)
    many = memory.rows_in(2 * 10**9, 10, 1, 0, codes=True, held=0)
    same = memory.rows_in(2 * 10**9, 10, 1, 0, codes=True, held=memory.USUAL)
    assert few < many == same


def test_too_little_memory_says_how_much_would_do() -> None:
    with pytest.raises(ParameterError, match="no room") as caught:
        memory.rows_in(400 * 10**6, 10, 1, 50 * 10**6, codes=True)
    enough = int(str(caught.value).split("Allow at least ")[1].split(" MB")[0].replace(",", ""))
    assert memory.rows_in(enough * 10**6, 10, 1, 50 * 10**6, codes=True) >= 2000


ROWS = MIN_ROWS_TO_COUNT + 5
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
    draw.choice([0, MAX_LABEL_SPAN], ROWS),
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
