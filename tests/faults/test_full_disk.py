"""A disk that is full at any byte: an error that names the file, and the old file is as it was.

A full disk is imitated by a limit on the size of files, in a process of its own.
"""

import os
import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner

from pacboost import Monitor
from pacboost.cli.main import main
from pacboost.errors import CheckpointWarning
from tests.faults.full_disk import refused, with_room_for, writing_fails_as_a_whole
from tests.faults.mutations import fit_on, last_checkpoint, monitor_state, small_refills, use_state
from tests.faults.writers import WRITERS, predictions
from tests.grids import each_value
from tests.models.kinds import saved

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="limits are set after fork")


@each_value
@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.999])
def test_writing_fails_as_a_whole(name: str, part: float, tmp_path: Path) -> None:
    writing_fails_as_a_whole(name, part, tmp_path)


def test_predictions_and_reports_of_the_command_line(tmp_path: Path) -> None:
    output = tmp_path / "answers.csv"
    predictions(saved("stumps"), output, tmp_path)
    before = output.read_bytes()
    words = ["predict", str(saved("regressor")), str(tmp_path / "rows.csv")]

    def run() -> str:
        done = CliRunner().invoke(main, [*words, "--output", str(output)])
        return f"{done.exit_code} {' '.join(done.output.split())}"

    said = with_room_for(len(before) // 2, run)
    assert said.startswith("2 ")
    assert output.name in said
    assert output.read_bytes() == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["answers.csv", "rows.csv"]


def test_a_monitor_keeps_its_old_file(tmp_path: Path) -> None:
    use_state(monitor_state(), tmp_path)
    path = tmp_path / "changed.json"
    before, monitor = path.read_bytes(), Monitor.load(path)
    output = with_room_for(len(before) // 2, lambda: refused(lambda: monitor.save(path)))
    assert output.startswith("ours: ")
    assert path.read_bytes() == before


def test_a_fit_goes_on_without_its_checkpoint(tmp_path: Path) -> None:
    last_checkpoint("array")
    with small_refills():
        alone = fit_on("array", tmp_path / "other.ckpt").ledger_.vote_digest

        def fit() -> str:
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                result = fit_on("array", tmp_path / "run.ckpt").ledger_.vote_digest
            kinds = {warning.category for warning in heard}
            same = result == alone and kinds == {CheckpointWarning}
            return f"{same} {[str(entry.message) for entry in heard[:1]]}"

        output = with_room_for(1000, fit)
    assert output.startswith("True"), output
    assert "run.ckpt" in output
    assert not list(tmp_path.iterdir())
