"""What words win, against the definition in plain NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.kernels import layout
from pacboost.kernels.arrays import Floats as Doubles
from pacboost.kernels.native import native
from pacboost.kernels.team import together
from pacboost.kernels.words import WordRows
from pacboost.sources import arrays, sparse
from tests.examples import examples
from tests.word_samples import some_presence


def spoken(criterion: int, pull: Doubles, weight: Doubles, penalty: float) -> float:
    """By the definition, all outputs together."""
    if criterion == layout.NEWTON:
        below = weight + penalty
        return float(np.divide(pull**2, below, out=np.zeros(pull.shape), where=below > 0).sum())
    if criterion == layout.ERROR:
        return float(np.abs(pull).sum())
    plus, minus = (weight + pull) / 2, (weight - pull) / 2
    return float((weight - 2 * np.sqrt(plus * minus)).sum())


@given(
    some_presence(),
    st.sampled_from([layout.NEWTON, layout.ERROR, layout.Z]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
@examples(150)
def test_gains_of_words(
    presence: Doubles, criterion: int, signed: bool, both: bool, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    rows, count = presence.shape
    weights = generator.integers(0, 1000, size=(rows, 3))
    pulls = generator.choice([-1, 1], size=weights.shape)
    if not signed:
        pulls *= generator.integers(0, weights + 1)
    taken = np.asarray(generator.random(rows) < 0.3, dtype=np.uint8)
    own = weights * pulls if signed else pulls
    free = taken == 0
    rest = np.stack([own[free].sum(axis=0), weights[free].sum(axis=0)])
    drawn = generator.integers(count, size=20)
    starts, holders = sparse.words_of(arrays.ArrayTable(presence)).by_word
    out = np.empty(drawn.size)
    held_by = WordRows(
        starts, holders, taken, weights, pulls.astype(np.int8 if signed else np.int64), signed,
        rest if both else rest[:, :0], criterion, 2.5,
    )  # fmt: skip
    together(native.gains_of_all, drawn, held_by, out)
    for word, gain in zip(drawn, out, strict=True):
        held = free & (presence[:, word] > 0)
        if not held.any():
            assert gain == -1
            continue
        expected = spoken(criterion, own[held].sum(axis=0), weights[held].sum(axis=0), 2.5)
        if both:
            others = free & ~held
            expected += spoken(criterion, own[others].sum(axis=0), weights[others].sum(axis=0), 2.5)
        assert gain == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_nearly_pure_cells_keep_their_digits_and_empty_ones_win_nothing() -> None:
    weight = 2**52
    assert native.testing.spoken(layout.Z, float(weight - 2), float(weight), 0.0) == pytest.approx(
        weight - 2 * (weight - 1) ** 0.5, rel=1e-15
    )
    assert native.testing.spoken(layout.NEWTON, 0.0, 0.0, 0.0) == 0
