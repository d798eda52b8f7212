"""Kernels on sparse columns against the dense ones."""

from __future__ import annotations

import numpy as np
import pytest

from pacboost.kernels import sparse, stumps
from pacboost.kernels.runtime import Bytes
from pacboost.kernels.runtime.team import together


def column(generator: np.random.Generator, rows: int, bins: int, missing: int) -> tuple[Bytes, int]:
    codes = np.full(rows, default := int(generator.integers(bins)), dtype=np.uint8)
    away = generator.random(rows) < 0.3
    codes[away] = generator.integers(bins, size=int(away.sum()))
    codes[generator.random(rows) < 0.1] = missing
    return codes, default


@pytest.mark.parametrize("seed", range(20))
def test_counting_what_is_listed_counts_all_rows(seed: int) -> None:
    generator = np.random.default_rng(seed)
    rows, bins, missing = int(generator.integers(1, 60)), int(generator.integers(1, 9)), 11
    codes, default = column(generator, rows, bins, missing)
    amounts = generator.integers(-(2**40), 2**40, rows)
    listed = np.flatnonzero(codes != default).astype(np.int32)
    own = np.full(bins + 1, -1, dtype=np.int64)
    sparse.count(
        listed, codes[listed], amounts, np.int64(amounts.sum()), default, bins, missing, own
    )
    expected = [amounts[codes == b].sum() for b in (*range(bins), missing)]
    np.testing.assert_array_equal(own, expected)
    out = np.empty(1, dtype=np.int64)
    together(
        sparse.edges, np.array([0, listed.size]), listed, codes[listed],
        np.array([default], np.uint8), np.array([bins]), missing, amounts, np.int64(amounts.sum()),
        out,
    )  # fmt: skip
    full = np.array([amounts[codes == b].sum() for b in range(missing + 1)])
    assert out[0] == stumps.scan(full, missing, stumps.NEVER)[0]


def test_ranks_count_the_cuts_below() -> None:
    cuts = np.array([-1.0, 0.0, 2.5])
    actual = [sparse.rank(cuts, value) for value in (-2.0, -1.0, -0.5, 0.0, 0.1, 2.5, 9.0)]
    assert actual == [0, 0, 1, 1, 2, 2, 3]
    assert sparse.rank(np.empty(0), 1.0) == 0
