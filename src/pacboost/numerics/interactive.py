"""Whether a person is looking: at a notebook, or at a terminal."""

from __future__ import annotations

import multiprocessing
import sys
import threading
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
