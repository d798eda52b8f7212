"""Compiled exponentials and logarithms have the bits of those that NumPy computes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.boosters.logit import Logit
from pacboost.kernels import same_bits
from pacboost.numerics.same_bits import log2, sigmoid


def margins() -> NDArray[np.float64]:
    draw = np.random.default_rng(0)
    edges = [0.0, -0.0, 354.4, 372.4, 372.6, 372.75, 373.0, 1e300, -1e300, np.inf, -np.inf]
    return np.concatenate(
        [3 * draw.normal(size=4000), draw.uniform(-400, 400, 4000), draw.uniform(350, 374, 4000),
         edges]
    )  # fmt: skip


def test_chances_have_the_same_bits_down_to_the_smallest_numbers() -> None:
    out = np.empty(margins().size)
    same_bits.chances(margins(), out)
    with np.errstate(all="ignore"):
        twin = sigmoid(-2.0 * margins())
    assert np.array_equal(out.view(np.uint64), twin.view(np.uint64))
    assert 0 < out[out > 0].min() < 1e-320


def test_few_and_many_rows_have_the_same_chances() -> None:
    own = margins()[np.isfinite(margins())]
    many = Logit().chances(own[:, None], 1)
    size = same_bits.ROWS_WORTH_COMPILING // 2
    assert own.size > 2 * size
    few = [Logit().chances(own[k : k + size], 1) for k in range(0, own.size, size)]
    assert np.array_equal(many, np.concatenate(few))


@pytest.mark.parametrize("last", [245, 40])
def test_steps_are_those_of_the_logarithm(last: int) -> None:
    draw = np.random.default_rng(1)
    powers = 2.0 ** (-np.arange(400) / 8)
    values = np.concatenate([draw.random(5000), powers, 1e-300 * draw.random(100), [0.0, 5e-324]])
    out = np.empty(values.size, dtype=np.uint8)
    same_bits.steps_below_1(values, 8.0, last, out)
    with np.errstate(divide="ignore"):
        twin = np.minimum(np.floor(-8 * log2(values)), last)
    assert np.array_equal(out, twin)
