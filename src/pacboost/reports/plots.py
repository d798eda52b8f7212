"""Pictures, with matplotlib where it is installed.

Functions that take ``ax`` draw there; without it they draw on a new figure, which is
``axes.figure`` of what they return. Notebooks show it, and so does ``pyplot.show()`` where pyplot
is loaded (reports/plots.py).
"""

from __future__ import annotations

import math
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
    from pacboost.bounds.answering import Answering
    from pacboost.bounds.decision import ThresholdDecision
    from pacboost.hypotheses.shapes import Shape, Shapes
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


BLUE, RED, GOLD = COLOURS = "#1f5fa8", "#b5382a", "#8a6100"
"""The colours of reports."""


def panel(ax: Any = None, size: tuple[float, float] = (7, 4.5)) -> Any:
    """Return the axes given, or those of a new figure, for curves in the colours of reports."""
    axes = figure(size).subplots() if ax is None else ax
    axes.set_prop_cycle(color=[*COLOURS, "#5a5f67", "#7db3ee", "#f28b78", "#dcb35a"])
    return axes


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


WRONG = "share of the rows that are wrong"


def rounds(
    ledger: Ledger,
    ax: Any = None,
    test: Sequence[float] | None = None,
    *,
    loss: bool = False,
) -> Any:
    """Draw the error after each round, with the bound that the product of normalisers gives.

    With ``loss`` the record is that of a regression, and its mean loss is drawn. The validation
    error or loss is drawn in the same axes; another validation metric has a second scale, at the
    right. ``test`` holds the same of other rows after each rule of the final vote. If that has
    fewer or more rules than there were rounds, its last number is drawn as a horizontal line.
    """
    if len(ledger) == 0:
        raise DataError("the ledger has no rounds; there is nothing to draw before a fit")
    axes = panel(ax)
    what = "loss" if loss else "error"
    columns = ledger.columns()
    lines = {} if loss else {"bound on training error": np.array(columns["bound"])}
    styles: dict[str, dict[str, str]] = {"bound on training error": {"ls": "--", "color": "grey"}}
    lines[f"training {what}"] = np.array(columns["training_error"], dtype=np.float64)
    watched = np.array(columns["validation"], dtype=np.float64)  # NaN where there is none
    metric = ledger.metric or what
    apart = metric not in (what, ledger.potential if loss else what) and not np.isnan(watched).all()
    if not apart:
        lines[f"validation {what}"] = watched
    if test is not None and len(test):
        staged = len(test) == len(ledger)
        label = f"test {what}" + ("" if staged else " of the final vote")
        lines[label] = np.array(test if staged else [test[-1]] * len(ledger), dtype=np.float64)
        styles[label] = {"color": RED, "ls": "-" if staged else ":"}
    for label, values in lines.items():
        if not np.isnan(values).all():
            shown = label if loss else _with_zeros(label, values, columns)
            axes.plot(columns["number"], values, label=shown, **styles.get(label, {}))
    everything = np.concatenate(list(lines.values()))
    positive = everything[everything > 0]
    wide = positive.size and positive.max() >= LOG_FROM * positive.min()
    if wide and not (loss and (everything <= 0).any()):
        axes.set_yscale("log")
    units = f"mean loss ({ledger.potential.replace('_', ' ')})" if loss else WRONG
    axes.set(xlabel="round", ylabel=units)
    if apart:  # of another unit: against a scale at the right, but named in the same legend
        other, label = axes.twinx(), f"validation {metric.replace('_', ' ')}"
        other.plot(columns["number"], watched, color=RED, label=label)
        other.set_ylabel(label)
        other.spines["top"].set_visible(False)
        axes.plot([], [], color=RED, label=label)
    return tidy(axes, legend=True)


