"""The threads of teams, and how Python hands them work; board.py says how they wait.

Teams are kept and used again. Two fits at once have a team each.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from pacboost.kernels.cuda.twins import TWINS, runs_on_gpu
from pacboost.kernels.runtime import Wholes, board, jit
from pacboost.kernels.runtime.entry import Body, Member, entry_of, plain_values
from pacboost.kernels.runtime.threads import threads
from pacboost.parallel.cores import usable_cores as cores

MOST = 256
"""The largest team."""
ARGUMENTS = 256
"""The most arguments of a kernel."""
CELLS_WORTH_A_MEMBER = 4_096
"""A member passes over so many in some 10 µs, and is called in less."""
LEAST_USED = 1 / 3
"""The least share of their time that members compute or look whether they may go on. With less,
other programs have their cores: a member that waits gives way to them."""
JUDGED_AFTER, FEWER_FOR, AT_MOST = 0.05, 0.5, 8.0
"""Seconds of work that say so; how long there are fewer members then, at first and in the end."""


Steps = Sequence[tuple[Body, tuple[Any, ...]]]
"""Kernels and their arguments."""


class Team:
    """Threads that wait for work on one board; they are started when first needed."""

    def __init__(self) -> None:
        self.board = board.board_for(MOST)
        self._arguments = np.zeros(ARGUMENTS, dtype=np.int64)
        self._address = self._arguments.ctypes.data
        self._asleep = np.zeros(MOST, dtype=np.bool_)
        self._bells: list[threading.Semaphore] = [threading.Semaphore(0)]
        self._threads: list[threading.Thread] = []
        self._closed = False
        self._most, self._until, self._pause = MOST, 0.0, FEWER_FOR
        self._wall = self._used = 0.0

    def run(self, body: Body, size: int, *arguments: Any) -> None:
        """Have so many members run a kernel together; fewer where the machine is busy."""
        if self._most < size and time.perf_counter() > self._until:
            self._most = MOST
        size = min(size, self._most)
        entry, words = entry_of(body, (self.board, *arguments))
        entry.layout.pack_into(self._arguments.data, 0, *words)
        if size == 1:
            entry.call(0, 1, self._address)
            return
        began, used = time.perf_counter(), time.process_time()
        try:
            self._gather(size)
            board.lead(self.board, size, entry.address, self._address)
        finally:
            self.board[board.CALLED] = 0  # also where the kernel was never reached
        self._judge(size, time.perf_counter() - began, time.process_time() - used)

    def _judge(self, size: int, wall: float, used: float) -> None:
        """Halve the team for a while if its members have waited for each other most of the time.

        A member that has no core keeps all others waiting, at every barrier. What kernels find does
        not depend on the number of members.
        """
        self._wall += wall
        self._used += used / size
        if self._wall < JUDGED_AFTER:
            return
        if self._used < LEAST_USED * self._wall:
            self._most, self._until = size // 2, time.perf_counter() + self._pause
            self._pause = min(2 * self._pause, AT_MOST)
        elif self._most == MOST:
            self._pause = FEWER_FOR
        self._wall = self._used = 0.0

    def run_in_turn(self, steps: Steps, size: int, goes_on: Wholes) -> None:
        """Have so many members run some kernels in turn, again and again: board.take_turns."""
        written = np.zeros((len(steps), ARGUMENTS), dtype=np.int64)
        places = np.zeros((len(steps), 2), dtype=np.int64)
        for place, own, (body, arguments) in zip(places, written, steps, strict=True):
            entry, words = entry_of(body, (self.board, *arguments))
            entry.layout.pack_into(own.data, 0, *words)
            place[:] = entry.address, own.ctypes.data
        self.run(board.take_turns, size, places, goes_on)

    def run_stoppably(self, body: Body, size: int, *arguments: Any) -> None:
        """Do what ``run`` does on another thread, so that this one can be interrupted.

        Python hands signals to its main thread only, and not while that is inside a kernel.
        """
        if threading.current_thread() is not threading.main_thread():
            self.run(body, size, *arguments)
            return
        with ThreadPoolExecutor(1) as leader:
            running = leader.submit(self.run, body, size, *arguments)
            try:
                while not wait([running], timeout=0.1).done:
                    pass  # a signal may have been taken by another thread: look after it
                running.result()
            except BaseException:
                self.board[board.STOP] = 1
                wait([running])  # nobody may write into arrays that we have left
                raise
            finally:
                self.board[board.STOP] = 0

    def _gather(self, size: int) -> None:
        while len(self._bells) < size:
            call = len(self._bells), threading.Semaphore(0)
            thread = threading.Thread(target=self._work, args=call, name="pacboost", daemon=True)
            thread.start()
            self._bells.append(call[1])  # only now: Ctrl-C must not leave a member without a thread
            self._threads.append(thread)
        if board.rouse(self.board, size, self._asleep):
            for member in range(1, size):
                if self._asleep[member]:
                    self._bells[member].release()

    def _work(self, member: int, bell: threading.Semaphore) -> None:
        while not self._closed:
            bell.acquire()
            board.serve(self.board, member)  # comes back at once where the team is closed

    def close(self) -> None:
        """End all threads: memory that they look at must not vanish under them."""
        self._closed = True
        self.board[board.JOB] = board.CLOSED
        for bell in self._bells:
            bell.release()
        for thread in self._threads:
            thread.join()


class PlainTeam(Team):
    """A team without entries: each member is a thread of Python that calls the kernel.

    Its threads are started for every kernel. See numba_public.py.
    """

    def run(self, body: Body, size: int, *arguments: Any) -> None:
        """Have so many members run a kernel together."""
        values = plain_values(arguments)

        def call(member: int) -> None:
            body(Member(member, size, self.board), *values)

        if size == 1:
            call(0)
            return
        with ThreadPoolExecutor(size) as members:
            for running in [members.submit(call, member) for member in range(size)]:
                running.result()


_idle: list[Team] = []
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_idle.clear)  # threads do not survive a fork


@atexit.register
def _close() -> None:
    while _idle:
        _idle.pop().close()


def largest_team() -> int:
    """Return the number of threads in use, or that of cores if it is less.

    Members that share a core would wait for each other at every barrier.
    """
    return max(1, min(threads(), cores(), MOST))


def team_for(cells: int) -> int:
    """Return the size of a team for a pass over so many cells: rows times outputs."""
    return max(1, min(largest_team(), cells // CELLS_WORTH_A_MEMBER))


def together(body: Body, *arguments: Any, at_most: int = MOST, stoppable: bool = False) -> None:
    """Have a kernel run by a team of the threads in use, but no more than ``at_most``.

    A ``stoppable`` kernel may take long, and ends early where it finds STOP on the board: so that
    Ctrl-C need not wait for it.

    Where arrays are in a GPU's memory, the kernel's twin is run there.
    """
    if runs_on_gpu(arguments):
        TWINS[body.__name__](*arguments)
        return
    size = 1 if at_most <= 1 else min(largest_team(), at_most)
    team = _a_team()
    try:
        (team.run_stoppably if stoppable else team.run)(body, size, *arguments)
    finally:
        _idle.append(team)


def in_turn(steps: Steps, at_most: int, goes_on: Wholes) -> None:
    """Have a team run kernels one after the other, again and again, while ``goes_on`` is not 0.

    What they exchange is in arrays: Python has no say until they have ended.
    """
    team = _a_team()
    try:
        team.run_in_turn(steps, at_most, goes_on)
    finally:
        _idle.append(team)


def _a_team() -> Team:
    try:
        return _idle.pop()
    except IndexError:  # to ask first does not help: another fit may take the last one meanwhile
        return Team() if jit.HAS_ENTRIES else PlainTeam()
