"""The counterexample does what the text beside it says: an edge under one distribution fails."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"


@pytest.fixture(scope="module")
def gallery() -> ModuleType:
    spec = importlib.util.spec_from_file_location("uniform_only", GALLERY / "uniform_only.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def curves(gallery: ModuleType) -> Any:
    return gallery.measure(rows=20_000, rounds=30, fresh=10_000)


def test_an_edge_under_every_distribution_is_boosted_to_the_end(curves: Any) -> None:
    everywhere, _ = curves
    assert everywhere.edges.min() > 1 / 3
    assert everywhere.errors[2:].max() == 0


def test_an_edge_under_the_uniform_distribution_vanishes(curves: Any) -> None:
    everywhere, uniform = curves
    assert uniform.edges[0] == pytest.approx(0.75, abs=0.03)
    assert uniform.edges[0] > everywhere.edges[0]
    t = np.arange(2, 31)
    assert uniform.edges[1:] == pytest.approx(1 / (t - 5 / 6), rel=0.1)
    assert uniform.errors == pytest.approx(1 / 8, abs=0.01)


def test_the_weight_goes_where_nothing_can_be_learned(curves: Any) -> None:
    blind = curves[1].blind
    assert blind[0] == pytest.approx(0.25, abs=0.02)
    assert blind[1] == pytest.approx(4 / 7, abs=0.02)
    assert (np.diff(blind) > 0).all()
    assert blind[-1] > 0.97


def test_picture_is_written(gallery: ModuleType, curves: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "uniform_only.png"
    gallery.draw(curves, path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size < 80_000
