"""Run a kernel on several threads, each on its share of rows or columns.

Every share writes its own part of the output; sums over rows are of whole numbers, or made span by
span of a fixed size. So the answer is the same for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar

from pacboost.parallel.cores import thread_count

ROWS_PER_SPAN = 32_768
COLUMNS_AT_ONCE = 4
CELLS_WORTH_A_THREAD = 65_536
ROWS_FOR_CHEAP_KERNELS = 400_000
"""Waking a thread takes about 0.1 ms, in which a kernel at 0.5 ns a row does 200,000 rows."""

Task = Callable[[int, int], None]

_threads: ContextVar[int] = ContextVar("pacboost_threads", default=1)
_pools: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_pools.clear)  # threads do not survive a fork


@contextmanager
def using(n_jobs: int | None) -> Iterator[None]:
    """Set how many threads are used inside this block; None and -1 mean all cores."""
    token = _threads.set(thread_count(n_jobs))
    try:
        yield
    finally:
        _threads.reset(token)


def threads() -> int:
    """Return the number of threads in use."""
    return _threads.get()


def each_rows(task: Task, n_rows: int, *, at_least: int = 1, width: int = 1) -> None:
    """Call ``task(start, stop)`` on shares of the rows, cut between spans.

    ``at_least`` so many rows are worth waking a thread: more than one span for cheap kernels. Rows
    of ``width`` numbers each have shorter spans.
    """
    if n_rows <= at_least:
        task(0, n_rows)
    else:
        _each(task, n_rows, span_size(width))


def each_columns(task: Task, n_columns: int, n_rows: int) -> None:
    """Call ``task(first, last)`` on shares of the columns, cut between groups worth a thread."""
    groups = max(1, CELLS_WORTH_A_THREAD // max(1, n_rows * COLUMNS_AT_ONCE))
    _each(task, n_columns, groups * COLUMNS_AT_ONCE)


def span_size(width: int = 1) -> int:
    """How many rows of so many numbers make a span."""
    return max(1, ROWS_PER_SPAN // width)


def span_count(n_rows: int, width: int = 1) -> int:
    """How many spans of a fixed size there are; what is summed in floats is summed by span."""
    return -(-n_rows // span_size(width))


def _each(task: Task, size: int, unit: int) -> None:
    """One share a thread, and the calling thread takes the first.

    A thread that comes back from a kernel has to wait for the interpreter's lock, so few calls on
    large shares beat many on small ones (measured: twice as fast at a million rows).
    """
    units = -(-size // unit)
    shares = min(threads(), units)
    if shares <= 1:
        task(0, size)
        return
    ends = [min(size, units * k // shares * unit) for k in range(shares + 1)]
    if shares not in _pools:
        _pools[shares] = ThreadPoolExecutor(shares - 1, thread_name_prefix="pacboost")
    others = [_pools[shares].submit(task, ends[k], ends[k + 1]) for k in range(1, shares)]
    try:
        task(ends[0], ends[1])
    finally:
        wait(others)  # also on Ctrl-C: nobody may write into arrays we have left
    for other in others:
        other.result()
