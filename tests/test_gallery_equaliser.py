"""The equaliser's picture shows what the text beside it says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[1] / "docs" / "gallery" / "equaliser.py"


@pytest.fixture(scope="module")
def equaliser() -> ModuleType:
    spec = importlib.util.spec_from_file_location("equaliser", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def views(equaliser: ModuleType) -> Any:
    return equaliser.measure((1, 10, 60))


def test_boosted_stumps_even_out_and_bagged_ones_do_not(views: Any) -> None:
    boosted, bagged = ([own[t].std() / 2 for t in (1, 10, 60)] for own in views)
    assert boosted == sorted(boosted, reverse=True)
    assert boosted[-1] < 0.35 * boosted[0]
    assert bagged[-1] > 0.6 * bagged[0]


def test_most_rows_are_never_wrong_in_bagging(views: Any) -> None:
    wrong = (1 - views.bagged[60]) / 2
    assert np.mean(wrong == 0) > 0.6
    assert wrong.max() > 0.9
    assert np.mean(views.boosted[60] == 1) < 0.05


def test_picture_is_written(equaliser: ModuleType, views: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "equaliser.png"
    equaliser.draw(views, path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size < 100_000
