"""Map pure tasks over blocks, and give the results in the order of the blocks.

A task is a function of its block alone, besides what was fixed when the task was made: a vote, a
key. It changes nothing, so it may be done by any thread, in any order, and done again. Whoever uses
the results sees them in the order of blocks, never of arrival: nothing depends on the number of
threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

Block = TypeVar("Block")
Result = TypeVar("Result")


def in_order(
    task: Callable[[Block], Result],
    blocks: Iterable[Block],
    threads: int,
    ahead: int | None = None,
    unwanted: Event | None = None,
) -> Generator[Result]:
    """Do a task for every block on some threads, and give the results in the order of the blocks.

    Blocks are asked for as they are needed, by the thread that uses the results: at most ``ahead``
    tasks (twice the threads, or with a single thread none) wait, are under way, or done unused. An
    error of a task is raised in its turn. When results are no longer wanted (an error, Ctrl-C),
    tasks that have not begun are dropped and ``unwanted`` is set, so that long ones can end early;
    those under way are waited for: none may hold on to memory that is given back.

    >>> list(in_order(abs, [-1, 2, -3], threads=2))
    [1, 2, 3]
    """
    if threads <= 1 and ahead is None:
        yield from map(task, blocks)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="pacboost-task") as pool:
        under_way: deque[Future[Result]] = deque()
        try:
            for block in blocks:
                under_way.append(pool.submit(task, block))
                if len(under_way) >= (ahead or 2 * threads):
                    yield _awaited(under_way.popleft())
            while under_way:
                yield _awaited(under_way.popleft())
        finally:
            if unwanted is not None:
                unwanted.set()
            for future in under_way:
                future.cancel()


def _awaited(future: Future[Result]) -> Result:
    """Wait for a result, a little at a time, so that Ctrl-C can interrupt.

    Another thread may have been given the signal; and once polars is imported, the system restarts
    interrupted waits, so that Ctrl-C would not end a wait that has no time limit.
    """
    while not wait([future], timeout=0.1).done:
        pass
    return future.result()
