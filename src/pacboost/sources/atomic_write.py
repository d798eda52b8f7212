"""Write a file whole or not at all: beside its place first, then moved there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pacboost.errors import FileError


def place_of(path: Path) -> Path:
    """Follow links to where a file is or will be; reject folders, devices and pipes."""
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        what = "a folder" if place.is_dir() else "a device or a pipe"
        raise FileError(f"{path}: is {what}; name a file")
    return place


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Give a path to write to; at the end, the file there replaces ``path``, unless an error came.

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
