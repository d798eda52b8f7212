"""Run a kernel on several threads, each on its share of rows or columns.

Every share writes a separate part of the output; sums over rows are of integers, or computed span
by span of a fixed size. So the result is the same for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar

from pacboost.parallel.cores import thread_count

ROWS_PER_SPAN = 32_768
ROWS_PER_SUM = 2_048
"""Floats of as many rows are added up by one member of a team, and then those sums in one order."""
COLUMNS_PER_GROUP = 4
MIN_CELLS_PER_THREAD = 65_536
ROWS_FOR_CHEAP_KERNELS = 400_000
"""Waking a thread takes about 0.1 ms, in which a kernel at 0.5 ns a row does 200,000 rows."""

Task = Callable[[int, int], None]

_threads: ContextVar[int] = ContextVar("pacboost_threads", default=1)
_pools: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_pools.clear)  # threads do not survive a fork


@contextmanager
def using(n_jobs: int | None) -> Iterator[None]:
    """Set the number of threads for this block; None and -1 mean all cores."""
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

    Up to ``at_least`` rows are not worth waking a thread. Rows of ``width`` numbers have shorter
    spans.
    """
    if n_rows <= at_least:
        task(0, n_rows)
    else:
        _each(task, n_rows, span_size(width))


def each_columns(task: Task, n_columns: int, n_rows: int) -> None:
    """Call ``task(first, last)`` on shares of the columns, cut between groups worth a thread."""
    # Short columns share a thread, since one that ends at once was not worth waking.
    groups = max(1, MIN_CELLS_PER_THREAD // max(1, n_rows * COLUMNS_PER_GROUP))
    _each(task, n_columns, groups * COLUMNS_PER_GROUP)


def span_size(width: int = 1) -> int:
    """Return the number of rows in a span, for rows of ``width`` numbers."""
    return max(1, ROWS_PER_SPAN // width)


def sum_size(width: int = 1) -> int:
    """Return the number of rows in a sum, for rows of ``width`` numbers."""
    return max(1, ROWS_PER_SUM // width)


def sum_count(n_rows: int, width: int = 1) -> int:
    """Return the number of sums that members of a team divide."""
    return -(-n_rows // sum_size(width))


def _each(task: Task, size: int, unit: int) -> None:
    """Run one share on each thread, the first on the calling thread.

    A thread that returns from a kernel waits for the interpreter's lock, so few calls on large
    shares are faster than many on small ones (measured: twice as fast at a million rows).
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
        wait(others)  # also on Ctrl-C: they write into arrays that may be freed afterwards
    for other in others:
        other.result()
