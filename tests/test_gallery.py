"""The gallery's scripts run, and their pictures show what the text beside them says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"


@pytest.fixture(scope="module")
def u_curve() -> ModuleType:
    spec = importlib.util.spec_from_file_location("u_curve", GALLERY / "u_curve.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def curves(u_curve: ModuleType) -> Any:
    return u_curve.measure(rows=20_000, rounds=500, fresh=4_000)


@pytest.fixture(scope="module")
def few_rows(u_curve: ModuleType) -> tuple[Any, Any]:
    """A thousand rows with correct labels, and with a fifth of the labels flipped."""
    settings = {"rows": 1_000, "rounds": 3_000, "fresh": 6_000}
    return u_curve.measure(**settings), u_curve.measure(**settings, noise=0.2)


def test_bound_turns_up(curves: Any) -> None:
    rounds, bound = np.array(curves.rounds), curves.bound
    lowest = int(np.argmin(bound))
    assert 1 < rounds[lowest] < rounds[-1] / 2
    assert bound[-1] > bound[lowest] + 0.1


def test_test_error_does_not(curves: Any) -> None:
    lowest = int(np.argmin(curves.bound))
    assert curves.test[-1] < 0.75 * curves.test[lowest]
    assert curves.test[-1] < curves.test.min() + 0.01


def test_training_error_has_not_ended_either(curves: Any) -> None:
    """The error does not turn up because the vote has not finished fitting."""
    assert curves.training[-1] > 0
    assert curves.training[-1] < 0.9 * curves.training[-5]
    assert (np.abs(curves.training - curves.test) < 0.03).all()


def test_error_turns_up_under_noise(few_rows: tuple[Any, Any]) -> None:
    clean, noisy = few_rows
    assert clean.test[-1] < clean.test.min() + 0.005
    assert noisy.test[-1] > noisy.test.min() + 0.01
    assert noisy.training[-1] < noisy.training[int(np.argmin(noisy.test))]


def test_bound_is_above_both_errors(curves: Any) -> None:
    assert (curves.bound >= curves.test).all()
    assert (curves.bound >= curves.training).all()


def test_picture_is_written(
    u_curve: ModuleType, curves: Any, few_rows: tuple[Any, Any], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "u_curve.png"
    u_curve.draw(curves, *few_rows, path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size < 80_000
