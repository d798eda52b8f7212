"""Pictures, with matplotlib where it is installed.

Functions that take ``ax`` draw there; without it they draw on a new figure, which is
``axes.figure`` of what they return. Notebooks show it, and so does ``pyplot.show()`` where pyplot
is loaded (reports/plots.py).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.errors import DataError, FileError, PacboostError
from pacboost.numerics.checks import positive_whole
from pacboost.numerics.interactive import in_notebook

if TYPE_CHECKING:  # a picture of a plan needs no compiler
    from pacboost.hypotheses.shapes import Shape, Shapes
    from pacboost.ledgers.ledger import HardRow, Ledger
from pacboost.ledgers.ledger import HardRow, Ledger

# What all plots share: new figures, plain axes, shades for rounds.


def figure(size: tuple[float, float] = (7, 4.5)) -> Any:
    """Make a figure, or say which package is missing.

    In a notebook, and where pyplot is loaded already, it is a figure of pyplot, so that the
    notebook or ``pyplot.show()`` shows it. Elsewhere pyplot does not know it, and it need not be
    closed.
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


def tidy(axes: Any, *, legend: bool = False) -> Any:
    """Remove the lines at the top and the right."""
    axes.spines[["top", "right"]].set_visible(False)
    if legend:
        axes.legend(frameon=False)
    return axes


def shade(place: int, count: int) -> tuple[float, float, float]:
    """Return a blue for one of some curves: the later, the darker."""
    light = 0.85 - 0.8 * (place + 1) / count
    return 0.1 + 0.8 * light, 0.25 + 0.6 * light, 0.45 + 0.5 * light


def save(drawn: Any, path: Path) -> None:
    """Write a figure in the format that the name of the file says."""
    try:
        drawn.savefig(path)
    except (OSError, ValueError) as problem:
        raise FileError(f"{path}: cannot be written ({problem})") from problem


COUNTS = ("examples", "rounds", "draws", "runs", "lower")
LOG_FROM = 30
"""If rates differ by this factor or more, the scale is logarithmic."""
PANELS_IN_A_ROW = 4
LEVELS_NAMED = 12
"""Of a category with more levels, some are named."""


def plan_curve(ask: Callable[..., Any], given: Mapping[str, Any], path: Path) -> None:
    """Draw the answers to a question against its first fractional parameter."""
    drawn = figure()
    axes = drawn.subplots()
    name = next((key for key, value in given.items() if isinstance(value, float)), None)
    if name is None:
        raise PacboostError("this question has no fractional parameter to draw a curve over")
    asked = given[name]
    values = np.append(np.geomspace(asked / 4, min(asked * 4, (1 + asked) / 2), 24), asked)
    curves: dict[str, list[tuple[float, int]]] = {}
    for value in np.sort(values):
        try:
            answer = ask(**{**given, name: float(value)})
        except PacboostError:  # nothing can be promised there: the curve has a gap
            continue
        for count in COUNTS:
            number = getattr(answer, count)
            if number is not None:
                curves.setdefault(count, []).append((float(value), number))
    for count, points in curves.items():
        label = "needed in the worst case" if count == "lower" else f"{count} that suffice"
        axes.loglog(*zip(*points, strict=True), label=label, ls="--" if count == "lower" else "-")
    axes.axvline(asked, color="grey", lw=0.8)
    axes.set(xlabel=name, ylabel="number needed")
    axes.legend()
    save(drawn, path)


