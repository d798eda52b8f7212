"""Pictures of ledgers, margins, shapes, thresholds and monitors, with matplotlib.

Functions draw on ``ax``, or on a new figure without it, and return the axes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, FileError, PacboostError
from pacboost.numerics.interactive import in_notebook

if TYPE_CHECKING:  # a picture of a plan needs no kernels
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pacboost.bounds.answering import Answering
    from pacboost.bounds.decision import ThresholdDecision


def figure(size: tuple[float, float] = (7, 4.5)) -> Any:
    """Return a new figure.

    In a notebook, or if pyplot is loaded, it is a figure of pyplot, so that the notebook or
    ``pyplot.show()`` shows it. Otherwise pyplot does not manage it, and it need not be closed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as problem:
        raise PacboostError(
            "plots need matplotlib, which is not installed: pip install 'pacboost[plots]'"
        ) from problem
    if "matplotlib.pyplot" in sys.modules or in_notebook():
        from matplotlib import pyplot

        return pyplot.figure(figsize=size, layout="constrained")
    return Figure(figsize=size, layout="constrained")


BLUE, RED, GOLD = COLOURS = "#1f5fa8", "#b5382a", "#8a6100"


def panel(ax: Axes | None = None, size: tuple[float, float] = (7, 4.5)) -> Any:
    """Return ``ax``, or the axes of a new figure, with the colours of reports."""
    axes: Axes = figure(size).subplots() if ax is None else ax
    axes.set_prop_cycle(color=[*COLOURS, "#5a5f67", "#7db3ee", "#f28b78", "#dcb35a"])
    return axes


def tidy(axes: Axes, *, legend: bool = False) -> Any:
    """Remove the top and right spines."""
    axes.spines[["top", "right"]].set_visible(False)
    if legend:
        axes.legend(frameon=False)
    return axes


def label_text(text: object) -> str:
    """Return a name as text for matplotlib, which would read ``$`` as the start of a formula."""
    return str(text).replace("$", r"\$")


def save(drawn: Figure, path: Path) -> None:
    """Write a figure in the format of the file's extension."""
    try:
        drawn.savefig(path)
    except (OSError, ValueError) as problem:
        raise FileError(f"{path}: cannot be written ({problem})") from problem


COUNTS = ("examples", "rounds", "draws", "runs", "lower")


def plan_curve(ask: Callable[..., Any], parameters: Mapping[str, Any], path: Path) -> None:
    """Draw the plans of a question against its first fractional parameter."""
    drawn = figure()
    axes = drawn.subplots()
    name = next((key for key, value in parameters.items() if isinstance(value, float)), None)
    if name is None:
        raise PacboostError("this question has no fractional parameter; a curve needs one")
    value_asked = parameters[name]
    last = min(value_asked * 4, (1 + value_asked) / 2)
    values = np.append(np.geomspace(value_asked / 4, last, 24), value_asked)
    curves: dict[str, list[tuple[float, int]]] = {}
    for value in np.sort(values):
        try:
            answer = ask(**{**parameters, name: float(value)})
        except PacboostError:  # no bound exists there, so the curve has a gap
            continue
        for count in COUNTS:
            number = getattr(answer, count)
            if number is not None:
                curves.setdefault(count, []).append((float(value), number))
    for count, points in curves.items():
        label = "needed in the worst case" if count == "lower" else f"{count} that suffice"
        axes.loglog(*zip(*points, strict=True), label=label, ls="--" if count == "lower" else "-")
    axes.axvline(value_asked, color="grey", lw=0.8)
    axes.set(xlabel=name, ylabel="number needed")
    axes.legend()
    save(drawn, path)


def panels(
    ax: Axes | NDArray[Any] | None,
    size: tuple[float, float],
    high: int,
    wide: int,
    count: int | None = None,
    **options: Any,
) -> NDArray[Any]:
    """Return axes of ``ax`` or new ones; switch off those that are not needed."""
    count = high * wide if count is None else count
    axes = figure(size).subplots(high, wide, **options) if ax is None else ax
    grid = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if grid.size < count:
        raise DataError(f"there are {grid.size} axes for {count} panels; give more axes, or none")
    for rest in grid[count:]:
        rest.set_axis_off()
    return np.array([*map(panel, grid[:count])])


MEASURED, CERTIFIED = BLUE, RED


