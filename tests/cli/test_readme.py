"""The commands that the README shows run as they stand there, on the files of ``examples``."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.running import well

HOUSE = Path(__file__).parents[2]


def commands() -> list[list[str]]:
    text = (HOUSE / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```\n(pacboost fit examples/.*?)```", text, re.DOTALL)
    assert block is not None
    return [shlex.split(line, comments=True)[1:] for line in block[1].splitlines()]


def test_they_run_one_after_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(HOUSE / "examples")
    monkeypatch.chdir(tmp_path)
    said = {command[0]: well(*command) for command in commands()}
    assert list(said) == ["fit", "predict", "certify", "verify", "report", "threshold", "plan"]
    assert said["fit"].startswith("At most ")
    assert "finds at least 85" in said["threshold"]
    assert "nan" not in said["threshold"]
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {"examples", "parcels.pacb", "answers.csv", "parcels.html", "alarms.pacb"}
