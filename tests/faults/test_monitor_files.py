"""Files of monitors with other numbers and right checksums: refused, or all that follows works."""

from __future__ import annotations

import copy
import json
import warnings
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from pacboost import Monitor
from pacboost.errors import FileError, PacboostError, ParameterError
from pacboost.monitoring import state_file
from tests.faults.structured import REAL, WHOLE, WORDS, _places

RNG = np.random.default_rng(0)
REFERENCE = RNG.normal(size=(900, 3))
NEW = RNG.normal(size=(300, 3)) + np.array([1.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("monitor") / "state.json"
    monitor = Monitor(error=0.05, reference=REFERENCE)
    monitor.update_mistakes(RNG.random(700) < 0.06).update_rows(NEW)
    monitor.save(path)
    return state_file.read_state(path)


def changed(state: dict[str, Any], random: Random) -> dict[str, Any]:
    """Change one value of a state, or two."""
    state = copy.deepcopy(state)
    for _ in range(random.choice((1, 1, 2))):
        holder, key = random.choice(list(_places(state)))
        if random.random() < 0.1:
            del holder[key]
        else:
            others: tuple[Any, ...] = (
                *WHOLE,
                *REAL,
                *WORDS,
                None,
                True,
                [],
                {},
                [[]],
                10**400,
                "\ud800",
            )
            holder[key] = random.choice(others)
    return state


def works_or_is_refused(path: Path, state: dict[str, Any]) -> bool:
    """Write a state with its checksum, and use it in all ways; tell whether it was loaded."""
    with suppress(UnicodeEncodeError):  # no file holds such a text
        state_file.write_state(path, state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            monitor = Monitor.load(path, reference=REFERENCE)
        except PacboostError:
            return False
        for use in (
            lambda: monitor.update_mistakes([0, 1] * 40),
            lambda: monitor.update_rows(NEW),
            lambda: str(monitor.status()),
            monitor._mistakes.curves,
            lambda: monitor.save(path),
            lambda: Monitor.load(path),
        ):
            with suppress(PacboostError):
                use()
    return True


def tried(folder: Path, state: dict[str, Any], count: int, seed: int) -> int:
    path = folder / "changed.json"
    return sum(
        works_or_is_refused(path, changed(state, Random(f"{seed} {number}")))
        for number in range(count)
    )


def test_a_state_as_it_was_written_works(state: dict[str, Any], tmp_path: Path) -> None:
    assert works_or_is_refused(tmp_path / "same.json", state)


def test_states_with_other_numbers_are_refused_or_work(
    state: dict[str, Any], tmp_path: Path
) -> None:
    assert tried(tmp_path, state, 150, seed=1) < 150


@pytest.mark.slow
def test_thousands_of_states(state: dict[str, Any], tmp_path: Path) -> None:
    assert tried(tmp_path, state, 10_000, seed=2) < 10_000


@pytest.mark.parametrize("column", [3, -1, 2**40])
def test_a_rule_about_a_column_that_does_not_exist_is_refused(
    column: int, state: dict[str, Any], tmp_path: Path
) -> None:
    state = copy.deepcopy(state)
    state["rows"]["rules"][0][2] = column
    state_file.write_state(tmp_path / "rule.json", state)
    with pytest.raises(FileError, match="rule"):
        Monitor.load(tmp_path / "rule.json")


def test_a_checksum_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(FileError, match="not the file of a monitor"):
        Monitor.load(path)
    document = {"format": state_file.FORMAT, "version": 1, "sha256": "", "state": "\ud800"}
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(FileError, match="no monitor has written"):
        Monitor.load(path)


def test_a_run_length_that_is_no_float_is_refused(state: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="run_length is above"):
        Monitor(error=0.1, run_length=10**5000)
    state_file.write_state(tmp_path / "long.json", {**state, "run_length": 10**400})
    with pytest.raises(FileError, match="run_length is above"):
        Monitor.load(tmp_path / "long.json")
