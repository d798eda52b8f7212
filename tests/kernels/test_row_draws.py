"""Rows of a round: as many as were asked for, in ascending order, each equally often."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pacboost.kernels import team
from pacboost.kernels.native import native
from pacboost.kernels.row_draws import KEY_BITS, draw_rows
from pacboost.kernels.threads import using
from tests.examples import examples

ROWS_PER_SPAN: int = native.ROWS_PER_DRAWN_SPAN
WORD = 2**64 - 1


def mixed(z: int) -> int:
    """The finalizer of splitmix64, in whole numbers of any size."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
    return z ^ z >> 31


def twin(seed: int, rows: int, count: int) -> list[int]:
    """Decide row by row: of those left in the span, each is as likely to be among those needed."""
    start, spans, drawn = mixed(seed << KEY_BITS), max(1, rows // ROWS_PER_SPAN), []
    for span in range(spans):
        stop = rows if span == spans - 1 else (span + 1) * ROWS_PER_SPAN
        needed = stop * count // rows - span * ROWS_PER_SPAN * count // rows
        for row in range(span * ROWS_PER_SPAN, stop):
            number = mixed(start + row * 0x9E3779B97F4A7C15 & WORD) >> 32
            if number * (stop - row) < needed << 32:
                drawn.append(row)
                needed -= 1
    return drawn


@examples(60)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 5_000), share=st.floats(0, 1))
def test_rows_are_those_of_the_twin(seed: int, rows: int, share: float) -> None:
    count = max(1, round(share * rows))
    drawn = draw_rows(seed, rows, count)
    assert drawn.size == count
    assert drawn.tolist() == twin(seed, rows, count)


@pytest.mark.parametrize("rows", [1_000, 1_024, 2_047, 2_048, 70_001])
def test_threads_divide_the_same_draw(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team, "MIN_CELLS_PER_MEMBER", 100)
    monkeypatch.setattr(team, "cores", lambda: 5)
    alone = draw_rows(7, rows, rows // 3)
    for threads in (2, 3, 5):
        with using(threads):
            assert np.array_equal(draw_rows(7, rows, rows // 3), alone)
    assert (np.diff(alone) > 0).all()
    assert 0 <= alone[0] <= alone[-1] < rows


@pytest.mark.parametrize(("rows", "count"), [(40, 7), (40, 36), (2_500, 1_900)])
def test_each_row_and_each_pair_is_drawn_as_often(rows: int, count: int) -> None:
    draws, drawn = 4_000, np.zeros((4_000, rows), dtype=np.bool_)
    for seed in range(draws):
        drawn[seed, draw_rows(seed, rows, count)] = True
    share = count / rows
    assert smallest_p(drawn.sum(axis=0), draws, share) > 1e-3 / rows
    if rows < ROWS_PER_SPAN:  # otherwise the parts of spans are rounded
        both = share * (count - 1) / (rows - 1)
        assert smallest_p((drawn[:, 1:] & drawn[:, :-1]).sum(axis=0), draws, both) > 1e-3 / rows
    # a draw that leaves out the first row is found out
    without_first = np.roll(drawn, 1, axis=1).sum(axis=0)
    without_first[0] = 0
    assert smallest_p(without_first, draws, share) < 1e-12


def smallest_p(times: np.ndarray, draws: int, share: float) -> float:
    """The smallest probability, over rows, of counts as far out as these."""
    below, above = stats.binom.cdf(times, draws, share), stats.binom.sf(times - 1, draws, share)
    return float(2 * np.minimum(below, above).min())


def test_rounds_have_different_rows() -> None:
    first, second = (set(draw_rows(seed, 1_000, 500).tolist()) for seed in (1, 2))
    assert 200 < len(first & second) < 300
    assert draw_rows(1, 1_000, 1_000).tolist() == list(range(1_000))
