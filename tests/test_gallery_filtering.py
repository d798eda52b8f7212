"""The gallery's picture of filtering shows what the text beside it says."""

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
    spec = importlib.util.spec_from_file_location("gallery_filtering", GALLERY / "filtering.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def panels(gallery: ModuleType) -> Any:
    model = gallery.boost()
    assert model.certificate_.value < 0.01
    return [gallery.panel(model, rounds) for rounds in gallery.ROUNDS]


def test_fewer_and_fewer_are_kept(panels: Any) -> None:
    shares = [len(one.kept) / one.looked_at for one in panels]
    assert shares[0] == pytest.approx(0.5, abs=0.03)
    assert shares[1] < 0.2
    assert shares[2] < 0.03


def test_what_is_kept_lies_along_the_boundary(panels: Any) -> None:
    first, _, last = (np.abs(p.kept[:, 1] - 0.5 * np.sin(5 * p.kept[:, 0])) for p in panels)
    assert np.median(last) < np.median(first) / 10


def test_picture_is_written(gallery: ModuleType, panels: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "filtering.png"
    gallery.draw(panels, path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size < 90_000
