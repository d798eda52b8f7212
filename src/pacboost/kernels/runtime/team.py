"""The threads of teams, and how Python gives them work; board.py describes how they wait.

Teams are reused. Two fits at the same time have a team each.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from pacboost.kernels.runtime import board, jit
from pacboost.kernels.runtime.entry import Body, Member, entry_of
from pacboost.kernels.runtime.threads import threads
from pacboost.parallel.cores import usable_cores as cores

MAX_MEMBERS = 256
GPU_ARRAY = "__cuda_array_interface__"
MAX_ARGUMENTS = 256
MIN_CELLS_PER_MEMBER = 4_096
"""A member takes about 10 µs for these, and less to be called."""
MIN_BUSY_SHARE = 1 / 3
"""Minimum share of their time that members compute or spin. If it is less, other programs use their
cores, because a member that waits yields its core."""
SECONDS_TO_JUDGE, MIN_SECONDS_HALVED, MAX_SECONDS_HALVED = 0.02, 0.5, 8.0
"""Seconds before a team is judged; between tests, or halved at first; and halved at most."""
MEETINGS = 8
"""Barriers of a test. They take microseconds on idle cores. If other programs use the cores, each
takes as long as the others' turns, about 10 ms, and those of a single tree would take a second."""


class Team:
    """Threads that wait for work on one board; they are started when first needed."""

    def __init__(self) -> None:
        self.board = board.board_for(MAX_MEMBERS)
        self._arguments = np.zeros(MAX_ARGUMENTS, dtype=np.int64)
        self._address = self._arguments.ctypes.data
        self._asleep = np.zeros(MAX_MEMBERS, dtype=np.bool_)
        self._bells: list[threading.Semaphore] = [threading.Semaphore(0)]
        self._threads: list[threading.Thread] = []
        self._closed = False
        self._max_size, self._until, self._pause = MAX_MEMBERS, 0.0, MIN_SECONDS_HALVED
        self._wall = self._used = 0.0

    def run(self, body: Body, size: int, *arguments: Any) -> None:
        """Run a kernel with ``size`` members, or fewer if the machine is busy."""
        if size > 1 and time.perf_counter() > self._until:
            self._test(size)
        self._call(body, min(size, self._max_size), *arguments)

    def _test(self, size: int) -> None:
        """Judge a team by barriers alone, because its next kernel may have thousands of them."""
        self._max_size, self._until = MAX_MEMBERS, time.perf_counter() + MIN_SECONDS_HALVED
        self._wall = self._used = 0.0
        self._call(board.meet_repeatedly, size, MEETINGS)

    def _call(self, body: Body, size: int, *arguments: Any) -> None:
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
            self.board[board.CALLED] = 0  # even if the kernel was never entered
        self._judge(size, time.perf_counter() - began, time.process_time() - used)

    def _judge(self, size: int, wall: float, used: float) -> None:
        """Halve the team for a while if its members have mostly waited for each other.

        A member without a core makes all others wait at every barrier. The results of kernels do
        not depend on the number of members.
        """
        self._wall += wall
        self._used += used / size
        if self._wall < SECONDS_TO_JUDGE:
            return
        if self._used < MIN_BUSY_SHARE * self._wall:
            self._max_size, self._until = size // 2, time.perf_counter() + self._pause
            self._pause = min(2 * self._pause, MAX_SECONDS_HALVED)
        elif self._max_size == MAX_MEMBERS:
            self._pause = MIN_SECONDS_HALVED
        self._wall = self._used = 0.0

    def run_stoppably(self, body: Body, size: int, *arguments: Any) -> None:
        """Call ``run`` on another thread, so that this one can be interrupted.

        Python handles signals on its main thread only, and not while that is inside a kernel.
        """
        if threading.current_thread() is not threading.main_thread():
            self.run(body, size, *arguments)
            return
        with ThreadPoolExecutor(1) as leader:
            running = leader.submit(self.run, body, size, *arguments)
            try:
                while not wait([running], timeout=0.1).done:
                    pass  # another thread may have received a signal: check regularly
                running.result()
            except BaseException:
                self.board[board.STOP] = 1
                wait([running])  # it writes into arrays that may be freed afterwards
                raise
            finally:
                self.board[board.STOP] = 0

    def _gather(self, size: int) -> None:
        while len(self._bells) < size:
            call = len(self._bells), threading.Semaphore(0)
            thread = threading.Thread(target=self._work, args=call, name="pacboost", daemon=True)
            thread.start()
            self._bells.append(call[1])  # after start: each bell has a thread even after Ctrl-C
            self._threads.append(thread)
        if board.rouse(self.board, size, self._asleep):
            for member in range(1, size):
                if self._asleep[member]:
                    self._bells[member].release()

    def _work(self, member: int, bell: threading.Semaphore) -> None:
        while not self._closed:
            bell.acquire()
            board.serve(self.board, member)  # returns at once if the team is closed

    def close(self) -> None:
        """End all threads, because they read memory that is about to be freed."""
        self._closed = True
        self.board[board.JOB] = board.CLOSED
        for bell in self._bells:
            bell.release()
        for thread in self._threads:
            thread.join()


class PlainTeam(Team):
    """A team without entries: threads are started for every call of a kernel (numba_public.py)."""

    def run(self, body: Body, size: int, *arguments: Any) -> None:
        """Run a kernel with ``size`` members."""

        def call(member: int) -> None:
            body(Member(member, size, self.board), *arguments)

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
    """Return the number of threads in use, or the number of cores if that is smaller.

    Members that share a core would wait for each other at every barrier.
    """
    return max(1, min(threads(), cores(), MAX_MEMBERS))


def team_for(cells: int) -> int:
    """Return the size of a team for a pass over some cells: rows times outputs."""
    return max(1, min(largest_team(), cells // MIN_CELLS_PER_MEMBER))


def together(
    body: Body, *arguments: Any, at_most: int = MAX_MEMBERS, stoppable: bool = False
) -> None:
    """Run a kernel with a team of the threads in use, at most ``at_most``.

    A ``stoppable`` kernel may take long; on Ctrl-C it ends early, because it checks STOP on the
    board. If arrays are in a GPU's memory, the kernel's twin runs there.
    """
    if "cupy" in sys.modules and any(hasattr(type(a), GPU_ARRAY) for a in arguments):
        from pacboost.kernels.cuda.twins import TWINS

        TWINS[body.__name__](*arguments)
        return
    size = 1 if at_most <= 1 else min(largest_team(), at_most)
    if type(body).__name__ == "nb_func":  # of the extension, which has teams of its own
        plain: Any = body
        plain(size, *arguments)
        return
    team = _a_team()
    try:
        (team.run_stoppably if stoppable else team.run)(body, size, *arguments)
    finally:
        _idle.append(team)


def _a_team() -> Team:
    try:
        return _idle.pop()
    except IndexError:  # a check before would not help: another fit may take the last one
        return Team() if jit.HAS_ENTRIES else PlainTeam()
