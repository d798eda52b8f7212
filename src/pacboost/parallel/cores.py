"""The number of cores that this process may use, and a map of tasks over threads.

A machine may have more cores than a process may use. Schedulers and containers limit it by an
affinity mask or by a quota of its control group (cgroup, version 1 or 2): threads beyond the
quota are stopped repeatedly, all at once. joblib sets the threads of its worker processes by
environment variables, and a worker of Dask has a number of threads.
"""

from __future__ import annotations

import math
import os
import sys
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any, Generic, TypeVar, cast

from pacboost.errors import ParameterError
from pacboost.numerics.checks import integer

LIMITS = ("OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
"""Variables that limit ``n_jobs`` of None and -1; an explicit ``n_jobs`` may be larger."""
V1_FOLDERS = {"cpu": ("cpu", "cpu,cpuacct", "cpuacct,cpu"), "memory": ("memory",)}
"""Folders where a controller of version 1 may be mounted."""
V2_FOLDERS = ("", "unified")


def cores() -> int:
    """Return the number of cores that ``n_jobs=-1`` means: within all limits, and at least 1."""
    usable_cores.cache_clear()
    limits = [usable_cores(), *map(_variable, LIMITS), _dask_threads()]
    return min(count for count in limits if count is not None)


@lru_cache(maxsize=1)
def usable_cores() -> int:
    """Return the number of cores that this process has, counted when ``n_jobs`` is read."""
    mask = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    limits = [max(1, mask or 1), _quota()]
    return min(count for count in limits if count is not None)


def thread_count(n_jobs: Any) -> int:
    """Return the number of threads; None and -1 mean all cores, -2 all but one, and so on."""
    count = -1 if n_jobs is None else integer("n_jobs", n_jobs)
    if count == 0:
        raise ParameterError(
            "n_jobs is 0; pass a positive number of threads, or -1 for all cores",
            parameter="n_jobs",
        )
    usable_cores.cache_clear()
    return count if count > 0 else max(1, cores() + 1 + count)


@lru_cache(maxsize=1)
def _quota() -> int | None:
    return cgroup_quota(Path("/"))


def cgroup_quota(root: Path) -> int | None:
    """Return the smallest quota of the control groups around this process, in whole cores.

    Parts of a core count as one. Return None if there is no quota. ``root`` is the root of the file
    system; tests pass another one.
    """
    quotas = [_quota_of(folder, version) for version, folder in control_groups(root, "cpu")]
    return min((math.ceil(quota) for quota in quotas if quota), default=None)


def control_groups(root: Path, controller: str) -> Iterator[tuple[int, Path]]:
    """Yield the version and folder of every control group around this process."""
    for version, path in _groups(root / "proc/self/cgroup", controller):
        for folder in V2_FOLDERS if version == 2 else V1_FOLDERS[controller]:
            mounted = root / "sys/fs/cgroup" / folder
            for group in (path, *path.parents):  # inside a container only the last may exist
                yield version, mounted / group.relative_to("/")


def _groups(listing: Path, controller: str) -> Iterator[tuple[int, PurePosixPath]]:
    """Yield the version and path of every control group that a controller may limit."""
    try:
        lines = listing.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        place = PurePosixPath("/", *(part for part in PurePosixPath(path).parts if part != ".."))
        if controllers == "":
            yield 2, place
        elif controller in controllers.split(","):
            yield 1, place


def _quota_of(folder: Path, version: int) -> float | None:
    try:
        if version == 2:
            quota, period = (folder / "cpu.max").read_text(encoding="ascii").split()
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text(encoding="ascii")
            period = (folder / "cpu.cfs_period_us").read_text(encoding="ascii")
        cores = int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):  # also "max", which is no limit
        return None
    return cores if cores > 0 else None  # version 1 writes -1 for no limit


def _variable(name: str) -> int | None:
    """Read a number of threads from the environment; OpenMP allows a list of numbers by level."""
    first = os.environ.get(name, "").partition(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else None


def _dask_threads() -> int | None:
    """Return the number of threads of the Dask worker that runs this task, or None."""
    worker: Any = sys.modules.get("distributed.worker")
    if worker is None:
        return None
    try:
        return max(1, int(worker.get_worker().state.nthreads))
    except (AttributeError, TypeError, ValueError):  # ValueError: this is not a task of a worker
        return None


Block = TypeVar("Block")
Result = TypeVar("Result")
Item = TypeVar("Item")


def in_order(
    task: Callable[[Block], Result],
    blocks: Iterable[Block],
    threads: int,
    ahead: int | None = None,
    unwanted: Event | None = None,
) -> Generator[Result]:
    """Run a pure task for every block on several threads, and yield the results in block order.

    A task depends on its block alone, so results do not depend on the number of threads. The
    consuming thread reads blocks as they are needed: at most ``ahead`` tasks (twice the threads, or
    none with a single thread) are unfinished or unused. An error of a task is raised in its turn.
    When the consumer stops, tasks that have not begun are dropped, ``unwanted`` is set so that long
    tasks can end early, and running tasks are waited for, because they may use memory that is then
    freed.
    """
    if threads <= 1 and ahead is None:
        yield from map(task, blocks)
        return
    # Not ThreadPoolExecutor: Ctrl-C may be raised inside its locks, which are written in Python
    # and then stay locked or fail. The calls of SimpleQueue and _thread are written in C.
    tasks: SimpleQueue[Call[Block, Result] | None] = SimpleQueue()
    ended: SimpleQueue[None] = SimpleQueue()
    running: deque[Call[Block, Result]] = deque()
    started = 0
    try:
        for block in blocks:
            running.append(Call(block))
            tasks.put(running[-1])
            if started < threads:
                try:
                    start_new_thread(_work, (task, tasks, ended))
                    started += 1
                except RuntimeError:  # the system has no thread to spare; those that run suffice
                    threads = started
            if not started:
                _run(task, tasks.get())
            if len(running) >= (ahead or 2 * threads):
                yield _result(running.popleft())
        while running:
            yield _result(running.popleft())
    finally:
        if unwanted is not None:
            unwanted.set()
        for call in running:
            call.is_dropped = True
        for _ in range(started):
            tasks.put(None)
        for _ in range(started):
            _wait_for(ended)


class Call(Generic[Block, Result]):
    """A block and where its result, or its error, arrives."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.is_dropped = False
        self.outcome: SimpleQueue[tuple[Result | None, BaseException | None]] = SimpleQueue()


def _work(
    task: Callable[[Block], Result],
    tasks: SimpleQueue[Call[Block, Result] | None],
    ended: SimpleQueue[None],
) -> None:
    while (call := tasks.get()) is not None:
        _run(task, call)
        del call  # nothing keeps a block that is done
    ended.put(None)


def _run(task: Callable[[Block], Result], call: Call[Block, Result] | None) -> None:
    if call is None or call.is_dropped:
        return
    try:
        call.outcome.put((task(call.block), None))
    except BaseException as error:  # raised in the consumer, in its turn
        call.outcome.put((None, error))


def _result(call: Call[Block, Result]) -> Result:
    result, error = _wait_for(call.outcome)
    if error is not None:
        raise error
    return cast(Result, result)


def _wait_for(queue: SimpleQueue[Item]) -> Item:
    """Wait for an item, a little at a time, so that Ctrl-C can interrupt.

    Another thread may receive the signal; and once polars is imported, the system restarts
    interrupted waits, so that Ctrl-C would not end a wait without a time limit.
    """
    while True:
        with suppress(Empty):
            return queue.get(timeout=0.1)
