"""Ranks are those of scipy.stats."""

import numpy as np
import pytest
from scipy.stats import rankdata

from pacboost.numerics.ranks import max_ranks, mean_ranks


@pytest.mark.parametrize("levels", [1, 3, 1000])
def test_ranks_equal_those_of_scipy(levels: int) -> None:
    values = np.random.default_rng(levels).integers(levels, size=(40, 7)) / 7
    values[0, ::2] = np.inf
    np.testing.assert_array_equal(max_ranks(values), rankdata(values, method="max", axis=1))
    np.testing.assert_array_equal(mean_ranks(values[:, 1]), rankdata(values[:, 1]))
