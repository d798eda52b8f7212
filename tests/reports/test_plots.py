"""Pictures of plans: the curve passes the point asked for, and is written in the format named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pacboost.errors import FileError
from pacboost.reports.plots import plan_curve
from pacboost.theory import plan
from pacboost.theory.plan_learning import Plan

BOX: dict[str, Any] = {"epsilon": 0.1, "delta": 0.05, "dimensions": 2}


def test_writes_the_format_of_the_name(tmp_path: Path) -> None:
    plan_curve(plan.rectangle, BOX, tmp_path / "curve.pdf")
    assert (tmp_path / "curve.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("value", [0.01, 0.6])
def test_the_curve_passes_the_point_asked_for(tmp_path: Path, value: float) -> None:
    asked: list[float] = []

    def ask(*, epsilon: float) -> Plan:
        assert 0 < epsilon < 1
        asked.append(epsilon)
        return Plan("How many?", "theorem", examples=round(10 / epsilon))

    plan_curve(ask, {"epsilon": value}, tmp_path / "curve.png")
    assert len(asked) > 10
    assert min(asked) <= value <= max(asked)


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written"):
        plan_curve(plan.rectangle, BOX, tmp_path / "absent" / "curve.png")
    with pytest.raises(FileError, match="cannot be written"):
        plan_curve(plan.rectangle, BOX, tmp_path / "curve.nonsense")
