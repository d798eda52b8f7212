"""Compiled exponentials and logarithms have the bits of those that NumPy computes."""

import numpy as np
import pytest

from pacboost.kernels import same_bits
from pacboost.kernels.arrays import Floats
from pacboost.kernels.native import native
from pacboost.numerics import same_bits as plain


def numbers() -> Floats:
    draw = np.random.default_rng(0)
    edges = [0.0, -0.0, 708.8, 709.79, 744.8, 745.2, 745.5, 746.0, 1e300, 5e-324]
    return np.concatenate(
        [3 * draw.normal(size=4000), draw.uniform(-800, 800, 4000), draw.uniform(-748, -700, 4000),
         edges, np.negative(edges), [np.inf, -np.inf, np.nan]]
    )  # fmt: skip


@pytest.mark.parametrize("name", ["exp", "log", "sigmoid"])
def test_compiled_functions_have_the_same_bits_down_to_the_smallest_numbers(name: str) -> None:
    values = numbers()
    with np.errstate(all="ignore"):
        twin = getattr(plain, name)(values)
    actual = getattr(same_bits, name)(values)
    known = ~np.isnan(twin)
    assert np.isnan(actual[~known]).all()
    assert np.array_equal(actual[known].view(np.uint64), twin[known].view(np.uint64))
    if name != "log":
        assert 0 < actual[actual > 0].min() < 1e-320


@pytest.mark.parametrize("name", ["exp", "log", "sigmoid", "log_sigmoid", "softmax", "log_softmax"])
def test_a_row_alone_has_the_bits_that_it_has_among_many(name: str) -> None:
    function = getattr(same_bits, name)
    values = np.abs(numbers()[np.isfinite(numbers())][:12_000]).reshape(-1, 3)
    values = values if name == "log" else values - 300
    many = function(values)
    parts = [function(part) for part in np.array_split(values, 30)]
    assert np.array_equal(many, np.concatenate(parts))
    assert np.array_equal(many, function(np.asfortranarray(values)))
    assert np.array_equal(many[::5], function(values[::5]))
    assert np.array_equal(many[7:8], function(values[7:8]))


@pytest.mark.parametrize("last", [245, 40])
def test_steps_are_those_of_the_logarithm(last: int) -> None:
    draw = np.random.default_rng(1)
    powers = 2.0 ** (-np.arange(400) / 8)
    values = np.concatenate([draw.random(5000), powers, 1e-300 * draw.random(100), [0.0, 5e-324]])
    out = np.empty(values.size, dtype=np.uint8)
    native.steps_below_1(values, 8.0, last, out)
    with np.errstate(divide="ignore"):
        twin = np.minimum(np.floor(-8 * plain.log2(values)), last)
    assert np.array_equal(out, twin)
