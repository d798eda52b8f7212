"""A second process that helps to compile for the first fit of an installation.

Compiling takes some ten seconds of one core, once; what is compiled goes to a cache on disk.
The second process compiles what grows a tree, or what finds a stump, which is half of all, while
this one compiles the rest: see training/run/rehearsal.py. This module does not load the compiler.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import time
from pathlib import Path

from pacboost.kernels.runtime import jit
from pacboost.kernels.runtime.threads import threads
from pacboost.numerics.interactive import person_waits

TREES, STUMPS = "trees", "stumps"
FIRST = {TREES: "grow_team.grow_tree-*.nbc", STUMPS: "stumps.largest_edges-*.nbc"}
"""A file that the cache holds once such rules have been boosted."""

_helper: subprocess.Popen[bytes] | None = None


def start_for_a_person(rules: str) -> None:
    """Start the second process if this is the first run, and a person waits who allows threads.

    Elsewhere, ``sys.executable`` need not be Python, and processes may be counted.
    """
    if threads() > 1 and person_waits():
        start(rules)


def start(rules: str) -> None:
    """Start the second process if this is the first run with such rules, and say so."""
    global _helper  # noqa: PLW0603 - once a process
    if _helper is not None or jit.not_kept or not _first_run(rules):
        return
    jit.say_once()
    _helper = subprocess.Popen(
        [sys.executable, "-m", "pacboost.training.run.rehearsal", rules],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    atexit.register(stop)


def at_work() -> bool:
    """Check whether the second process is compiling."""
    return _helper is not None and _helper.poll() is None


def wait_for(rules: str) -> None:
    """Wait until the second process has compiled what finds such rules.

    What it compiles after that is needed for predictions only.
    """
    while at_work() and _first_run(rules):
        time.sleep(0.1)


def stop() -> None:
    """End the second process; what it has finished stays in the cache."""
    if _helper is not None and at_work():
        _helper.terminate()
        _helper.wait()


def _first_run(rules: str) -> bool:
    """Check whether nothing is compiled yet, where it can be kept; without loading the compiler."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    home = Path(__file__).parents[1]
    folder = Path(named) if named else home / "__pycache__"
    kept = os.access(home, os.W_OK) or named
    return bool(kept and sys.executable) and not any(folder.rglob(FIRST[rules]))
