"""The filtered oracles give the distributions of the theorem, and say when they run out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from pacboost.hypotheses.function import Function
from pacboost.hypotheses.majority import Decision
from pacboost.hypotheses.vote import Vote
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.stream import StreamOracle
from pacboost.theory.three_oracles import Disagreements, Halves, RanOut, Source, wrong
from pacboost.training.filtering.rows import EncodedRows, RowEncoder

SIZE = 12
ROWS = np.arange(SIZE, dtype=np.float64)[:, None]
CLASSES = np.array([-1, 1])
TRUTH = np.where(np.arange(SIZE) % 3 == 0, 1, -1)


def rule(mistakes: list[int]) -> Function:
    """A rule that errs on these points."""
    answers = TRUTH.copy()
    answers[mistakes] *= -1
    return Function(lambda X: answers[X[:, 0].astype(int)], str(mistakes))


def source(*, replace: bool = True, **options: Any) -> Source:
    """Points drawn evenly, without end."""
    oracle = ArrayOracle(ROWS, TRUTH, 0, replace=replace)
    return Source(oracle, RowEncoder(CLASSES, None), **options)


def points(examples: EncodedRows) -> NDArray[np.int64]:
    return examples.table.rows()[:, 0].astype(np.int64)


def ignore(wanted: NDArray[np.bool_]) -> None:
    """Watch nothing."""


def fits(drawn: NDArray[np.int64], expected: NDArray[np.float64]) -> bool:
    counts = np.bincount(drawn, minlength=SIZE)
    assert (counts[expected == 0] == 0).all()
    used = expected > 0
    return bool(chisquare(counts[used], expected[used] / expected.sum() * drawn.size).pvalue > 1e-4)


def draws(oracle: Halves | Disagreements, sizes: list[int]) -> NDArray[np.int64]:
    return np.concatenate([points(oracle.draw(size)) for size in sizes])


@pytest.mark.parametrize("sizes", [[20_000], [1] * 1000, [7, 900] * 20])
@pytest.mark.parametrize("mistakes", [[3], [0, 1, 2, 3, 4]])
def test_half_of_the_second_oracle_is_wrong(mistakes: list[int], sizes: list[int]) -> None:
    drawn = draws(Halves(source(), rule(mistakes), 1, ignore), sizes)
    halves = np.where(np.isin(np.arange(SIZE), mistakes), 0.5 / len(mistakes), 0.0)
    halves[halves == 0] = 0.5 / (SIZE - len(mistakes))
    assert fits(drawn, halves)


def test_examples_of_the_second_oracle_do_not_hang_together() -> None:
    drawn = draws(Halves(source(), rule([3, 7]), 1, ignore), [30_000])
    bad = np.isin(drawn, [3, 7])
    pairs = np.bincount(2 * bad[:-1] + bad[1:], minlength=4)
    assert chisquare(pairs).pvalue > 1e-4


def test_the_judge_rejects_a_filter_without_coins() -> None:
    """The broken twin: draws that are not filtered are wrong less often than half of the time."""
    assert not fits(points(source().draw(20_000)), np.where(np.arange(SIZE) == 3, 0.5, 0.5 / 11))


@pytest.mark.parametrize("sizes", [[5000], [1] * 1000])
def test_third_oracle_gives_quarrels(sizes: list[int]) -> None:
    oracle = Disagreements(source(), rule([1, 2, 3]), rule([3, 4]), ignore)
    assert fits(draws(oracle, sizes), np.isin(np.arange(SIZE), [1, 2, 4]).astype(np.float64))


def test_a_rule_that_says_nothing_is_wrong() -> None:
    assert wrong(Decision(Vote([], np.empty(0))), source().draw(5)).all()


def test_rows_that_come_again_are_counted() -> None:
    once = source(replace=False)
    assert sorted(points(once.draw(SIZE)).tolist()) == list(range(SIZE))
    assert (once.draws, once.again) == (SIZE, 0)
    once.draw(2 * SIZE)
    assert (once.draws, once.again) == (3 * SIZE, 2 * SIZE)


def test_spare_rows_follow_the_first_pass() -> None:
    both = source(replace=False, spare=ArrayOracle(ROWS, TRUTH, 0, replace=True))
    drawn = points(both.draw(SIZE + 5000))
    assert sorted(drawn[:SIZE].tolist()) == list(range(SIZE))
    assert (both.draws, both.again) == (SIZE + 5000, 5000)
    assert fits(drawn[SIZE:], np.ones(SIZE))


def test_the_end_of_a_stream_and_of_patience() -> None:
    def batches() -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
        yield np.zeros((10, 1)), np.ones(10, dtype=np.int64)

    oracle = StreamOracle(batches(), None, 0)
    ending = Source(oracle, RowEncoder(CLASSES, None))
    with pytest.raises(RanOut, match="ended after 10 examples"):
        ending.draw(11)
    limited = source(max_draws=100)
    limited.draw(100)
    with pytest.raises(RanOut, match="max_draws = 100"):
        limited.draw(1)
