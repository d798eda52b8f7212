"""Libraries that not everybody needs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from pacboost.errors import FileError, PacboostError


def need(module: str, extra: str = "") -> Any:
    """Import a library when it is needed; ``extra`` names how to get one that may be missing.

    >>> need("math").pi
    3.141592653589793
    """
    try:
        return import_module(module)
    except ImportError as problem:
        library = module.partition(".")[0]
        raise PacboostError(
            f"reading this source needs {library}, which is not installed: pip install "
            + (f"'pacboost[{extra}]'" if extra else library)
        ) from problem


# Lazy frames of polars, which hold a query in the place of rows.

MOST_PARTS = 16
"""So many parts of a list are looked at: pairs of rows and labels, not labels."""


def collected(data: Any) -> Any:
    """Run the query of a lazy frame; give anything else back as it is.

    Pairs of rows and labels, and short lists of them, are looked into. A query is run once in each
    call: rows may come in another order when it is run again.

    >>> collected([1, 2, 3])
    [1, 2, 3]
    """
    if isinstance(data, tuple | list) and len(data) <= MOST_PARTS:
        parts = [collected(part) for part in data]
        same = all(part is given for part, given in zip(parts, data, strict=True))
        return data if same else type(data)(parts)
    kind = type(data)
    if kind.__name__ == "LazyFrame" and kind.__module__.startswith("polars."):
        return data.collect()
    return data


# Write a file whole or not at all: beside its place first, then moved there.


def place_of(path: Path) -> Path:
    """Follow links to where a file is or will be; reject folders, devices and pipes."""
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        what = "a folder" if place.is_dir() else "a device or a pipe"
        raise FileError(f"{path}: is {what}; name a file")
    return place


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Return a path to write to; at the end, the file there replaces ``path``, unless in error.

    A link stays a link, and what it leads to is replaced. Devices and pipes are refused: they would
    be replaced by a file.
    """
    place = place_of(path)
    part = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(place)
    except OSError as problem:
        raise FileError(f"{path}: cannot be written ({problem.strerror or problem})") from problem
    finally:
        with suppress(OSError):
            part.unlink()


# Names that occur twice, or are spelt almost like another one.


def named_twice(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, sorted.

    >>> named_twice(["b", "a", "c", "a", "b"])
    ['a', 'b']
    """
    return sorted(name for name, count in Counter(names).items() if count > 1)


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """Return most similar of the known names, if one is similar; small or capital letters agree.

    >>> close_names("Income", ["age", "income"]), close_names("Y", ["x", "y"])
    (['income'], ['y'])
    """
    by_letters = {other.lower(): other for other in known}
    return [by_letters[found] for found in get_close_matches(name.lower(), by_letters, n=1)]
