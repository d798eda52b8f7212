"""The adversary keeps its promise and gives no more than whole rows force it to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.errors import ParameterError
from pacboost.theory.learners import Adversary
from tests.worlds import make_sample


@given(
    st.floats(0, 1),
    st.sampled_from(["random", "heavy", "light"]),
    st.integers(0, 2**32 - 1),
    st.integers(1, 60),
)
@settings(max_examples=200, deadline=None)
def test_promise(edge: float, order: str, seed: int, rows: int) -> None:
    generator = np.random.default_rng(seed)
    weights = generator.integers(1, 10**6, size=rows)
    signs = np.where(generator.random(rows) < 0.5, 1, -1).astype(np.int8)
    sample = make_sample(np.zeros((rows, 1)), signs)
    agree = Adversary(edge, order).on(sample).find(weights, signs, seed).known * signs
    measured = (weights * agree).sum() / weights.sum()
    assert measured >= edge - 1e-12
    right = weights[agree > 0]
    if right.size:
        assert measured < edge + 2 * (right.min() + 1) / weights.sum()


def test_bad_promises_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"edge is 1.5"):
        Adversary(1.5)
    with pytest.raises(ParameterError, match="random, heavy or light"):
        Adversary(0.1, "nice")
