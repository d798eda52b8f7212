"""Small worlds that several tests draw from."""

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable


def make_sample(
    X: NDArray[np.float64], signs: NDArray[np.int8], base: NDArray[np.float64] | None = None
) -> Sample:
    """A sample with bins."""
    table = ArrayTable(X)
    weights = np.ones(1) if base is None else base
    return Sample(table, signs[:, None], weights, fit_bins(table, 255, base))


def noisy(
    rows: int, features: int, seed: int, noise: float = 0.2
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Points whose label depends on three features, with noise."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, features))
    score = X[:, 0] + X[:, 1 % features] * X[:, 2 % features] - 0.3
    signs = np.where(score > 0, 1, -1)
    flip = generator.random(rows) < noise
    return X, np.where(flip, -signs, signs).astype(np.int8)


@st.composite
def small_samples(draw: st.DrawFn, weighted: bool = True) -> Sample:
    """Samples of few rows with ties, missing values, repeated rows and perhaps weights."""
    rows = draw(st.integers(2, 40))
    features = draw(st.integers(1, 5))
    levels = draw(st.sampled_from([2, 4, 50]))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = generator.integers(levels, size=(rows, features)).astype(np.float64)
    if draw(st.booleans()):
        X[generator.random(X.shape) < 0.2] = np.nan
    signs = np.where(generator.random(rows) < 0.5, 1, -1).astype(np.int8)
    base = None
    if weighted and draw(st.booleans()):
        base = generator.integers(1, 20, size=rows).astype(np.float64)
        if (base == base[0]).all():
            base[0] += 1
    return make_sample(X, signs, base)
