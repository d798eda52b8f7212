"""Small samples of words, dense and sparse, that several tests draw from."""

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.sparse import words_of
from tests.training.run.prefixes import signs_of


@st.composite
def some_presence(draw: st.DrawFn) -> NDArray[np.float64]:
    """A few rows of zeros and ones; some rows and some columns may be empty."""
    rows, words = draw(st.integers(1, 30)), draw(st.integers(1, 12))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.05, 0.3, 0.7]))
    return (generator.random((rows, words)) < share).astype(np.float64)


@st.composite
def word_samples(draw: st.DrawFn, *, several: bool = False) -> Sample:
    """Rows whose class depends on the words they hold, with noise, and perhaps weights."""
    presence = draw(some_presence())
    count = draw(st.integers(2, 4))
    rows = len(presence)
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = (presence @ np.arange(presence.shape[1])).astype(np.int64) % count
    labels = np.where(generator.random(rows) < 0.3, generator.integers(count, size=rows), labels)
    signs = signs_of(labels, count)
    if several:
        signs = np.where(generator.random((rows, 3)) < 0.4, 1, -1).astype(np.int8)
    base = generator.uniform(0.1, 9.0, rows) if draw(st.booleans()) else np.ones(1)
    return Sample(
        words_of(ArrayTable(presence)),
        signs,
        base,
        answers=tuple(str(k) for k in range(max(2, signs.shape[1]))),
        labels=None if several or count == 2 else labels,
    )
