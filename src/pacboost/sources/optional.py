"""Optional libraries, lazy frames, files written atomically, and similar names."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from glob import escape
from importlib import import_module
from pathlib import Path
from platform import node
from secrets import token_hex
from typing import Any
from zlib import crc32

from pacboost.errors import FileError, PacboostError

EXTRAS = {
    "pyarrow": "files", "pandas": "frames", "duckdb": "sql",
    "dask": "dask", "distributed": "dask", "fsspec": "dask", "cryptography": "dask",
}  # fmt: skip
"""Optional libraries, and the extra of pacboost that installs each."""


def need(module: str) -> Any:
    """Import an optional library; the error names the extra of pacboost that installs it."""
    try:
        return import_module(module)
    except ImportError as problem:
        library = module.partition(".")[0]
        raise PacboostError(
            f"this needs {library}, which is not installed: pip install "
            f"'pacboost[{EXTRAS[library]}]'"
        ) from problem


MAX_PARTS = 16
"""Longer lists are data, not pairs of rows and labels."""


def collected(data: Any) -> Any:
    """Run the query of a polars LazyFrame; return anything else unchanged.

    Pairs of rows and labels, and short lists of them, are searched for lazy frames. Each query is
    run once in a call, because a second run may return the rows in another order.

    >>> collected([1, 2, 3])
    [1, 2, 3]
    """
    if isinstance(data, tuple | list) and len(data) <= MAX_PARTS:
        parts = [collected(part) for part in data]
        same = all(part is original for part, original in zip(parts, data, strict=True))
        return data if same else type(data)(parts)
    kind = type(data)
    if kind.__name__ == "LazyFrame" and kind.__module__.startswith("polars."):
        return data.collect()
    return data


def part_of(place: Path) -> Path:
    """Create the temporary file that will replace a file, with the permissions of that file.

    Its name is unique, because threads and processes may save to one path at the same time.
    """
    remove_leftovers(place)
    part = place.with_name(f"{_prefix(place)}{os.getpid()}-{token_hex(4)}.part")
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    with suppress(FileNotFoundError):
        part.chmod(place.stat().st_mode & 0o777)
    return part


def remove_leftovers(place: Path) -> None:
    """Remove the temporary files of a path that killed processes of this machine left behind."""
    begin = _prefix(place)
    for leftover in place.parent.glob(f"{escape(begin)}*.part"):
        if not _lives(leftover.name[len(begin) : -len(".part")].partition("-")[0]):
            with suppress(OSError):
                leftover.unlink()


def _prefix(place: Path) -> str:
    """Return how temporary names begin: with the machine, because folders may be shared."""
    return f".{place.name}.{crc32(node().encode()):08x}."


def _lives(process: str) -> bool:
    if os.name == "nt":  # no signal 0 there, and open files cannot be removed
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError, OverflowError):  # of another user, or another program's file
        return True
    return True


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; without an error, that file then replaces ``path``.

    A link stays a link: its target is replaced. Devices and pipes are refused, because a file would
    replace them.
    """
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        what = "a folder" if place.is_dir() else "a device or a pipe"
        raise FileError(f"{path}: is {what}; name a file")
    try:
        part = part_of(place)
        try:
            yield part
            part.replace(place)
        finally:
            with suppress(OSError):
                part.unlink()
    except OSError as problem:
        raise FileError(f"{path}: cannot be written ({problem.strerror or problem})") from problem


def named_twice(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, sorted."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def close_names(name: str, names: Iterable[str]) -> list[str]:
    """Return a list with the most similar name, ignoring case, or an empty list.

    >>> close_names("Income", ["age", "income"]), close_names("Y", ["x", "y"])
    (['income'], ['y'])
    """
    by_letters = {other.lower(): other for other in names}
    return [by_letters[match] for match in get_close_matches(name.lower(), by_letters, n=1)]


def is_collection(data: object) -> bool:
    """Check whether this is a Dask data frame, series or array."""
    return type(data).__module__.startswith("dask.") and hasattr(data, "__dask_graph__")