def rounds(ledger: Ledger, ax: Any = None, test: Sequence[float] | None = None) -> Any:
    """Draw the error after each round, with the bound that the product of normalisers gives.

    The validation error is drawn in the same axes; another validation metric has a second scale, at
    the right. ``test`` holds the error on other rows after each rule of the final vote. If that has
    fewer or more rules than there were rounds, its last error is drawn as a horizontal line.
    """
    if len(ledger) == 0:
        raise DataError("the ledger has no rounds; there is nothing to draw before a fit")
    axes = figure().subplots() if ax is None else ax
    columns = ledger.columns()
    lines = {
        "bound on training error": np.array(columns["bound"]),
        "training error": np.array(columns["training_error"]),
    }
    metric = ledger.metric or "error"
    watched = np.array(columns["validation"], dtype=np.float64)  # NaN where there is none
    apart = metric != "error" and not np.isnan(watched).all()
    if not apart:
        lines["validation error"] = watched
    styles = {"bound on training error": {"ls": "--", "color": "grey"}}
    if test is not None and len(test):
        staged = len(test) == len(ledger)
        label = "test error" if staged else "test error of the final vote"
        lines[label] = np.array(test if staged else [test[-1]] * len(ledger), dtype=np.float64)
        styles[label] = {"color": "tab:red"} if staged else {"color": "tab:red", "ls": ":"}
    for label, values in lines.items():
        if not np.isnan(values).all():
            own = styles.get(label, {})
            axes.plot(columns["number"], values, label=_with_zeros(label, values, columns), **own)
    positive = np.concatenate(list(lines.values()))
    positive = positive[positive > 0]
    if positive.size and positive.max() >= LOG_FROM * positive.min():
        axes.set_yscale("log")
    axes.set(xlabel="round", ylabel="share of rows")
    if apart:
        beside(axes, f"validation {metric.replace('_', ' ')}", columns["number"], watched)
    return tidy(axes, legend=True)


def margins(curves: Mapping[int, ArrayLike], ax: Any = None) -> Any:
    """Draw how margins are distributed after some rounds: the share of rows at or below each.

    A row's margin is positive where the vote is right and 1 where all its rules are.
    """
    if not curves:
        raise DataError("there are no margins to draw; give those of one round at least")
    axes = figure().subplots() if ax is None else ax
    for later, number in enumerate(sorted(curves)):
        values = np.asarray(curves[number], dtype=np.float64)
        if values.ndim != 1 or values.size == 0 or not (np.abs(values) <= 1 + 1e-9).all():
            raise DataError(
                f"the margins after round {number} are not a list of numbers from -1 to 1; divide "
                "them by the sum of votes"
            )
        # Not matplotlib's ecdf: with compress=True it miscounts equal values.
        places, counts = np.unique(np.clip(values, -1, 1), return_counts=True)
        below = np.concatenate([[0], np.cumsum(counts), [values.size]]) / values.size
        axes.step(
            np.concatenate([[-1], places, [1]]),
            below,
            where="post",
            color=shade(later, len(curves)),
            label=f"after round {number}",
        )
    axes.axvline(0, color="tab:red", lw=0.8)
    axes.set(xlim=(-1, 1), ylim=(0, 1), xlabel="margin", ylabel="share of rows at or below")
    return tidy(axes, legend=True)


def shapes(shapes: Shapes, ax: Any = None, top: int = 12) -> NDArray[Any]:
    """Draw each feature's share of the score as a step function, the widest ranging first.

    A category has a mark for each level. A dashed line is the share of a missing value. ``ax`` may
    be as many axes as there are features to draw, or more; the rest is switched off. Gives the axes
    drawn on.
    """
    if not shapes.features:
        raise DataError("the vote asks for no feature, so there are no step functions to draw")
    features = shapes.features
    chosen = sorted(features, key=lambda j: (-features[j].span, j))[: positive_whole("top", top)]
    grid = _grid(len(chosen)) if ax is None else np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if grid.size < len(chosen):
        raise DataError(f"there are {grid.size} axes for {len(chosen)} features; give more axes")
    for axes, j in zip(grid, chosen, strict=False):
        _shape(axes, features[j], shapes.answers)
    for axes in grid[len(chosen) :]:
        axes.set_axis_off()
    grid[0].set_ylabel("added to the score")
    grid[0].legend(frameon=False, fontsize="small")
    return grid[: len(chosen)]


