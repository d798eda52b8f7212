"""Checks for a notebook or a terminal, and a context that delays Ctrl-C."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def in_notebook() -> bool:
    """Check whether this runs in the kernel of a notebook; IPython in a terminal does not count.

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
    """Delay Ctrl-C until the block ends: NumPy cannot be imported again after it was interrupted.

    >>> with uninterrupted():
    ...     import numpy
    """
    previous_handler = signal.getsignal(signal.SIGINT)
    if previous_handler is None or threading.current_thread() is not threading.main_thread():
        yield  # Ctrl-C arrives elsewhere
        return
    signals: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: signals.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous_handler)
        if signals:
            signal.raise_signal(signal.SIGINT)
