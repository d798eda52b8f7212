"""Threads: how many, what they share, and that nothing depends on them."""

import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.kernels import threads
from pacboost.kernels.arrays import Cells
from pacboost.samples.bins import fit_bins
from pacboost.sources.arrays import ArrayTable
from tests.examples import examples

MANY_ROWS = 200_000


def shares(n_rows: int = MANY_ROWS) -> list[tuple[int, int]]:
    """The shares that a task is called with, in order."""
    calls: list[tuple[int, int]] = []
    threads.each_rows(lambda start, stop: calls.append((start, stop)), n_rows)
    return sorted(calls)


def test_leaving_by_an_exception_restores_too() -> None:
    def leave() -> None:
        with threads.using(3):
            raise KeyError("out")

    with threads.using(2):
        with pytest.raises(KeyError):
            leave()
        assert len(shares()) == 2


@examples(100)
@given(n_rows=st.integers(0, 500_000), n_jobs=st.integers(1, 5))
def test_shares_of_rows_cover_every_row_once_and_are_cut_between_spans(
    n_rows: int, n_jobs: int
) -> None:
    with threads.using(n_jobs):
        parts = shares(n_rows)
    assert len(parts) <= n_jobs
    assert parts[0][0] == 0
    assert parts[-1][1] == n_rows
    for (_, stop), (start, _) in pairwise(parts):
        assert stop == start
        assert start % threads.ROWS_PER_SPAN == 0


@examples(100)
@given(columns=st.integers(0, 300), n_rows=st.integers(0, 100_000), n_jobs=st.integers(1, 5))
def test_shares_of_columns_cover_every_column_once(columns: int, n_rows: int, n_jobs: int) -> None:
    touched = np.zeros(columns, dtype=np.int64)

    def task(first: int, last: int) -> None:
        touched[first:last] += 1

    with threads.using(n_jobs):
        threads.each_columns(task, columns, n_rows)
    assert (touched == 1).all()


def test_few_rows_stay_on_the_calling_thread() -> None:
    names: list[str] = []

    def task(start: int, stop: int) -> None:
        names.append(threading.current_thread().name)

    with threads.using(2):
        threads.each_rows(task, MANY_ROWS, at_least=MANY_ROWS)
    assert names == [threading.current_thread().name]


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_exception_in_any_share_comes_out_after_all_shares_ended(failing: int) -> None:
    with threads.using(3):
        starts = [start for start, _ in shares()]
        ended: list[int] = []

        def task(start: int, stop: int) -> None:
            if start == starts[failing]:
                raise KeyError("mishap")
            ended.append(start)

        with pytest.raises(KeyError, match="mishap"):
            threads.each_rows(task, MANY_ROWS)
        assert sorted(ended) == [start for start in starts if start != starts[failing]]
        assert len(shares()) == 3


def test_a_task_that_uses_threads_itself_does_not_wait_for_ever() -> None:
    counts: list[int] = []
    with threads.using(2):
        threads.each_rows(lambda a, b: counts.append(len(shares())), MANY_ROWS)
    assert len(counts) == 2


def test_bins_and_codes_do_not_depend_on_the_number_of_threads() -> None:
    generator = np.random.default_rng(4)
    values = generator.normal(size=(70_001, 6))
    values[generator.random(values.shape) < 0.05] = np.nan
    table = ArrayTable(values)
    found: list[tuple[list[NDArray[np.float32]], Cells]] = []
    for n_jobs in (1, 2, 3):
        with threads.using(n_jobs):
            bins = fit_bins(table, 300)
            found.append((list(bins.thresholds), bins.encode(table)))
    for thresholds, codes in found[1:]:
        for own, first in zip(thresholds, found[0][0], strict=True):
            np.testing.assert_array_equal(own, first)
        np.testing.assert_array_equal(codes, found[0][1])