def threshold_curves(
    decision: ThresholdDecision, ax: Axes | NDArray[Any] | None = None
) -> NDArray[Any]:
    """Draw recall and false alarms by threshold, and recall by false alarms; return the axes."""
    by_threshold, by_alarms = grid = panels(ax, (10, 4), 1, 2)
    columns = {name: np.array(values) for name, values in decision.curve.columns.items()}
    at, recall, alarms = (columns[k] for k in ("threshold", "recall", "false_positive_rate"))
    recall_lower, alarms_upper = columns["recall_at_least"], columns["false_positive_rate_at_most"]
    for words, measured, certified, colour in (
        ("recall", recall, recall_lower, MEASURED),
        ("false positive rate", alarms, alarms_upper, CERTIFIED),
    ):
        by_threshold.plot(at, measured, color=colour, label=f"{words}, seen")
        by_threshold.fill_between(at, measured, certified, color=colour, alpha=0.25, lw=0,
                          label=f"{words}, certified within")  # fmt: skip
    by_threshold.axvline(decision.threshold, color="0.4", lw=0.8, ls="--", label="chosen")
    by_threshold.set(
        xlabel=f"threshold for class '{label_text(decision.positive)}'",
        ylabel="share of the class (recall), of all others (false positives)",
        ylim=(0, 1),
    )
    by_alarms.plot(alarms, recall, color=MEASURED, label="seen")
    order = np.lexsort((recall_lower, alarms_upper))
    alarms_upper, recall_lower = alarms_upper[order], np.maximum.accumulate(recall_lower[order])
    by_alarms.plot(alarms_upper, recall_lower, color=CERTIFIED, label="guaranteed")
    by_alarms.fill_between(alarms_upper, 0, recall_lower, color=CERTIFIED, alpha=0.2, lw=0)
    here = int(np.argmin(np.abs(at - decision.threshold)))
    by_alarms.plot(alarms[here], recall[here], "o", color="0.3", label="chosen")
    by_alarms.set(xlabel="false positive rate", ylabel="recall", xlim=(0, 1), ylim=(0, 1))
    for axes in grid:
        tidy(axes, legend=True)
    return grid


def answering_curve(answering: Answering, ax: Axes | None = None) -> Any:
    """Draw the error of answered rows by their share; return the axes."""
    ax = panel(ax)
    share = np.array([point.answered / answering.rows for point in answering.points])
    measured = np.array([point.mistakes / max(1, point.answered) for point in answering.points])
    certified = np.array(answering.errors)
    ax.plot(share, measured, color=MEASURED, marker=".", label="seen")
    ax.fill_between(share, measured, certified, color=CERTIFIED, alpha=0.25, lw=0)
    ax.plot(share, certified, color=CERTIFIED, marker=".", label="certified: at most")
    if answering.chosen is not None:
        ax.axvline(share[answering.chosen], color="0.4", lw=0.8, ls="--", label="chosen")
    ax.set(xlabel="share of rows that are answered", ylabel="error among the answered")
    ax.set_ylim(0, min(1.0, 1.3 * float(np.median(certified)) + 1e-3))
    return tidy(ax, legend=True)


Points = Sequence[Sequence[float]]
LOG_10 = math.log(10)


def monitor_curves(
    mistakes: Mapping[str, Sequence[float]],
    drift: Points | None,
    *,
    error: float,
    delta: float,
    run_length: int,
    ax: Axes | None = None,
) -> NDArray[Any]:
    """Draw the error with its interval, both capitals, and the detector in a column of panels."""
    count = 3 if drift is None else 4
    grid = panels(ax, (7, 2.1 * count), count, 1)
    if not mistakes["row"] and not drift:
        raise DataError("there is nothing to draw yet; curves start after 64 rows")
    curves = {name: np.array(values, float) for name, values in mistakes.items()}
    rows = curves["row"]
    grid[0].fill_between(rows, curves["lower"], curves["upper"], alpha=0.25, label="interval")
    grid[0].plot(rows, curves["error"], label="mean error so far")
    grid[0].axhline(error, color=RED, lw=0.8, label="certified")
    grid[0].set_ylabel("share of the rows that are wrong")
    grid[0].set_ylim(0, min(1.0, max(3 * error, 1.2 * float(curves["error"].max(initial=0.0)))))
    tidy(grid[0], legend=True)
    grid[1].plot(rows, curves["log_capital"] / LOG_10)
    grid[1].set_ylabel("capital, log₁₀")
    grid[2].plot(rows, np.log10(np.maximum(curves["detector"], 1e-300)))
    grid[2].set(xlabel="labelled row", ylabel="detector, log₁₀")
    _goal(grid[1], -math.log10(delta), "refuted")
    _goal(grid[2], math.log10(run_length), "sounds")
    if drift is not None:
        rows, capital = np.array(drift, dtype=np.float64).reshape(-1, 2).T
        grid[3].plot(rows, capital / LOG_10)
        grid[3].set(xlabel="row", ylabel="drift: capital, log₁₀")
        _goal(grid[3], -math.log10(delta), "drift")
    return grid


def _goal(axes: Axes, height: float, label: str) -> None:
    axes.axhline(height, color=RED, lw=0.8, ls="--", label=label)
    tidy(axes, legend=True)
