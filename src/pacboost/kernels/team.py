"""The threads of teams, and how Python hands them work: kernels/board.py says how they wait.

Teams are kept and used again. Two fits at once have a team each.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from pacboost.kernels import board
from pacboost.kernels.threads import threads

MOST = 256
"""The largest team."""

Launcher = Callable[..., object]
"""A kernel that takes a board, the size of a team and arguments, and calls ``board.lead``."""


class Team:
    """Threads that wait for work on one board; they are started when first needed."""

    def __init__(self) -> None:
        self.board = board.board_for(MOST)
        self._asleep = np.zeros(MOST, dtype=np.bool_)
        self._bells: list[threading.Semaphore] = [threading.Semaphore(0)]
        self._threads: list[threading.Thread] = []
        self._closed = False

    def run(self, launcher: Launcher, size: int, *arguments: Any) -> None:
        """Have so many members run a kernel together."""
        try:
            if size > 1:
                self._gather(size)
            launcher(self.board, size, *arguments)
        finally:
            self.board[board.CALLED] = 0  # also where the kernel was never reached

    def _gather(self, size: int) -> None:
        while len(self._bells) < size:
            member = len(self._bells)
            self._bells.append(threading.Semaphore(0))
            self._threads.append(
                threading.Thread(target=self._work, args=(member,), name="pacboost", daemon=True)
            )
            self._threads[-1].start()
        if board.rouse(self.board, size, self._asleep):
            for member in range(1, size):
                if self._asleep[member]:
                    self._bells[member].release()

    def _work(self, member: int) -> None:
        while True:
            self._bells[member].acquire()
            if self._closed:
                return
            board.serve(self.board, member)
            if self._closed:
                return

    def close(self) -> None:
        """End all threads: memory that they look at must not vanish under them."""
        self._closed = True
        self.board[board.JOB] = board.CLOSED
        for bell in self._bells:
            bell.release()
        for thread in self._threads:
            thread.join()


_idle: list[Team] = []
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_idle.clear)  # threads do not survive a fork


@atexit.register
def _close() -> None:
    while _idle:
        _idle.pop().close()


def together(launcher: Launcher, *arguments: Any, at_most: int = MOST) -> None:
    """Have a kernel run by a team of the threads in use, but no more than ``at_most``."""
    team = _idle.pop() if _idle else Team()
    try:
        team.run(launcher, max(1, min(threads(), at_most, MOST)), *arguments)
    finally:
        _idle.append(team)
