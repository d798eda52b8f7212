"""Curves of plans."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from pacboost.errors import FileError, PacboostError
from pacboost.questions import plan
from pacboost.questions.answer import Plan
from pacboost.reports.plots import plan_curve

BOX: dict[str, Any] = {"epsilon": 0.1, "delta": 0.05, "dimensions": 2}


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_writes_the_format_of_the_name(tmp_path: Path, suffix: str, start: bytes) -> None:
    path = tmp_path / f"curve.{suffix}"
    plan_curve(plan.rectangle, BOX, path)
    assert path.read_bytes().startswith(start)


def test_names_what_it_draws(tmp_path: Path) -> None:
    path = tmp_path / "curve.svg"
    plan_curve(plan.rectangle, BOX, path)
    text = path.read_text()
    for word in ("epsilon", "number needed", "examples that suffice", "no method with fewer"):
        assert word in text


@pytest.mark.parametrize("value", [0.01, 0.1, 0.45, 0.6, 0.9])
def test_the_curve_passes_the_point_asked_for(tmp_path: Path, value: float) -> None:
    asked: list[float] = []

    def ask(*, epsilon: float) -> Plan:
        assert 0 < epsilon < 1
        asked.append(epsilon)
        return Plan("How many?", "theorem", examples=round(10 / epsilon))

    plan_curve(ask, {"epsilon": value}, tmp_path / "curve.png")
    assert len(asked) > 10
    assert min(asked) <= value <= max(asked)


def test_values_that_are_refused_do_not_spoil_the_curve(tmp_path: Path) -> None:
    """Nothing certifies ε at or below the error itself, but above there is a curve."""
    given = {"epsilon": 0.1, "delta": 0.05, "error": 0.05}
    plan_curve(plan.holdout, given, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").exists()


def test_nothing_fractional(tmp_path: Path) -> None:
    with pytest.raises(PacboostError, match="no fractional"):
        plan_curve(plan.no_free_lunch, {"domain": 16}, tmp_path / "curve.png")


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written"):
        plan_curve(plan.rectangle, BOX, tmp_path / "absent" / "curve.png")
    with pytest.raises(FileError, match="cannot be written"):
        plan_curve(plan.rectangle, BOX, tmp_path / "curve.nonsense")


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PacboostError, match="pip install"):
        plan_curve(plan.rectangle, BOX, tmp_path / "curve.png")
