"""The gallery's picture of instability shows what the text beside it says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("instability", GALLERY / "instability.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def points(script: ModuleType) -> dict[str, Any]:
    names = [name for name in script.LEARNERS if "neighbours" not in name]  # they take their time
    found = script.measure(*script.world(2_000, 0), *script.world(3_000, 1), names, members=20)
    return {point.name: point for point in found}


def test_bagging_helps_whom_other_rows_would_have_changed(points: dict[str, Any]) -> None:
    unstable = points["tree, pure leaves"]
    assert unstable.disagreement == max(point.disagreement for point in points.values())
    assert unstable.change < -0.2
    assert points["tree of 64 leaves"].change < -0.05


def test_stable_learners_stay_as_they_are(points: dict[str, Any]) -> None:
    for name in ("linear discriminant", "naive Bayes", "stump"):
        assert points[name].disagreement < 0.1
        assert abs(points[name].change) < 0.05


def test_picture_is_written(script: ModuleType, points: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "instability.png"
    script.draw({"a world": list(points.values())}, path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size < 80_000
