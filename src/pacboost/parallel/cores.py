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
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from pacboost.errors import ParameterError
from pacboost.numerics.checks import integer

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


def thread_count(n_jobs: Any) -> int:
    """Return the number of threads; None and -1 mean all cores, -2 all but one, and so on."""
    count = -1 if n_jobs is None else integer("n_jobs", n_jobs)
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
