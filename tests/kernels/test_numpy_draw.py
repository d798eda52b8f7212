"""Rows are drawn for many rounds as NumPy draws them for each."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.kernels.numpy_draw import divide_rows
from pacboost.learners.growing import key_of
from pacboost.training.run.rounds import RowsShown


@settings(deadline=None, max_examples=60)
@given(
    seed=st.one_of(st.integers(0, 50), st.integers(0, 2**100)),
    first=st.integers(1, 2**31),
    rows=st.integers(1, 600),
    subsample=st.sampled_from([0.01, 0.3, 0.8, 0.999]),
)
def test_rows_are_those_of_numpy(seed: int, first: int, rows: int, subsample: float) -> None:
    shown = RowsShown(rows, seed, subsample=subsample)
    count = max(1, round(rows * subsample))
    keys, chosen = np.zeros(3, dtype=np.int64), np.zeros((3, count), dtype=np.uint32)
    aside = np.zeros((3, rows - count), dtype=np.uint32)
    divide_rows(shown.entropy(first), keys, chosen, aside)
    for k in range(3):
        own = shown.seed_of(first + k, 0)
        expected = shown.chosen(own)
        assert expected is not None
        assert keys[k] == key_of(own)
        assert chosen[k].tolist() == expected.tolist()
        assert aside[k].tolist() == np.setdiff1d(np.arange(rows), expected).tolist()
