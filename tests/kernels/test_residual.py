"""Residuals, pulls and exponentials by teams are those that NumPy computes, for any team."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pacboost.boosters.booster import Moved
from pacboost.boosters.newton import exponential
from pacboost.boosters.regression import Absolute, Huber, Quantile, Square
from pacboost.boosters.residual import Residual, ResidualState
from pacboost.kernels.runtime import team
from pacboost.kernels.runtime.threads import using

ROWS = 70_001
TEAMS = (1, 2, 3, 7, 16)


def expected(booster: Residual, state: ResidualState) -> Any:
    """Return the pulls that the definitions ask for."""
    gaps, weights = state.residuals, state.weights[:, 0]
    if isinstance(booster, Absolute):
        return np.where(np.abs(gaps) < state.unit, 0, np.sign(gaps))
    if isinstance(booster, Quantile):
        sides = np.where(gaps > 0, booster.quantile, booster.quantile - 1.0)
        return np.rint(weights * np.where(np.abs(gaps) < state.unit, 0.0, sides))
    return np.rint(weights * (np.clip(gaps, -state.cut, state.cut) * state.scale))


@pytest.mark.parametrize("booster", [Square(), Absolute(), Huber(), Quantile(quantile=0.3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_pulls_are_those_of_the_definitions_for_any_team(
    booster: Residual, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team, "cores", lambda: 32)
    generator = np.random.default_rng(0)
    targets = generator.normal(size=ROWS).round(2)
    base = generator.uniform(0.5, 2.0, size=ROWS) if weighted else np.ones(1)
    cells = generator.integers(3, size=ROWS).astype(np.uint8)
    moved = Moved(cells, np.array([[0.25], [-0.5], [0.0]]), 1.0)
    seen = set()
    for count in TEAMS:
        with using(count):
            state = booster.init(np.ones((ROWS, 1), np.int8), base, targets)
            state = booster.move(state, moved)
        np.testing.assert_array_equal(state.margins[:, 0], moved.values[cells, 0])
        assert state.largest == np.abs(state.residuals).max()
        np.testing.assert_array_equal(state.pulls[:, 0], expected(booster, state))
        own = state.pulls.astype(np.int64)
        own = own * state.weights if isinstance(booster, Absolute) else own
        assert state.pull == np.abs(own).sum()
        seen.add(state.pulls.tobytes() + state.margins.tobytes())
    assert len(seen) == 1


def test_exponentials_do_not_depend_on_the_team(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team, "cores", lambda: 32)
    scores = np.random.default_rng(0).normal(size=ROWS) * 5
    found = set()
    for count in TEAMS:
        with using(count):
            found.add(exponential(scores, -1.0).tobytes())
    assert len(found) == 1
    np.testing.assert_allclose(np.frombuffer(found.pop()), np.exp(-scores), rtol=1e-14)
