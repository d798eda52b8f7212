"""The memory that this process may still take: of the machine, its control group and ``ulimit``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from pacboost.parallel.cores import control_groups

V2_FILES = "memory.max", "memory.current", "inactive_file"
V1_FILES = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"


def available_bytes(root: Path = Path("/")) -> int | None:
    """Return the bytes that are available, or None if the system does not say.

    ``root`` is the root of the file system; tests pass another one.
    """
    return min((max(0, room) for room in _rooms(root)), default=None)


def _rooms(root: Path) -> Iterator[int]:
    yield from (1024 * kilobytes for kilobytes in _entry(root / "proc/meminfo", "MemAvailable:"))
    for version, folder in control_groups(root, "memory"):
        limit, used, cached = V2_FILES if version == 2 else V1_FILES
        try:
            numbers = [int((folder / name).read_text(encoding="ascii")) for name in (limit, used)]
        except (OSError, ValueError):  # no such group, or "max", which is no limit
            continue
        # pages of files that nobody has read lately are given back when they are needed
        yield numbers[0] - numbers[1] + sum(_entry(folder / "memory.stat", cached))
    if sys.platform == "linux":
        resource = import_module("resource")
        limit_of_addresses, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit_of_addresses != resource.RLIM_INFINITY:
            used_kilobytes = sum(_entry(root / "proc/self/status", "VmSize:"))
            yield limit_of_addresses - 1024 * used_kilobytes


def _entry(file: Path, name: str) -> Iterator[int]:
    """Yield the number of an entry of a table of names and numbers, if there is one."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        first, *rest = line.split() or [""]
        if first == name and rest:
            yield int(rest[0])
