"""Columns derived from two others: what they hold, and how tables with them are read."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.sources.arrays import ArrayTable
from pacboost.sources.derived import OPERATORS, DerivedColumn, DerivedTable, derivable

COLUMNS = (DerivedColumn("/", 0, 1), DerivedColumn("-", 2, 0))


def table(rows: int = 6, columns: int = 3) -> ArrayTable:
    return ArrayTable(np.random.default_rng(0).normal(size=(rows, columns)))


@given(st.sampled_from(sorted(OPERATORS)), st.floats(width=32), st.floats(width=32))
def test_values_are_rounded_once(operator: Any, a: float, b: float) -> None:
    """Sums and products of doubles, rounded to 32 bits, are those of 32-bit floats."""
    made = DerivedColumn(operator, 0, 1).values(np.array([a]), np.array([b]))
    assert made.dtype == np.float32
    with np.errstate(all="ignore"):
        exact = OPERATORS[operator](np.float64(a), np.float64(b)).astype(np.float32)
    if np.isfinite(exact):
        assert made[0] == exact
    else:
        assert np.isnan(made[0])


def test_pairs_have_four_columns_each() -> None:
    made = derivable([4, 1, 7])
    assert len(made) == len(set(made)) == 3 * 4
    assert {(column.first, column.second) for column in made} == {(4, 1), (4, 7), (1, 7)}


@pytest.mark.parametrize(("first", "last"), [(0, 5), (0, 2), (2, 4), (3, 5), (4, 5)])
def test_blocks_are_those_of_the_whole_table(first: int, last: int) -> None:
    own = DerivedTable(table(), COLUMNS)
    given_cells = table().rows()
    expected = np.column_stack(
        [
            given_cells,
            COLUMNS[0].values(given_cells[:, 0], given_cells[:, 1]),
            COLUMNS[1].values(given_cells[:, 2], given_cells[:, 0]),
        ]
    )
    assert np.array_equal(own.block(first, last), expected[:, first:last])
    assert np.array_equal(own.take(np.array([5, 0])).rows(), expected[[5, 0]])
    read = np.column_stack([block for _, block in own.blocks()])
    assert np.array_equal(read, expected)


def test_names_follow_those_of_the_columns() -> None:
    own = DerivedTable(table(), COLUMNS)
    assert [own.name(j) for j in range(5)] == ["x0", "x1", "x2", "x0 / x1", "x2 − x0"]
    assert own.names is None
    named = ArrayTable(table().rows(), ("a", "b", "c"))
    assert DerivedTable(named, COLUMNS).names == ("a", "b", "c", "a / b", "c − a")
