"""The pictures of real data show what the text beside them says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import pacboost

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"gallery_{name}", GALLERY / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(path: Path) -> None:
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size < 150_000


def test_a_model_draws_itself(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    everyday = script("everyday")
    fit = everyday.measure()
    errors = [entry.training_error for entry in fit.model.ledger_.rounds]
    assert (len(fit.y), len(fit.y_test)) == (398, 171)
    assert errors[22] > 0
    assert not any(errors[23:])
    assert 1 - fit.model.score(fit.X_test, fit.y_test) == pytest.approx(0.0175, abs=1e-3)
    stages = list(pacboost.theory.staged_margins(fit.model, fit.X, fit.y))
    assert stages[4].min() < 0 < stages[-1].min()
    assert stages[-1].max() < stages[4].max()
    everyday.draw(fit, tmp_path / "everyday.png")
    written(tmp_path / "everyday.png")


def test_columns_add_up_to_the_score(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    columns = script("columns")
    model = columns.measure(rounds=30)
    rows = columns.load_breast_cancer(as_frame=True).data
    shapes = model.shapes()
    total = np.full(len(rows), shapes.intercept[0])
    for number, shape in shapes.features.items():
        total += shape.at(rows.iloc[:, number].to_numpy())[:, 0]
    assert total == pytest.approx(model.decision_function(rows))
    columns.draw(model, tmp_path / "columns.png")
    written(tmp_path / "columns.png")


def test_boosters_cannot_be_told_apart_by_so_few_rows(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    boosters = script("boosters")
    found = boosters.measure()
    assert "238 rows to learn from, 119 to test on" in str(found)
    columns = found.columns()
    assert sum(error == 0 for error in columns["training_error"]) == 3
    assert max(columns["lower"]) < min(columns["upper"])
    boosters.draw(found, tmp_path / "boosters.png")
    written(tmp_path / "boosters.png")
