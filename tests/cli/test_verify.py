"""``pacboost verify`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pacboost import AdaBoostClassifier
from pacboost.cli.main import main
from tests.worlds import noisy


@pytest.fixture(params=[None, "holdout", "train"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    X, y = noisy(300, 3, seed=5)
    path = tmp_path / "run.json"
    AdaBoostClassifier(n_estimators=5, random_state=0, certify=request.param).fit(X, y).save(path)
    return path


def run(path: Path) -> Result:
    return CliRunner().invoke(main, ["verify", str(path)])


def edit(path: Path, part: str, name: str, value: Any) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    where = content["certificate"]
    if part == "ledger":
        where = content["model"]["ledger"]["rounds"][1]
    elif part == "inputs":
        where = where["inputs"]
    where[name] = value
    path.write_text(json.dumps(content), encoding="utf-8")


def test_an_intact_file(path: Path) -> None:
    result = run(path)
    assert result.exit_code == 0, result.output
    assert result.output.count("holds") == 3
    assert "FAILS" not in result.output


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("ledger", "error", 0.01),
        ("ledger", "normaliser", 0.1),
        ("certificate", "value", 0.0001),
        ("certificate", "bound", "holdout.nothing"),
        ("certificate", "ledger_digest", "abc"),
    ],
)
def test_an_edited_file(path: Path, part: str, name: str, value: Any) -> None:
    edit(path, part, name, value)
    result = run(path)
    assert result.exit_code == 1
    assert "FAILS" in result.output
    assert "does not stand" in result.output
    assert isinstance(result.exception, SystemExit)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [("ledger", "normaliser", 0.0), ("ledger", "vote", 1e4), ("inputs", "surprise", 1)],
)
def test_absurd_files_end_in_words_not_in_a_traceback(
    path: Path, part: str, name: str, value: Any
) -> None:
    edit(path, part, name, value)
    result = run(path)
    if part == "inputs" and result.exit_code == 0:
        assert "holds" in result.output  # the training error is recomputed from the ledger alone
        return
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)


def test_no_model_file(tmp_path: Path) -> None:
    result = run(tmp_path / "absent.json")
    assert result.exit_code == 1
    assert "cannot be read" in result.output
    (tmp_path / "other.json").write_text("{}")
    assert run(tmp_path / "other.json").exit_code == 1
    assert CliRunner().invoke(main, ["verify"]).exit_code == 2
