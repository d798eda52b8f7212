"""Say that kernels are being compiled, once a process, so that a first fit does not look stuck.

This module does not load the compiler: the command line says it before anything is loaded.
"""

from __future__ import annotations

import multiprocessing
import sys

from pacboost.numerics.interactive import person_waits

NOTE = "Note: compiling once for this machine, which takes some seconds; later runs start at once."

_said = False


def say_once() -> None:
    """Write the note to stderr, unless it was written before."""
    global _said  # noqa: PLW0603 - once a process
    if not _said:
        _said = True
        print(NOTE, file=sys.stderr, flush=True)  # noqa: T201


def say_to_a_person() -> None:
    """Write the note if a person waits for this process; workers of a pool stay silent."""
    if not _said and multiprocessing.parent_process() is None and person_waits():
        say_once()
