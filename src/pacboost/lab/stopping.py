"""The end of an answer that nobody waits for.

Loops of the lab call ``check``, which raises in a thread whose request has ended.
"""

from __future__ import annotations

from contextvars import ContextVar
from threading import Event

STOP: ContextVar[Event | None] = ContextVar("STOP", default=None)
"""Set when nobody waits for the answer of this thread; None outside a request."""


class Ended(BaseException):
    """Nobody waits for the answer."""


def check() -> None:
    """Raise Ended if nobody waits for the answer of this thread."""
    stop = STOP.get()
    if stop is not None and stop.is_set():
        raise Ended
