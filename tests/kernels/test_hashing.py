"""Random numbers of rows: those of splitmix64, and uniform."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pacboost.kernels.arrays import Bytes, Words
from pacboost.kernels.hashing import BITS
from pacboost.kernels.native import native
from tests.examples import examples
from tests.grids import each_value

WORD = 2**64 - 1


def drawn_twin(row: int, key: int) -> int:
    """Splitmix64 in whole numbers of any size."""
    z = (row * 0x9E3779B97F4A7C15 + key) & WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
    return (z ^ z >> 31) >> (64 - BITS)


def below_twin(kinds: Bytes, limits: Words, first: int, key: int) -> list[int]:
    """Ask row by row."""
    rows = range(first, first + kinds.size)
    limit = limits.tolist()
    return [r for r, kind in zip(rows, kinds, strict=True) if drawn_twin(r, key) < limit[kind]]


def drawn(rows: Words, key: int) -> Words:
    out = np.empty(rows.size, dtype=np.uint64)
    native.draw(rows, key, out)
    return out


def test_the_first_numbers_are_those_of_the_published_generator() -> None:
    # The stream of splitmix64 whose state starts at 1234567; it steps before it gives a number.
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    own = drawn(np.arange(1, 4, dtype=np.uint64), 1234567)
    assert own.tolist() == [number >> 11 for number in published]


@examples(60)
@given(rows=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30), key=st.integers(0, WORD))
def test_numbers_equal_the_twins(rows: list[int], key: int) -> None:
    own = drawn(np.array(rows, dtype=np.uint64), key)
    assert own.tolist() == [drawn_twin(row, key) for row in rows]
    assert (own < 2**BITS).all()


@examples(40)
@given(size=st.integers(0, 300), first=st.integers(0, 2**40), key=st.integers(0, WORD))
def test_rows_below_their_limits_equal_the_twins(size: int, first: int, key: int) -> None:
    generator = np.random.default_rng(key)
    kinds = generator.integers(0, 256, size).astype(np.uint8)
    limits = generator.integers(0, 2**BITS, 256).astype(np.uint64)
    limits[:2] = 0, 2**BITS
    out = np.empty(size, dtype=np.int64)
    actual = native.draw_below(kinds, limits, first, key, out)
    assert out[:actual].tolist() == below_twin(kinds, limits, first, key)


@each_value
@pytest.mark.parametrize("key", [0, 1, 2**63 + 11])
@pytest.mark.parametrize("bits", [0, 32])  # rows in blocks differ in their upper half only
def test_numbers_are_uniform_and_neighbours_and_keys_independent(key: int, bits: int) -> None:
    rows = np.arange(200_000, dtype=np.uint64) << np.uint64(bits)
    numbers, others = drawn(rows, key), drawn(rows, key + 1) / 2.0**BITS
    u = numbers / 2.0**BITS
    assert stats.kstest(u, "uniform").pvalue > 1e-4
    for one, other in ((u[:-1:2], u[1::2]), (u, others)):
        pairs = np.histogram2d(one, other, bins=16, range=[[0, 1]] * 2)[0]
        assert stats.chisquare(pairs.ravel()).pvalue > 1e-4
    low = numbers & np.uint64(255)
    assert stats.chisquare(np.bincount(low.astype(np.int64), minlength=256)).pvalue > 1e-4


@each_value
@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("scale", [0.3, 1.0])
def test_rows_are_kept_whose_numbers_are_below_their_odds(bounded: bool, scale: float) -> None:
    draw, key = np.random.default_rng(0), np.uint64(11)
    tickets = draw.integers(2**40, size=3000).astype(np.uint64)
    chances, bounds = draw.random((2, tickets.size))
    odds, kept = np.empty(tickets.size), np.empty(tickets.size, dtype=np.int64)
    given = bounds if bounded else np.empty(0)
    count = native.keep(tickets, key, chances, given, scale, odds, kept)
    twin = np.minimum(1.0, (np.minimum(chances, bounds) if bounded else chances) / scale)
    chosen = np.flatnonzero(drawn(tickets, 11) * 2.0**-BITS < twin)
    assert 0 < count < tickets.size
    assert np.array_equal(kept[:count], chosen)
    assert np.array_equal(odds[:count], twin[chosen])