def _shape(axes: Any, shape: Shape, answers: Sequence[str]) -> None:
    answers = answers or ("score",)  # a regression names no classes
    for k, answer in enumerate(answers):
        color = f"C{k}"
        label = "score" if len(answers) == 1 else answer
        if shape.levels:
            places = np.arange(len(shape.levels))
            axes.plot(places, shape.values[:, k], "o", ms=4, color=color, label=label)
        else:
            heights, edges = shape.values[:, k], _edges(shape.thresholds)
            axes.stairs(heights, edges, baseline=None, lw=1.5, color=color, label=label)
        own = {"color": "tab:orange", "label": "if missing"} if len(answers) == 1 else {}
        axes.axhline(shape.missing[k], **{"color": color, "ls": "--", "lw": 1, **own})
    axes.axhline(0, color="grey", lw=0.6, zorder=0)
    axes.set_xlabel(shape.name)
    if shape.levels:
        step = -(-len(shape.levels) // LEVELS_NAMED)
        shown = range(0, len(shape.levels), step)
        axes.set_xticks(shown, [shape.levels[k] for k in shown], rotation=45, ha="right")
    elif shape.thresholds.size == 0:
        axes.set_xticks([])  # the same for every value
    tidy(axes)


def importances(
    names: Sequence[str] | None,
    shares: ArrayLike,
    ax: Any = None,
    top: int = 20,
    *,
    spread: ArrayLike | None = None,
    label: str = "share",
) -> Any:
    """Draw the largest shares as bars, the largest on top; ``spread`` says how unsure each is."""
    heights = np.asarray(shares, dtype=np.float64)
    if heights.ndim != 1 or heights.size == 0 or (names is not None and len(names) != heights.size):
        count = "no" if names is None else len(names)
        raise DataError(f"there are {count} names for shares of shape {heights.shape}")
    largest = np.argsort(-heights, kind="stable")[: positive_whole("top", top)]
    size = (7, 1 + 0.28 * largest.size)
    axes = figure(size).subplots() if ax is None else ax
    places = np.arange(largest.size)
    widths = None if spread is None else np.asarray(spread, dtype=np.float64)[largest]
    bars = axes.barh(places, heights[largest], height=0.7, xerr=widths)
    axes.bar_label(bars, fmt="{:.2g}", padding=3, fontsize="small")
    axes.set_yticks(places, [_name(names, j) for j in largest])
    axes.invert_yaxis()
    axes.margins(x=0.1)
    few = "" if largest.size == heights.size else f" ({largest.size} largest of {heights.size})"
    axes.set_xlabel(f"{label}{few}")
    axes.tick_params(axis="y", length=0)
    return tidy(axes)


def _grid(panels: int) -> NDArray[Any]:
    """Axes for some panels, with one common scale of scores."""
    wide = min(panels, PANELS_IN_A_ROW)
    high = -(-panels // wide)
    drawn = figure((max(4.0, 2.6 * wide), max(3.0, 2.2 * high)))
    grid: NDArray[Any] = drawn.subplots(high, wide, sharey=True, squeeze=False).ravel()
    return grid


def _edges(thresholds: NDArray[np.float32]) -> NDArray[np.float64]:
    """Where steps begin and end: at the thresholds, and a little beyond the outer ones."""
    inner = thresholds.astype(np.float64)
    if inner.size == 0:
        return np.array([0.0, 1.0])
    beyond = 0.08 * np.ptp(inner) or max(0.5 * abs(inner[0]), 0.5)
    return np.concatenate([[inner[0] - beyond], inner, [inner[-1] + beyond]])


def _with_zeros(label: str, values: NDArray[np.float64], columns: Mapping[str, list[Any]]) -> str:
    """Return in the label from where on a line is 0, since a logarithmic scale cannot show it."""
    if values[-1] != 0:
        return label
    last = np.flatnonzero(values)
    start = columns["number"][last[-1] + 1 if last.size else 0]
    return f"{label} (0 from round {start} on)"


def _name(names: Sequence[str] | None, column: int) -> str:
    return f"x{column}" if names is None else str(names[column])


def beside(axes: Any, label: str, numbers: Sequence[int], values: NDArray[np.float64]) -> None:
    """Draw a line of another unit against a scale at the right, but name it in the same legend."""
    other = axes.twinx()
    other.plot(numbers, values, color="C1", label=label)
    other.set_ylabel(label)
    other.spines["top"].set_visible(False)
    axes.plot([], [], color="C1", label=label)


# Rows as a vote sees them: the equaliser, and the hardest ones.

MOST_POINTS = 500
"""Of more rows, as many quantiles are drawn."""


def equaliser(curves: Mapping[int, ArrayLike], ax: Any = None) -> Any:
    """Draw the weighted share of rules that err on each row, after some rounds, from margins.

    Rows stand side by side, those that are wrong most often first. Where all were wrong equally
    often, the line would be flat: boosting presses it towards that (Breiman 1999). The legend has
    the spread, which is the standard deviation over rows.
    """
    if not curves:
        raise DataError("there are no margins to draw; give those of one round at least")
    axes = figure().subplots() if ax is None else ax
    for later, number in enumerate(sorted(curves)):
        wrong = (1 - np.asarray(curves[number], dtype=np.float64)) / 2
        if wrong.ndim != 1 or not wrong.size:
            raise DataError(f"the margins after round {number} are not a list of numbers")
        places = np.linspace(0, 1, min(wrong.size, MOST_POINTS))
        axes.plot(
            places,
            np.quantile(wrong, 1 - places),
            color=shade(later, len(curves)),
            label=f"after round {number}: spread {wrong.std():.3f}",
        )
    axes.axhline(0.5, color="tab:red", lw=0.8)
    axes.set(xlim=(0, 1), ylim=(-0.02, 1.02))
    axes.set(xlabel="rows, hardest first", ylabel="weighted share of rules that are wrong")
    return tidy(axes, legend=True)


def hardest(rows: Sequence[HardRow], ax: Any = None) -> Any:
    """Draw the margin of each of the hardest rows as a bar, with its number and label."""
    axes = figure((7, 1 + 0.28 * len(rows))).subplots() if ax is None else ax
    places = np.arange(len(rows))
    colours = ["tab:red" if entry.margin <= 0 else "tab:blue" for entry in rows]
    axes.barh(places, [entry.margin for entry in rows], height=0.7, color=colours)
    axes.set_yticks(places, [f"row {entry.row}: {entry.label}" for entry in rows])
    axes.invert_yaxis()
    axes.axvline(0, color="grey", lw=0.8)
    axes.set_xlabel("margin (below 0: the vote is wrong)")
    axes.tick_params(axis="y", length=0)
    return tidy(axes)


# A picture of a regression: the mean loss after each round.


def plot(ledger: Ledger, ax: Any = None, test: Sequence[float] | None = None) -> Any:
    """Draw the loss on training rows, on validation rows and, if given, on other rows.

    A validation metric other than the loss has a second scale, at the right. ``test`` holds the
    loss after each rule of the final vote; if that has fewer or more rules than there were rounds,
    its last loss is drawn as a horizontal line.
    """
    if len(ledger) == 0:
        raise DataError("the ledger has no rounds; there is nothing to draw before a fit")
    axes = figure().subplots() if ax is None else ax
    columns = ledger.columns()
    numbers = columns["number"]
    lines = {"training loss": np.array(columns["training_error"], dtype=np.float64)}
    watched = np.array(columns["validation"], dtype=np.float64)  # NaN where there is none
    there = not np.isnan(watched).all()
    apart = there and ledger.metric not in ("", "loss", ledger.potential)
    if there and not apart:
        lines["validation loss"] = watched
    if test is not None and len(test):
        staged = len(test) == len(ledger)
        label = "test loss" if staged else "test loss of the final vote"
        lines[label] = np.array(test if staged else [test[-1]] * len(ledger), dtype=np.float64)
    for label, values in lines.items():
        axes.plot(numbers, values, label=label, ls=":" if "final" in label else "-")
    everything = np.concatenate(list(lines.values()))
    known = everything[~np.isnan(everything)]
    if known.size and known.min() > 0 and known.max() >= LOG_FROM * known.min():
        axes.set_yscale("log")
    axes.set(xlabel="round", ylabel=f"mean loss ({ledger.potential.replace('_', ' ')})")
    if apart:
        metric = (ledger.metric or "metric").replace("_", " ")
        beside(axes, f"validation {metric}", numbers, watched)
    return tidy(axes, legend=True)
