"""Map pure tasks over blocks, and give the results in the order of the blocks.

A task is a function of its block alone, besides what was fixed when the task was made: a vote, a
key. It changes nothing, so it may be done by any thread, in any order, and done again. Whoever uses
the results sees them in the order of blocks, never of arrival: nothing depends on the number of
threads. ``Tasks`` says what a way to do this has to offer; a cluster would be a third.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TypeVar

Block = TypeVar("Block")
Result = TypeVar("Result")

_pools: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_pools.clear)  # threads do not survive a fork


class Tasks(ABC):
    """A way to do the same task for many blocks."""

    @abstractmethod
    def map(self, task: Callable[[Block], Result], blocks: Iterable[Block]) -> Iterator[Result]:
        """Do the task for every block, and give the results in the order of the blocks.

        Blocks are asked for as they are needed, so there may be more than memory holds. An error
        of a task is raised in its turn, as it is; after it, no result comes any more.
        """


@dataclass(frozen=True)
class Serial(Tasks):
    """One task after the other, in the thread that asks for the results.

    >>> list(Serial().map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    def map(self, task: Callable[[Block], Result], blocks: Iterable[Block]) -> Iterator[Result]:
        return map(task, blocks)


@dataclass(frozen=True)
class Threaded(Tasks):
    """Tasks on some threads; at most ``ahead`` of them are waiting, under way or done unused.

    >>> list(Threaded(threads=2, ahead=3).map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    threads: int
    ahead: int

    def map(self, task: Callable[[Block], Result], blocks: Iterable[Block]) -> Iterator[Result]:
        """Keep the threads busy while results are used.

        When the results are no longer wanted (an error, Ctrl-C), tasks that have not begun are
        dropped, and those under way are waited for: none may hold on to memory that is given back.
        """
        pool, under_way = _pool(self.threads), deque[Future[Result]]()
        try:
            for block in blocks:
                under_way.append(pool.submit(task, block))
                if len(under_way) >= self.ahead:
                    _wait_for(under_way[0])
                    yield under_way.popleft().result()
            while under_way:
                _wait_for(under_way[0])
                yield under_way.popleft().result()
        finally:
            wait([future for future in under_way if not future.cancel()])


def tasks_on(threads: int) -> Tasks:
    """Choose a way to do tasks on so many threads.

    >>> tasks_on(1), tasks_on(4)
    (Serial(), Threaded(threads=4, ahead=8))
    """
    return Serial() if threads <= 1 else Threaded(threads, 2 * threads)


def _wait_for(future: Future[Result]) -> None:
    """Wait for a result, but look after Ctrl-C: another thread may have been given the signal."""
    while not future.done():
        wait([future], timeout=0.1)


def _pool(threads: int) -> ThreadPoolExecutor:
    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads, thread_name_prefix="pacboost-task")
    return _pools[threads]
