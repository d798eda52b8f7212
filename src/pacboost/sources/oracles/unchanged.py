"""Files that have to stay as they are while rows are drawn from them, again and again.

Rows are set apart by their place. If another program writes the file meanwhile, a row that was
learned from may come to a place that certifies, so the fit ends with an error that names the file.
"""

from __future__ import annotations

from collections.abc import Iterable

from pacboost.errors import FileError
from pacboost.sources.oracles.files import File

Stamp = tuple[int, int]
"""Size, and when it was written last."""


def stamps_of(files: Iterable[File]) -> dict[File, Stamp]:
    """Remember how files are now."""
    return {path: _stamp(path) for path in files}


def check_unchanged(stamps: dict[File, Stamp], path: File) -> None:
    """Raise if a file is no longer as it was."""
    if _stamp(path) != stamps[path]:
        raise FileError(
            f"{path}: was changed while it was being read; fit again when nothing writes to it"
        )


def _stamp(path: File) -> Stamp:
    try:
        found = path.stat()
    except OSError as problem:
        raise FileError(f"{path}: cannot be read ({problem.strerror})") from problem
    return found.st_size, getattr(found, "st_mtime_ns", 0)  # remote files may not know
