"""Cases in child processes: whatever becomes of one, it is reported, and the others are tried."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

from tests.faults import forked
from tests.faults.forked import FAILED, Case

CASES = [(kind, k) for k in range(3) for kind in ("well", "error", "crash", "large", "endless")]


def attempt(case: Case) -> str:
    kind, number = case
    if kind == "error":
        raise ZeroDivisionError(f"in case {number}")
    if kind == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "large":
        np.empty(2 * forked.MEMORY, dtype=np.uint8)
    if kind == "endless" and number == 1:
        time.sleep(600)
    return "done"


def test_every_failure_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "SECONDS", 5)
    monkeypatch.setattr(forked, "CASES_AT_ONCE", 5)
    found = {
        case: (what, how) for case, what, how in forked.forked(CASES, attempt, 2, float("inf"))
    }
    assert sorted(found) == sorted(CASES)
    failed = {case: how for case, (what, how) in found.items() if what == FAILED}
    wrong = [case for case in CASES if case[0] in ("error", "crash", "large")]
    assert sorted(failed) == sorted([*wrong, ("endless", 1)])
    assert "ZeroDivisionError: in case 2" in failed["error", 2]
    assert "ended with -11" in failed["crash", 0]
    assert "MemoryError" in failed["large", 1]


def test_none_is_begun_when_time_is_over() -> None:
    assert not list(forked.forked(CASES, attempt, 2, 0.0))
