"""Whether a person is looking: at a notebook, or at a terminal."""

from __future__ import annotations

import sys
from typing import Any


def in_notebook() -> bool:
    """Tell whether this runs in a notebook's kernel; IPython in a terminal is none.

    >>> in_notebook()
    False
    """
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def person_waits() -> bool:
    """Tell whether messages on stderr reach a person: in a notebook, or at a terminal."""
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
