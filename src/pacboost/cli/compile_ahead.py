"""The first fit of an installation: a second process helps to compile, and a note says so."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pacboost
from pacboost.kernels.compile_note import say_once

FIRST = "best_split.scan-*.nbi"
"""A file that the cache holds once trees have been boosted."""


@contextmanager
def compiling_ahead() -> Iterator[subprocess.Popen[bytes] | None]:
    """On the first run, have a second process compile what this one will need last."""
    if not _first_run():
        yield None
        return
    say_once()
    helper = subprocess.Popen(
        [sys.executable, "-m", "pacboost.kernels.warming"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield helper
    finally:
        helper.terminate()
        helper.wait()


def _first_run() -> bool:
    """Tell whether nothing is compiled yet, where it can be kept; without loading the compiler."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    home = Path(pacboost.__file__).parent / "kernels"
    folder = Path(named) if named else home / "__pycache__"
    kept = os.access(home, os.W_OK) or named
    return bool(kept and sys.executable) and not any(folder.rglob(FIRST))
