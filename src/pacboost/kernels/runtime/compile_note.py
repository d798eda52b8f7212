"""A note that kernels are being compiled, once per process: a first fit should not look stuck.

There is no note for kernels that are loaded from the cache.
"""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path

from pacboost.numerics.interactive import person_waits

NOTE = "Note: compiling once for this machine, which takes some seconds; later runs start at once."
AGAIN = (
    "Note: compiling, which takes a minute, in this and in every process: {}. Set NUMBA_CACHE_DIR "
    "to a folder of your own."
)
NO_FOLDER = "neither the folder of the package nor the user's can be written"
WRITTEN_BY_OTHERS = "other users can write to {}, and what they write would run"
NOT_LOADED = f"Note: compiling again: {WRITTEN_BY_OTHERS}."

not_kept: str | None = None
"""Why every process compiles anew; None where compiled code is kept."""

_said: set[str] = set()


def say_to_a_person() -> None:
    """Write the note to stderr if a person waits for this process; workers of a pool are silent.

    That nothing can be kept is written in any case: it costs each process that is started.
    """
    if not_kept or person_waits():
        _say_once("compiling", AGAIN.format(not_kept) if not_kept else NOTE)


def say_not_loaded(file: Path) -> None:
    """Write to stderr that a file of compiled code was refused, once for all such files."""
    _say_once("not loaded", NOT_LOADED.format(file))


def _say_once(subject: str, note: str) -> None:
    if subject not in _said and multiprocessing.parent_process() is None:
        _said.add(subject)
        print(note, file=sys.stderr, flush=True)  # noqa: T201
