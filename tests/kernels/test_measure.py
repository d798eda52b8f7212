"""What a round is measured by equals the plain twins."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.kernels.arrays import Floats, Signs
from pacboost.kernels.native import native
from pacboost.kernels.team import together
from tests.examples import examples
from tests.grids import each_value
from tests.kernels import naive
from tests.kernels.naive import summed


@each_value
@pytest.mark.parametrize("rows", [1, 69, 70, 200, 32_767, 32_768, 32_769, 100_003])
@pytest.mark.parametrize("size", [1, 70, 32_768])
def test_masses_equal_the_twins(rows: int, size: int) -> None:
    generator = np.random.default_rng(rows)
    for largest in (2**20, 2**53 // rows):  # squares of the first are exact
        weights = generator.integers(1, largest, rows)
        agree = generator.choice(np.array([-1, 1], dtype=np.int8), rows)
        sums, squares = np.full((-(-rows // size), 2), -1), np.full(-(-rows // size), np.nan)
        together(native.masses, weights, agree, size, sums, squares)
        expected_sums, expected_squares = naive.masses(weights, agree, size)
        np.testing.assert_array_equal(sums, expected_sums)
        tolerance = 0.0 if largest == 2**20 and size <= 70 else size * 2.0**-53
        np.testing.assert_allclose(squares, expected_squares, rtol=tolerance)


@examples(80)
@given(seed=st.integers(0, 2**32), rows=st.integers(1, 200), one=st.booleans())
def test_mistakes_equal_the_twins(seed: int, rows: int, one: bool) -> None:
    generator = np.random.default_rng(seed)
    margins = generator.integers(-2, 3, rows) / 2.0
    first = generator.integers(1, 2**40, 1 if one else rows)
    assert summed(native.mistakes, margins, first)[0] == naive.mistakes(margins, first)


def test_a_tie_is_a_mistake_and_minus_zero_is_a_tie() -> None:
    margins = np.array([0.0, -0.0, 2.0**-40, -(2.0**-40)])
    assert summed(native.mistakes, margins, np.array([1]))[0] == 3


@each_value
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("signed", [True, False])
def test_cell_sums_equal_the_twins(outputs: int, dtype: Any, signed: bool) -> None:
    generator = np.random.default_rng(outputs)
    rows, size, count = 3_001, 500, 9
    cells = generator.integers(count, size=rows).astype(dtype)
    weights = generator.integers(0, 2**40, (rows, outputs))
    signs = generator.choice(np.array([-1, 1], dtype=np.int8), (rows, outputs))
    pulls = signs * generator.integers(0, 2**20, (rows, outputs))
    sums, squares = np.zeros((2, count, outputs), dtype=np.int64), np.full(7, np.nan)
    given = signs if signed else pulls
    together(native.cell_sums, cells, weights, given, signed, size, sums[None], squares)
    own = signs * weights if signed else pulls
    np.testing.assert_array_equal(sums, naive.cell_sums(cells, weights, own, count))
    spans = np.add.reduceat((own.astype(float) ** 2).sum(axis=1), np.arange(0, rows, size))
    np.testing.assert_allclose(squares, spans, rtol=1e-12)


KINDS = {"logistic": native.LOGISTIC, "clipped": native.CLIPPED}


def add_up(
    kind: str, margins: Floats, signs: Signs, base: Floats,
    size: int, sums: Floats,
) -> None:  # fmt: skip
    if kind == "softmax":
        rows = len(margins)
        costs, squares = np.full((2, rows), np.nan)
        wrong = np.zeros(rows, dtype=np.bool_)
        pulls = np.arange(margins.size).reshape(margins.shape)
        given = np.arange(rows), margins, signs, pulls
        together(native.class_rows, *given, np.empty((0, 2)), costs, wrong, squares)
        sums[:] = np.add.reduceat(costs * base, np.arange(0, rows, size))
        np.testing.assert_array_equal(squares, (pulls.astype(float) ** 2).sum(axis=1))
    else:
        together(native.potential, KINDS[kind], margins, base, size, sums)


@each_value
@pytest.mark.parametrize("kind", [*KINDS, "softmax"])
@pytest.mark.parametrize("outputs", [1, 4])
@pytest.mark.parametrize("one", [True, False])
@pytest.mark.parametrize("reach", [0.0, 3.0, 30.0, 3000.0])
def test_potentials_equal_the_twins(kind: str, outputs: int, one: bool, reach: float) -> None:
    if kind == "softmax" and outputs == 1:
        pytest.skip("softmax has an output for each class")
    generator = np.random.default_rng(outputs)
    rows, size = 2_100, 500
    labels = generator.integers(outputs, size=rows)
    signs = np.where(np.eye(outputs)[labels] > 0, np.int8(1), np.int8(-1))
    margins = generator.uniform(-reach, reach, (rows, outputs))
    base = generator.uniform(0.1, 5.0, 1 if one else rows)
    sums = np.full(5, np.nan)
    add_up(kind, margins, signs, base, size, sums)
    cost = naive.costs(kind, margins, signs) * base
    np.testing.assert_allclose(sums, np.add.reduceat(cost, np.arange(0, rows, size)), rtol=1e-12)
    if kind == "logistic" and outputs == 1 and one:
        together(native.potential, native.LOGISTIC, margins, np.ones(1), size, sums)
        expected = np.add.reduceat(cost / base, np.arange(0, rows, size))
        np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [*KINDS, "softmax"])
def test_tiny_costs_are_off_by_no_more_than_rounding(kind: str) -> None:
    """1 + exp(-2·margin) is rounded, and so are exponents of the size of the scores."""
    outputs = 3 if kind == "softmax" else 1
    signs = np.full((40, outputs), -1, dtype=np.int8)
    signs[:, 0] = 1
    margins = np.repeat(np.linspace(10, 400, 40)[:, None], outputs, axis=1)
    cost = naive.costs(kind, margins, signs)
    sums = np.empty(40)
    add_up(kind, margins, signs, np.ones(40), 1, sums)
    assert (np.abs(sums - cost) <= 1e-12 * cost + 4 * (40 + margins[:, 0]) * 2**-53).all()
    if kind == "logistic":
        together(native.potential, native.LOGISTIC, margins, np.ones(1), 1, sums)
        np.testing.assert_allclose(sums, cost, rtol=1e-12, atol=2**-52)


@examples(80)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(1, 60),
    outputs=st.integers(2, 5),
    one=st.booleans(),
)
def test_wrong_classes_equal_the_twins(seed: int, rows: int, outputs: int, one: bool) -> None:
    generator = np.random.default_rng(seed)
    labels = generator.integers(outputs, size=rows)
    signs = np.where(np.eye(outputs)[labels] > 0, np.int8(1), np.int8(-1))
    margins = generator.integers(-2, 3, (rows, outputs)) / 2.0
    first = generator.integers(1, 2**40, 1 if one else rows)
    ours = summed(native.wrong_classes, margins, signs, first)[0]
    assert ours == naive.wrong_classes(margins, signs, first)
    chosen = generator.permutation(rows)[: rows // 2 + 1]
    costs, squares, wrong = np.full(rows, -1.0), np.full(rows, -1.0), np.full(rows, fill_value=True)
    given = chosen, margins, signs, np.zeros(signs.shape, int), np.empty((0, 2))
    together(native.class_rows, *given, costs, wrong, squares)
    each = [naive.wrong_classes(margins[[i]], signs[[i]], np.ones(1, int)) for i in range(rows)]
    left = np.setdiff1d(np.arange(rows), chosen)
    assert wrong[chosen].tolist() == [each[i] == 1 for i in chosen]
    assert wrong[left].all()
    assert (costs[left] == -1).all()
    assert (costs[chosen] >= 0).all()


def test_a_tie_between_classes_is_a_mistake() -> None:
    signs = np.array([[1, -1, -1]], dtype=np.int8)
    scores = np.array([[0.5, 0.5, -1.0], [0.5, 0.25, -1.0], [0.0, 0.0, -1.0]])
    ones = np.array([1])
    wrong = [summed(native.wrong_classes, row[None] * signs, signs, ones)[0] for row in scores]
    assert wrong == [1, 0, 1]
