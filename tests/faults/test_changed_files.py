"""Files of models, checkpoints and monitors with other numbers and right checksums.

Each is refused, or all that follows works.
"""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import pacboost
from pacboost import Monitor
from pacboost.errors import FileError, ParameterError
from pacboost.models.file import checkpoint, container
from pacboost.monitoring import monitor
from tests.faults.mutations import (
    REFUSED,
    USED,
    fit_on,
    last_checkpoint,
    monitor_state,
    small_refills,
    tried,
    use_state,
)
from tests.models.kinds import DECISIONS, KINDS, saved


def loaded(folder: Path, kind: str, count: int, seed: int) -> int:
    """Try so many changed files; count those that were loaded."""
    return sum(tried(kind, number, seed, folder) == USED for number in range(count))


def some_or(number: int, many: int) -> pytest.MarkDecorator:
    """Try some files, and many in the slow tests."""
    return pytest.mark.parametrize("count", [number, pytest.param(many, marks=pytest.mark.slow)])


@some_or(8, 1_000)
@pytest.mark.parametrize("kind", [*KINDS, *DECISIONS])
def test_files_with_other_numbers_are_refused_or_work(
    kind: str, count: int, tmp_path: Path
) -> None:
    assert loaded(tmp_path, kind, count, seed=count) < count


FOUND: list[tuple[str, int, object]] = [
    ("labelled_words", 7, "0"),
    ("array", 21, "5"),
    ("words", 825, "device-1"),
    ("letters", 3491, "device-1"),
    ("forest", 79072268, "faults"),
]
"""Files that once led to an error of another library.

Votes too large for an exported file; a checkpoint of samples without rows; words that are empty or
end in a blank; trees that name two classes of one.
"""


@pytest.mark.parametrize(("kind", "number", "seed"), FOUND)
def test_files_that_once_failed(kind: str, number: int, seed: object, tmp_path: Path) -> None:
    assert tried(kind, number, seed, tmp_path) in {REFUSED, USED}


Change = Callable[[dict[str, Any]], object]


def round_with(name: str, value: float) -> Change:
    """Change a number in the record of the first round."""

    def change(content: dict[str, Any]) -> None:
        rounds = content["model"]["ledger"]["rounds"]
        rounds[name][0] = value

    return change


IMPOSSIBLE: dict[str, tuple[str, Change]] = {
    "a normaliser of 0": ("stumps", round_with("normaliser", 0.0)),
    "a negative normaliser": ("trees", round_with("normaliser", -1.0)),
    "no weight at all": ("stumps", round_with("weight", 0)),
    "an error above 1": ("stumps", round_with("training_error", 1.5)),
    "an edge above 1": ("stumps", round_with("edge", -1.5)),
    "numbers near the largest float": ("stumps", round_with("effective_size", 1.7e308)),
    "a negative number of rows": ("stumps", lambda c: c["model"]["ledger"].update(rows=-5)),
    "no count of mistakes": ("forest", lambda c: c["certificate"]["inputs"].pop("k")),
    "a delta of 2": ("forest", lambda c: c["certificate"].update(delta=2.0)),
    "no classes": ("three", lambda c: c["model"].update(classes=[])),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_no_fit_could_have_written_is_refused(name: str, tmp_path: Path) -> None:
    kind, change = IMPOSSIBLE[name]
    source = saved(kind)
    what = container.kind_of(source)
    content = container.read(source, what).document
    change(content)
    container.write(tmp_path / "changed.pacb", what, content)
    with pytest.raises(FileError, match="is damaged"):
        pacboost.load(tmp_path / "changed.pacb")


@pytest.fixture(autouse=True)
def often() -> Iterator[None]:
    with small_refills():
        yield


@some_or(12, 1_000)
@pytest.mark.parametrize("source", ["array", "stream"])
def test_changed_checkpoints_are_refused_or_go_on(source: str, count: int, tmp_path: Path) -> None:
    tries = (tried(source, number, count, tmp_path) == REFUSED for number in range(count))
    assert sum(tries) > 0


@pytest.mark.parametrize(
    ("part", "name", "message"),
    [("arrays", "kinds", "set apart"), ("settings", "seed", "hold an array")],
)
def test_rows_that_certify_and_settings_cannot_be_exchanged(
    part: str, name: str, message: str, tmp_path: Path
) -> None:
    content: dict[str, Any] = deepcopy(last_checkpoint("array"))
    content[part][name] = content["arrays"]["kinds"][::-1].copy()
    container.write(tmp_path / "run.ckpt", checkpoint.KIND, content)
    with pytest.raises(FileError, match=message):
        fit_on("array", tmp_path / "run.ckpt")


@pytest.fixture
def state() -> dict[str, Any]:
    return deepcopy(monitor_state())


def test_a_state_as_it_was_written_works(state: dict[str, Any], tmp_path: Path) -> None:
    assert use_state(state, tmp_path) == USED


@some_or(150, 10_000)
def test_states_with_other_numbers_are_refused_or_work(count: int, tmp_path: Path) -> None:
    assert loaded(tmp_path, "monitor", count, seed=count) < count


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
    with pytest.raises(FileError, match="monitor"):
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
