"""Cases tried in child processes, so that a crash or an endless loop costs one case only.

The parent has done once what all cases share: modules are imported, kernels are compiled, files are
read. A child is forked for some cases, says what became of each, and ends. If it dies, the case in
which it died is a failure, and the others go on in another child.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import resource
import sys
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

SECONDS = 60
"""How long a case may take."""
MEMORY = 3_000_000_000
"""How many bytes a child may allocate; the largest cases need less than a tenth of it."""
CASES_AT_ONCE = 100

Case = tuple[str, int]
Found = tuple[Case, str, str]
"""A case, what became of it, and how it failed: nothing if it did not."""
FAILED = "failed"


def forked(
    cases: Sequence[Case], attempt: Callable[[Case], str], processes: int, seconds: float
) -> Iterator[Found]:
    """Try cases on some processes, and begin none after so many seconds."""
    gc.collect()
    gc.freeze()  # children neither look at what the parent made, nor copy it
    end = time.monotonic() + seconds
    parts = deque(list(cases[k : k + CASES_AT_ONCE]) for k in range(0, len(cases), CASES_AT_ONCE))
    running: dict[Connection, _Child] = {}
    try:
        while running or (parts and time.monotonic() < end):
            while parts and len(running) < processes and time.monotonic() < end:
                child = _Child(parts.popleft(), attempt, end)
                running[child.heard] = child
            for ready in wait(list(running), timeout=1.0):
                assert isinstance(ready, Connection)
                found, over = running[ready].hear()
                if found is not None:
                    yield found
                if over:
                    left = running.pop(ready).finish()
                    if left:
                        parts.appendleft(left)
    finally:
        for child in running.values():
            child.kill()
        gc.unfreeze()


class _Child:
    """A process that tries some cases, and says before and after each that it does."""

    def __init__(self, cases: list[Case], attempt: Callable[[Case], str], end: float) -> None:
        context = get_context("fork")
        self.heard, said = context.Pipe(duplex=False)
        self.left = cases
        self.process = context.Process(target=_try_all, args=(cases, attempt, said, end))
        with warnings.catch_warnings():  # from Python 3.12: other threads are not forked
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        said.close()

    def hear(self) -> tuple[Found | None, bool]:
        """Return what became of a case, and whether nothing more will be heard."""
        try:
            message = self.heard.recv()
        except EOFError:
            self.process.join()
            return self._death(), True
        if message is None:
            self.left = []
            return None, True
        case = self.left.pop(0)
        return (case, *message), False

    def _death(self) -> Found:
        case, code = self.left.pop(0), self.process.exitcode
        return case, FAILED, f"the process ended with {code}; its stack is in the error output\n"

    def finish(self) -> list[Case]:
        """Wait for the end of the process; give the cases that it has not tried."""
        self.process.join()
        self.heard.close()
        return self.left

    def kill(self) -> None:
        self.process.kill()
        self.finish()


def _try_all(
    cases: list[Case], attempt: Callable[[Case], str], said: Connection, end: float
) -> None:
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, hard))
    faulthandler.enable()
    for case in cases:
        if time.monotonic() > end:
            break
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        said.send(_outcome(case, attempt))
    faulthandler.cancel_dump_traceback_later()
    said.send(None)
    said.close()
    _leave()


def _outcome(case: Case, attempt: Callable[[Case], str]) -> tuple[str, str]:
    try:
        return attempt(case), ""
    except BaseException:  # whatever it is, it is not one of ours
        return FAILED, traceback.format_exc(limit=-6)


def _leave() -> Any:
    """End at once: what the parent has registered to be done at its end is not a child's affair."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)
