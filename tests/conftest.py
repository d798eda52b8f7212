"""Print, after the tests, how often each bound failed beside how often it may."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from pacboost.kernels import compile_note
from tests.bounds.coverage import COUNTS, HEADER


@pytest.fixture(autouse=True, scope="session")
def hear_interrupts() -> Iterator[None]:
    """Let Ctrl-C raise, also where the tests were started with it ignored, as by ``nohup … &``.

    Python then installs no handler, and neither do the processes that tests start, so tests that
    interrupt themselves would wait for ever.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True, scope="session")
def no_note_about_compiling() -> None:
    """Keep the note out of the output of ``pytest -s``."""
    compile_note._said = True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not COUNTS:
        return
    terminalreporter.section("coverage of bounds on worlds with known risk")
    terminalreporter.write_line(HEADER)
    for count in sorted(COUNTS, key=lambda count: (count.twin, count.name)):
        terminalreporter.write_line(str(count))
