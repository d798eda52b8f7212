"""The command as a user runs it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pacboost
from pacboost.cli.main import main
from pacboost.sources.arrays import ArrayTable
from tests.worlds import noisy


@pytest.fixture
def data(tmp_path: Path) -> Path:
    X, signs = noisy(200, 3, seed=1)
    lines = ["a,b,c,label"]
    lines += [
        f"{row[0]!r},{row[1]!r},{row[2]!r},{'yes' if s > 0 else 'no'}"
        for row, s in zip(X.tolist(), signs, strict=True)
    ]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_demo_shows_both_parts() -> None:
    result = CliRunner().invoke(main, ["demo", "--rounds", "5"])
    assert result.exit_code == 0, result.output
    for part in ("0.4236", "0.6496", "0.9229", "0.5162", "malignant", "certificate", "never seen"):
        assert part in result.output


def test_fit_prints_and_writes_nothing(data: Path) -> None:
    before = sorted(data.parent.iterdir())
    result = CliRunner().invoke(main, ["fit", str(data), "--target", "label", "--rounds", "7"])
    assert result.exit_code == 0, result.output
    assert "certificate" in result.output
    assert "→ yes" in result.output
    assert sorted(data.parent.iterdir()) == before


def test_fit_writes_a_model_that_predicts(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    arguments = ["fit", str(data), "--target", "label", "--rounds", "9", "--output", str(model)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    loaded = pacboost.load(model)
    X, signs = noisy(200, 3, seed=1)
    table = ArrayTable(X, ("a", "b", "c"))
    direct = pacboost.AdaBoostClassifier(n_estimators=9).fit(X, np.where(signs > 0, "yes", "no"))
    assert loaded.decision_function(table).tolist() == direct.decision_function(X).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "nope"], "its columns are 'a', 'b', 'c', 'label'"),
        (["--target", "label", "--rounds", "0"], "n_estimators is 0"),
        (["--target", "label", "--learning-rate", "-1"], "learning_rate is -1"),
        (["--target", "label", "--output", "no/such/folder/m.json"], "folder does not exist"),
    ],
)
def test_errors_are_one_sentence(data: Path, arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["fit", str(data), *arguments])
    assert result.exit_code == 1
    assert message in result.output
    assert "Traceback" not in result.output


def test_early_stopping_shows_validation(data: Path) -> None:
    arguments = ["fit", str(data), "--target", "label", "--rounds", "80", "--validation", "0.3"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "valid." in result.output


def test_missing_file() -> None:
    result = CliRunner().invoke(main, ["fit", "absent.csv", "--target", "y"])
    assert result.exit_code == 1
    assert "absent.csv: cannot be read" in result.output
