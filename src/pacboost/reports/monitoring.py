"""The curves of a monitor."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.reports.canvas import figure, tidy

Points = Sequence[Sequence[float]]
LOG_10 = math.log(10)


def monitor_curves(
    mistakes: Mapping[str, Sequence[float]],
    drift: Points | None,
    *,
    error: float,
    delta: float,
    run_length: int,
    ax: Any = None,
) -> NDArray[Any]:
    """Draw the error with its interval, both capitals, and the detector, one below the other."""
    panels = 3 if drift is None else 4
    if ax is None:
        drawn = figure((7, 2.1 * panels))
        grid = drawn.subplots(panels, 1, squeeze=False).ravel()
    else:
        grid = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if grid.size < panels:
        raise DataError(f"there are {grid.size} axes for {panels} curves; give more axes")
    if not mistakes["row"] and not drift:
        raise DataError("there is nothing to draw yet; a curve begins after 64 rows")
    _draw_mistakes(grid, {name: np.array(own, float) for name, own in mistakes.items()}, error)
    _goal(grid[1], -math.log10(delta), "refuted")
    _goal(grid[2], math.log10(run_length), "sounds")
    if drift is not None:
        rows, capital = np.array(drift, dtype=np.float64).reshape(-1, 2).T
        grid[3].plot(rows, capital / LOG_10)
        grid[3].set(xlabel="row", ylabel="drift: capital, log₁₀")
        _goal(grid[3], -math.log10(delta), "drift")
    found: NDArray[Any] = grid[:panels]
    return found


def _draw_mistakes(grid: Any, curves: Mapping[str, NDArray[np.float64]], error: float) -> None:
    rows = curves["row"]
    grid[0].fill_between(rows, curves["lower"], curves["upper"], alpha=0.25, label="interval")
    grid[0].plot(rows, curves["error"], label="mean error so far")
    grid[0].axhline(error, color="tab:red", lw=0.8, label="certified")
    grid[0].set_ylabel("error")
    grid[0].set_ylim(0, min(1.0, max(3 * error, 1.2 * float(curves["error"].max(initial=0.0)))))
    tidy(grid[0], legend=True)
    grid[1].plot(rows, curves["log_capital"] / LOG_10)
    grid[1].set_ylabel("capital, log₁₀")
    grid[2].plot(rows, np.log10(np.maximum(curves["detector"], 1e-300)))
    grid[2].set(xlabel="labelled row", ylabel="detector, log₁₀")


def _goal(axes: Any, height: float, label: str) -> None:
    axes.axhline(height, color="tab:red", lw=0.8, ls="--", label=label)
    tidy(axes, legend=True)
