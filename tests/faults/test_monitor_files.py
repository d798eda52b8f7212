"""Files of monitors with other numbers and right checksums: refused, or all that follows works."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from pacboost import Monitor
from pacboost.errors import FileError, ParameterError
from pacboost.monitoring import monitor
from tests.faults.mutations import USED, monitor_state, tried, use_state


@pytest.fixture
def state() -> dict[str, Any]:
    return copy.deepcopy(monitor_state())


def loaded(folder: Path, count: int, seed: int) -> int:
    """Try so many changed files; count those that were loaded."""
    return sum(tried("monitor", number, seed, folder) == USED for number in range(count))


def test_a_state_as_it_was_written_works(state: dict[str, Any], tmp_path: Path) -> None:
    assert use_state(state, tmp_path) == USED


def test_states_with_other_numbers_are_refused_or_work(tmp_path: Path) -> None:
    assert loaded(tmp_path, 150, seed=1) < 150


@pytest.mark.slow
def test_thousands_of_states(tmp_path: Path) -> None:
    assert loaded(tmp_path, 10_000, seed=2) < 10_000


@pytest.mark.parametrize("column", [3, -1, 2**40])
def test_a_rule_about_a_column_that_does_not_exist_is_refused(
    column: int, state: dict[str, Any], tmp_path: Path
) -> None:
    state["rows"]["rules"][0][2] = column
    monitor.write_state(tmp_path / "rule.json", state)
    with pytest.raises(FileError, match="rule"):
        Monitor.load(tmp_path / "rule.json")


def test_a_checksum_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(FileError, match="not the file of a monitor"):
        Monitor.load(path)
    document = {"format": monitor.FORMAT, "version": 1, "sha256": "", "state": "\ud800"}
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(FileError, match="no monitor has written"):
        Monitor.load(path)


def test_a_run_length_that_is_no_float_is_refused(state: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="run_length is above"):
        Monitor(error=0.1, run_length=10**5000)
    monitor.write_state(tmp_path / "long.json", {**state, "run_length": 10**400})
    with pytest.raises(FileError, match="run_length is above"):
        Monitor.load(tmp_path / "long.json")
