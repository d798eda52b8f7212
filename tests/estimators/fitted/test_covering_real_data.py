"""Promises of sets and intervals on real data: rows drawn from a table, whose coverage is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import BoostRegressor, RandomForestClassifier, RandomForestRegressor
from pacboost.estimators.decisions.intervals import forecast
from pacboost.estimators.decisions.sets import row_shares
from tests.bounds.coverage import check_coverage
from tests.data import real_data

RUNS = 200
CALIBRATING = 800


def drawn(rows: int) -> Any:
    """Draw calibration rows with replacement, so that the table itself is the distribution."""
    generator = np.random.default_rng(0)
    for _ in range(RUNS):
        yield generator.integers(rows, size=CALIBRATING)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["lac", "aps", "raps"])
@pytest.mark.parametrize("name", ["satimage", "letter", "waveform5000"])
def test_sets(name: str, method: str) -> None:
    data = real_data(name, "class")
    X, y = data.table.rows(), np.asarray(data.labels)
    order = np.random.default_rng(1).permutation(len(y))
    fit, rest = order[:2000], order[2000:]
    model = RandomForestClassifier(30, random_state=0).fit(X[fit], y[fit])
    X, y = X[rest], y[rest]
    chances, places = model.predict_proba(X), np.searchsorted(model.classes_, y)
    failed, sizes = 0, []
    for chosen in drawn(len(y)):
        found = pacboost.sets(model, X[chosen], y[chosen], method=method, copies="draws")
        held = found.rule.holds(chances, row_shares(model, X, found.rule.score))
        failed += int(held[np.arange(len(y)), places].mean() < 0.9)
        sizes.append(held.sum(axis=1).mean())
    check_coverage(f"{name}, {method}, mean size {np.mean(sizes):.2f}", failed, RUNS, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["residual", "scaled", "quantiles"])
@pytest.mark.parametrize(
    ("name", "target"), [("california_housing", "medianHouseValue"), ("abalone", "Class_Rings")]
)
def test_intervals(name: str, target: str, way: str) -> None:
    data = real_data(name, target, categories=True)
    X, y = data.table.rows(), np.asarray(data.labels, dtype=np.float64)
    order = np.random.default_rng(1).permutation(len(y))
    fit, rest = order[:2000], order[2000:]
    model: Any = RandomForestRegressor(30, random_state=0).fit(X[fit], y[fit])
    if way == "quantiles":
        model = tuple(
            BoostRegressor("quantile", quantile=q, n_estimators=60).fit(X[fit], y[fit])
            for q in (0.05, 0.95)
        )
    X, y = X[rest], y[rest]
    floor = 0.01 * float(np.std(y))
    said = forecast(model, X, way, None, floor)
    failed, widths = 0, []
    for chosen in drawn(len(y)):
        found = pacboost.intervals(
            model, X[chosen], y[chosen], method=way, floor=floor, copies="draws"
        )
        ends = said.interval(found.cutoff_)
        failed += int(((ends[:, 0] <= y) & (y <= ends[:, 1])).mean() < 0.9)
        widths.append(np.diff(ends, axis=1).mean())
    check_coverage(f"{name}, {way}, mean width {np.mean(widths):.4g}", failed, RUNS, 0.05)
