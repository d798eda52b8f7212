"""Whether a person is looking, at a notebook or at a terminal; and when Ctrl-C has to wait."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def in_notebook() -> bool:
    """Check whether this runs in a notebook's kernel; IPython in a terminal is none.

    >>> in_notebook()
    False
    """
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def person_waits() -> bool:
    """Check whether messages on stderr reach a person: in a notebook, or at a terminal."""
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def person_waits_here() -> bool:
    """Check whether a person waits for this thread: workers of a pool stay silent."""
    alone = multiprocessing.current_process().name == "MainProcess"
    return alone and threading.current_thread() is threading.main_thread() and person_waits()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until the block is done: numba cannot be used after half an import.

    The same is true of half of a compilation.

    >>> with uninterrupted():
    ...     import numba
    """
    usual = signal.getsignal(signal.SIGINT)
    if usual is None or threading.current_thread() is not threading.main_thread():
        yield  # Ctrl-C arrives elsewhere
        return
    pressed: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if pressed:
            signal.raise_signal(signal.SIGINT)
