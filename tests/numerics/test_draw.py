"""Drawing rows by whole-number weights."""

from __future__ import annotations

import numpy as np
from scipy.stats import chisquare

from pacboost.numerics.exact import draw


def test_frequencies_follow_the_weights() -> None:
    weights = np.array([1, 0, 3, 2**50, 2**50 - 4])
    drawn = np.bincount(draw(weights, 40_000, np.random.default_rng(1)), minlength=5)
    assert drawn[1] == 0
    assert chisquare(drawn[3:], [20_000, 20_000]).pvalue > 1e-4
