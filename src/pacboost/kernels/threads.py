"""Run a kernel over spans of rows or columns on several threads.

The spans depend only on the size of the data. Each writes its own part of the output, so the
answer is the same for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar

from pacboost.errors import ParameterError
from pacboost.kernels.jit import cores

Span = tuple[int, int]

ROWS_PER_SPAN = 32_768
CELLS_PER_SPAN = 131_072
COLUMNS_AT_ONCE = 4

_threads: ContextVar[int] = ContextVar("pacboost_threads", default=1)
_pools: dict[int, ThreadPoolExecutor] = {}
os.register_at_fork(after_in_child=_pools.clear)  # threads do not survive a fork


@contextmanager
def using(n_jobs: int | None) -> Iterator[None]:
    """Set how many threads ``each`` uses inside this block; None and -1 mean all cores."""
    count = -1 if n_jobs is None else n_jobs
    if count == 0:
        raise ParameterError("n_jobs is 0; give a positive number of threads, or -1 for all cores")
    token = _threads.set(count if count > 0 else max(1, cores() + 1 + count))
    try:
        yield
    finally:
        _threads.reset(token)


def row_spans(n_rows: int) -> list[Span]:
    """Cut rows into spans of a fixed size."""
    return [(a, min(a + ROWS_PER_SPAN, n_rows)) for a in range(0, n_rows, ROWS_PER_SPAN)]


def column_spans(n_columns: int, n_rows: int) -> list[Span]:
    """Cut columns into spans worth a thread's while, whole groups of ``COLUMNS_AT_ONCE``."""
    groups = max(1, CELLS_PER_SPAN // max(1, n_rows * COLUMNS_AT_ONCE))
    width = groups * COLUMNS_AT_ONCE
    return [(a, min(a + width, n_columns)) for a in range(0, n_columns, width)]


def each(task: Callable[[int, int], None], spans: Sequence[Span]) -> None:
    """Call ``task(start, stop)`` for every span; the calling thread takes its share."""
    shares = min(_threads.get(), len(spans))
    if shares <= 1:
        _run(task, spans)
        return
    if shares not in _pools:
        _pools[shares] = ThreadPoolExecutor(shares - 1, thread_name_prefix="pacboost")
    others = [_pools[shares].submit(_run, task, spans[k::shares]) for k in range(1, shares)]
    try:
        _run(task, spans[::shares])
    finally:
        wait(others)  # also on Ctrl-C: nobody may write into arrays we have left
    for other in others:
        other.result()


def _run(task: Callable[[int, int], None], spans: Sequence[Span]) -> None:
    for start, stop in spans:
        task(start, stop)
