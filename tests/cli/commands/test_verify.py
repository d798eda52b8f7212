"""``pacboost verify`` as a user runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pacboost import AdaBoostClassifier
from pacboost.models.file import format as model_file
from pacboost.models.model import Model
from tests.cli.running import answer, run, well
from tests.worlds import noisy


@pytest.fixture(params=[None, "holdout", "train"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    X, y = noisy(300, 3, seed=5)
    path = tmp_path / "run.pacb"
    AdaBoostClassifier(n_estimators=5, random_state=0, certify=request.param).fit(X, y).save(path)
    return path


def certified(**changes: object) -> Callable[[Model], Model]:
    def change(model: Model) -> Model:
        assert model.certificate is not None
        return replace(model, certificate=replace(model.certificate, **changes))  # type: ignore[arg-type]

    return change


def measured(**changes: object) -> Callable[[Model], Model]:
    def change(model: Model) -> Model:
        first, second, *others = model.ledger.rounds
        rounds = [first, replace(second, **changes), *others]  # type: ignore[arg-type]
        return replace(model, ledger=replace(model.ledger, rounds=rounds))

    return change


def test_an_intact_file(path: Path) -> None:
    shown = well("verify", path)
    lines = [line.split() for line in shown.splitlines()]
    assert all(line[0] == "holds" for line in lines[:4])
    assert "the certificate holds" in shown
    found = answer("verify", path)
    assert found["stands"] is True
    names = [check["name"] for check in found["checks"]]
    assert names[:4] == ["model", "ledger", "rounds", "bound"]


@pytest.mark.parametrize(
    "change",
    [
        measured(error=0.01),
        measured(normaliser=0.1),
        certified(value=0.0001),
        certified(bound="holdout.nothing"),
        certified(ledger_digest="abc"),
    ],
)
def test_an_edited_file(path: Path, change: Callable[[Model], Model]) -> None:
    model_file.save(change(model_file.load(path)), path)
    result = run("verify", path)
    assert result.exit_code == 1
    assert "FAILS" in result.stdout
    assert "does not hold" in result.stdout
    found = answer("verify", path, code=1)
    assert found["stands"] is False


def test_a_damaged_file(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    result = run("verify", path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {path}: ")


def test_no_model_file(tmp_path: Path) -> None:
    (tmp_path / "other.pacb").write_text("{}")
    assert run("verify", tmp_path / "other.pacb").exit_code == 2