def margins(curves: Mapping[int, ArrayLike], ax: Any = None) -> Any:
    """Draw how margins are distributed after some rounds: the share of rows at or below each.

    A row's margin is positive where the vote is right and 1 where all its rules are.
    """
    if not curves:
        raise DataError("there are no margins to draw; give those of one round at least")
    axes = panel(ax)
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
    axes.axvline(0, color=RED, lw=0.8)
    axes.set(
        xlim=(-1, 1),
        ylim=(0, 1),
        xlabel="margin",
        ylabel="share of the rows with at most this margin",
    )
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
    count = len(chosen)
    wide = min(count, PANELS_IN_A_ROW)
    high = -(-count // wide)
    size = (max(4.0, 2.6 * wide), max(3.0, 2.2 * high))
    grid = _panels(ax, size, high, wide, count, sharey=True)
    for axes, j in zip(grid, chosen, strict=True):
        _shape(axes, features[j], shapes.answers)
    grid[0].set_ylabel("added to the score")
    grid[0].legend(frameon=False, fontsize="small")
    return grid


def _panels(
    ax: Any, size: tuple[float, float], high: int, wide: int, count: int | None = None, **more: Any
) -> NDArray[Any]:
    """Return the axes given, or new ones; as many as are needed, the rest is switched off."""
    count = high * wide if count is None else count
    axes = figure(size).subplots(high, wide, **more) if ax is None else ax
    grid = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if grid.size < count:
        raise DataError(f"there are {grid.size} axes for {count} panels; give more axes, or none")
    for rest in grid[count:]:
        rest.set_axis_off()
    return np.array([*map(panel, grid[:count])])


def _shape(axes: Any, shape: Shape, answers: Sequence[str]) -> None:
    answers = answers or ("score",)  # a regression names no classes
    for k, answer in enumerate(answers):
        color = COLOURS[k] if k < len(COLOURS) else f"C{k}"
        label = "score" if len(answers) == 1 else answer
        if shape.levels:
            places = np.arange(len(shape.levels))
            axes.plot(places, shape.values[:, k], "o", ms=4, color=color, label=label)
        else:
            heights, edges = shape.values[:, k], _edges(shape.thresholds)
            axes.stairs(heights, edges, baseline=None, lw=1.5, color=color, label=label)
        own = {"color": GOLD, "label": "if missing"} if len(answers) == 1 else {}
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
    label: str = "share of the importance",
) -> Any:
    """Draw the largest shares as bars, the largest on top; ``spread`` says how unsure each is."""
    heights = np.asarray(shares, dtype=np.float64)
    if heights.ndim != 1 or heights.size == 0 or (names is not None and len(names) != heights.size):
        count = "no" if names is None else len(names)
        raise DataError(f"there are {count} names for shares of shape {heights.shape}")
    largest = np.argsort(-heights, kind="stable")[: positive_whole("top", top)]
    size = (7, 1 + 0.28 * largest.size)
    axes = panel(ax, size)
    places = np.arange(largest.size)
    widths = None if spread is None else np.asarray(spread, dtype=np.float64)[largest]
    bars = axes.barh(places, heights[largest], height=0.7, xerr=widths)
    axes.bar_label(bars, fmt="{:.2g}", padding=3, fontsize="small")
    axes.set_yticks(places, [f"x{j}" if names is None else str(names[j]) for j in largest])
    axes.invert_yaxis()
    axes.margins(x=0.1)
    few = "" if largest.size == heights.size else f" ({largest.size} largest of {heights.size})"
    axes.set_xlabel(f"{label}{few}")
    axes.tick_params(axis="y", length=0)
    return tidy(axes)


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
    axes = panel(ax)
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
    axes.axhline(0.5, color=RED, lw=0.8)
    axes.set(xlim=(0, 1), ylim=(-0.02, 1.02))
    axes.set(xlabel="rows, hardest first", ylabel="weighted share of rules that are wrong")
    return tidy(axes, legend=True)


