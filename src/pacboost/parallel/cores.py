"""How many cores this process may use: the one place where they are counted.

A machine has more cores than a process may have. Schedulers and containers limit it by an affinity
mask or by a quota of its control group (cgroup, version 1 or 2): threads beyond the quota are
stopped again and again, all at once. joblib tells its worker processes through environment
variables how many threads each may have, and a worker of Dask knows its number of threads.
"""

from __future__ import annotations

import math
import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import lru_cache
from pathlib import Path, PurePosixPath
from threading import Event
from typing import Any, TypeVar

from pacboost.errors import ParameterError

HARD_LIMIT = "NUMBA_NUM_THREADS"
"""Our threads run kernels compiled by numba: no team has more members than this variable says."""
LIMITS = (HARD_LIMIT, "OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
"""What ``n_jobs`` of None and -1 follow; an explicit number of threads may be larger than these."""
V1_FOLDERS = ("cpu", "cpu,cpuacct", "cpuacct,cpu")
"""Where the controller "cpu" of version 1 may be mounted."""
V2_FOLDERS = ("", "unified")


def cores() -> int:
    """Return the number of cores that ``n_jobs=-1`` means: within all limits, and at least 1."""
    usable_cores.cache_clear()
    found = [usable_cores(), *map(_variable, LIMITS), _dask_threads()]
    return min(count for count in found if count is not None)


@lru_cache(maxsize=1)
def usable_cores() -> int:
    """Return the number of cores that this process has, counted when ``n_jobs`` is read."""
    mask = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    found = [max(1, mask or 1), _quota(), _variable(HARD_LIMIT)]
    return min(count for count in found if count is not None)


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads; None and -1 mean all cores, -2 all but one, and so on."""
    if isinstance(n_jobs, bool):
        raise ParameterError(f"n_jobs is {n_jobs}; it must be a whole number, or None")
    count = -1 if n_jobs is None else n_jobs
    if count == 0:
        raise ParameterError("n_jobs is 0; give a positive number of threads, or -1 for all cores")
    usable_cores.cache_clear()
    return count if count > 0 else max(1, cores() + 1 + count)


@lru_cache(maxsize=1)
def _quota() -> int | None:
    return cgroup_quota(Path("/"))


def cgroup_quota(root: Path) -> int | None:
    """Return the smallest quota of the control groups around this process, in whole cores.

    Parts of a core count as one. None: there is no quota, or no file to say so. ``root`` is where
    the file system begins; tests have one of their own.
    """
    found = []
    for kind, path in _groups(root / "proc/self/cgroup"):
        for folder in V2_FOLDERS if kind == 2 else V1_FOLDERS:
            mounted = root / "sys/fs/cgroup" / folder
            for group in (path, *path.parents):  # inside a container only the last may be there
                found.append(_quota_of(mounted / group.relative_to("/"), kind))
    return min((math.ceil(quota) for quota in found if quota), default=None)


def _groups(listing: Path) -> Iterator[tuple[int, PurePosixPath]]:
    """Return the version and the path of every control group that may limit our cores."""
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
        elif "cpu" in controllers.split(","):
            yield 1, place


def _quota_of(folder: Path, version: int) -> float | None:
    """Read a quota, in cores; None if there is none."""
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
    """Read a number of threads from the environment; OpenMP's may be a list, by level."""
    first = os.environ.get(name, "").partition(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else None


def _dask_threads() -> int | None:
    """The threads of the Dask worker in whose task we are, if we are in one."""
    worker: Any = sys.modules.get("distributed.worker")
    if worker is None:
        return None
    try:
        return max(1, int(worker.get_worker().state.nthreads))
    except (AttributeError, TypeError, ValueError):  # ValueError: this is not a task of a worker
        return None


# Map pure tasks over blocks, and give the results in the order of the blocks.
#
# A task is a function of its block alone, besides what was fixed when the task was made: a vote, a
# key. It changes nothing, so it may be done by any thread, in any order, and done again. Whoever
# uses the results sees them in the order of blocks, never of arrival: nothing depends on the number
# of threads.

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
