"""Print, after the tests, how often each bound failed beside how often it may."""

from __future__ import annotations

import pytest

from tests.bounds.coverage import COUNTS, HEADER


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not COUNTS:
        return
    terminalreporter.section("coverage of bounds on worlds with known risk")
    terminalreporter.write_line(HEADER)
    for count in sorted(COUNTS, key=lambda count: (count.twin, count.name)):
        terminalreporter.write_line(str(count))