def hardest(rows: Sequence[HardRow], ax: Any = None) -> Any:
    """Draw the margin of each of the hardest rows as a bar, with its number and label."""
    axes = panel(ax, (7, 1 + 0.28 * len(rows)))
    places = np.arange(len(rows))
    colours = [RED if entry.margin <= 0 else BLUE for entry in rows]
    axes.barh(places, [entry.margin for entry in rows], height=0.7, color=colours)
    axes.set_yticks(places, [f"row {entry.row}: {entry.label}" for entry in rows])
    axes.invert_yaxis()
    axes.axvline(0, color="grey", lw=0.8)
    axes.set_xlabel("margin (below 0: the vote is wrong)")
    axes.tick_params(axis="y", length=0)
    return tidy(axes)


# The curves around a threshold: what was seen, and what is guaranteed for all thresholds.

SEEN, SURE = BLUE, RED


def threshold_curves(decision: ThresholdDecision, ax: Any = None) -> NDArray[Any]:
    """Draw recall and false alarms by the threshold, and recall by false alarms; give the axes."""
    left, right = grid = _panels(ax, (10, 4), 1, 2)
    columns = {name: np.array(values) for name, values in decision.curve.columns.items()}
    at, recall, alarms = (columns[k] for k in ("threshold", "recall", "false_positive_rate"))
    least, most = columns["recall_at_least"], columns["false_positive_rate_at_most"]
    for words, seen, certified, colour in (
        ("recall", recall, least, SEEN), ("false positive rate", alarms, most, SURE),
    ):  # fmt: skip
        left.plot(at, seen, color=colour, label=f"{words}, seen")
        left.fill_between(at, seen, certified, color=colour, alpha=0.25, lw=0,
                          label=f"{words}, certified within")  # fmt: skip
    left.axvline(decision.threshold, color="0.4", lw=0.8, ls="--", label="chosen")
    left.set(
        xlabel=f"threshold for class '{decision.positive}'",
        ylabel="share of the class (recall), of all others (false positives)",
        ylim=(0, 1),
    )
    right.plot(alarms, recall, color=SEEN, label="seen")
    order = np.lexsort((least, most))
    most, least = most[order], np.maximum.accumulate(least[order])
    right.plot(most, least, color=SURE, label="guaranteed")
    right.fill_between(most, 0, least, color=SURE, alpha=0.2, lw=0, step=None)
    here = int(np.argmin(np.abs(at - decision.threshold)))
    right.plot(alarms[here], recall[here], "o", color="0.3", label="chosen")
    right.set(xlabel="false positive rate", ylabel="recall", xlim=(0, 1), ylim=(0, 1))
    for axes in grid:
        tidy(axes, legend=True)
    return grid


def answering_curve(found: Answering, ax: Any = None) -> Any:
    """Draw the error among the answered by the share of rows that are answered; give the axes."""
    ax = panel(ax)
    share = np.array([own.answered / found.rows for own in found.points])
    seen = np.array([own.mistakes / max(1, own.answered) for own in found.points])
    most = np.array(found.errors)
    ax.plot(share, seen, color=SEEN, marker=".", label="seen")
    ax.fill_between(share, seen, most, color=SURE, alpha=0.25, lw=0)
    ax.plot(share, most, color=SURE, marker=".", label="certified: at most")
    if found.chosen is not None:
        ax.axvline(share[found.chosen], color="0.4", lw=0.8, ls="--", label="chosen")
    ax.set(xlabel="share of rows that are answered", ylabel="error among the answered")
    ax.set_ylim(0, min(1.0, 1.3 * float(np.median(most)) + 1e-3))
    return tidy(ax, legend=True)


# The curves of a monitor.

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
    grid = _panels(ax, (7, 2.1 * panels), panels, 1)
    if not mistakes["row"] and not drift:
        raise DataError("there is nothing to draw yet; a curve begins after 64 rows")
    curves = {name: np.array(own, float) for name, own in mistakes.items()}
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


def _goal(axes: Any, height: float, label: str) -> None:
    axes.axhline(height, color=RED, lw=0.8, ls="--", label=label)
    tidy(axes, legend=True)
