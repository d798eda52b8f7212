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
from numpy.typing import ArrayLike, NDArray

from pacboost.errors import DataError, FileError, PacboostError
from pacboost.numerics.checks import positive_whole
from pacboost.numerics.interactive import in_notebook

if TYPE_CHECKING:  # a picture of a plan needs no compiler
    from pacboost.bounds.answering import Answering
    from pacboost.bounds.decision import ThresholdDecision
    from pacboost.hypotheses.shapes import Shape, Shapes
    from pacboost.ledgers.ledger import HardRow, Ledger


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
"""The colours of reports."""


def panel(ax: Any = None, size: tuple[float, float] = (7, 4.5)) -> Any:
    """Return ``ax``, or the axes of a new figure, with the colours of reports."""
    axes = figure(size).subplots() if ax is None else ax
    axes.set_prop_cycle(color=[*COLOURS, "#5a5f67", "#7db3ee", "#f28b78", "#dcb35a"])
    return axes


def tidy(axes: Any, *, legend: bool = False) -> Any:
    """Remove the top and right spines."""
    axes.spines[["top", "right"]].set_visible(False)
    if legend:
        axes.legend(frameon=False)
    return axes


def shade(place: int, count: int) -> tuple[float, float, float]:
    """Return a blue for one of several curves, darker for later ones."""
    light = 0.85 - 0.8 * (place + 1) / count
    return 0.1 + 0.8 * light, 0.25 + 0.6 * light, 0.45 + 0.5 * light


def save(drawn: Any, path: Path) -> None:
    """Write a figure in the format of the file's extension."""
    try:
        drawn.savefig(path)
    except (OSError, ValueError) as problem:
        raise FileError(f"{path}: cannot be written ({problem})") from problem


COUNTS = ("examples", "rounds", "draws", "runs", "lower")
LOG_FROM_RATIO = 30
"""The scale is logarithmic if rates differ by this factor or more."""
MAX_PANELS_PER_ROW = 4
MAX_LEVEL_NAMES = 12
"""Maximum number of levels of a category with a name at the axis."""


def plan_curve(ask: Callable[..., Any], parameters: Mapping[str, Any], path: Path) -> None:
    """Draw the plans of a question against its first fractional parameter."""
    drawn = figure()
    axes = drawn.subplots()
    name = next((key for key, value in parameters.items() if isinstance(value, float)), None)
    if name is None:
        raise PacboostError("this question has no fractional parameter; a curve needs one")
    value_asked = parameters[name]
    values = np.append(
        np.geomspace(value_asked / 4, min(value_asked * 4, (1 + value_asked) / 2), 24), value_asked
    )
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


WRONG = "share of the rows that are wrong"


def rounds(
    ledger: Ledger,
    ax: Any = None,
    test: Sequence[float] | None = None,
    *,
    loss: bool = False,
) -> Any:
    """Draw the error after each round, with the product of normalisers as a bound.

    With ``loss`` the ledger is that of a regression, and its mean loss is drawn. The validation
    error or loss is in the same axes; another validation metric has a second scale at the right.
    ``test`` has the error or loss of test rows after each rule of the final vote. If the numbers of
    rules and rounds differ, its last value is drawn as a horizontal line.
    """
    if len(ledger) == 0:
        raise DataError("the ledger has no rounds, so there is nothing to draw; fit first")
    axes = panel(ax)
    what = "loss" if loss else "error"
    columns = ledger.columns()
    lines = {} if loss else {"bound on training error": np.array(columns["bound"])}
    styles: dict[str, dict[str, str]] = {"bound on training error": {"ls": "--", "color": "grey"}}
    lines[f"training {what}"] = np.array(columns["training_error"], dtype=np.float64)
    watched = np.array(columns["validation"], dtype=np.float64)  # NaN if there is none
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
    wide = positive.size and positive.max() >= LOG_FROM_RATIO * positive.min()
    if wide and not (loss and (everything <= 0).any()):
        axes.set_yscale("log")
    units = f"mean loss ({ledger.potential.replace('_', ' ')})" if loss else WRONG
    axes.set(xlabel="round", ylabel=units)
    if apart:  # another unit, with a scale at the right but in the same legend
        other, label = axes.twinx(), f"validation {metric.replace('_', ' ')}"
        other.plot(columns["number"], watched, color=RED, label=label)
        other.set_ylabel(label)
        other.spines["top"].set_visible(False)
        axes.plot([], [], color=RED, label=label)
    return tidy(axes, legend=True)


def margins(curves: Mapping[int, ArrayLike], ax: Any = None) -> Any:
    """Draw the distribution of margins after some rounds.

    The margin of a row is positive if the vote is right, and 1 if all its rules are.
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
    """Draw the effect of each feature on the score as a step function; return the axes.

    Features with the widest range come first. A category has a mark for each level. A dashed line
    is the effect of a missing value. ``ax`` may be several axes, at least one for each feature.
    """
    if not shapes.features:
        raise DataError("the vote uses no feature, so there are no step functions to draw")
    features = shapes.features
    chosen = sorted(features, key=lambda j: (-features[j].span, j))[: positive_whole("top", top)]
    count = len(chosen)
    wide = min(count, MAX_PANELS_PER_ROW)
    high = -(-count // wide)
    size = (max(4.0, 2.6 * wide), max(3.0, 2.2 * high))
    grid = _panels(ax, size, high, wide, count, sharey=True)
    for axes, j in zip(grid, chosen, strict=True):
        _shape(axes, features[j], shapes.answers)
    grid[0].set_ylabel("added to the score")
    grid[0].legend(frameon=False, fontsize="small")
    return grid


def _panels(
    ax: Any,
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


def _shape(axes: Any, shape: Shape, answers: Sequence[str]) -> None:
    answers = answers or ("score",)  # a regression has no classes
    for k, answer in enumerate(answers):
        color = COLOURS[k] if k < len(COLOURS) else f"C{k}"
        label = "score" if len(answers) == 1 else answer
        if shape.levels:
            places = np.arange(len(shape.levels))
            axes.plot(places, shape.values[:, k], "o", ms=4, color=color, label=label)
        else:
            heights, edges = shape.values[:, k], _edges(shape.thresholds)
            axes.stairs(heights, edges, baseline=None, lw=1.5, color=color, label=label)
        style = {"color": GOLD, "label": "if missing"} if len(answers) == 1 else {}
        axes.axhline(shape.missing[k], **{"color": color, "ls": "--", "lw": 1, **style})
    axes.axhline(0, color="grey", lw=0.6, zorder=0)
    axes.set_xlabel(shape.name)
    if shape.levels:
        step = -(-len(shape.levels) // MAX_LEVEL_NAMES)
        shown = range(0, len(shape.levels), step)
        axes.set_xticks(shown, [shape.levels[k] for k in shown], rotation=45, ha="right")
    elif shape.thresholds.size == 0:
        axes.set_xticks([])  # constant
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
    """Draw the largest shares as bars, the largest on top; ``spread`` gives error bars."""
    heights = np.asarray(shares, dtype=np.float64)
    if heights.ndim != 1 or heights.size == 0 or (names is not None and len(names) != heights.size):
        count = "no" if names is None else len(names)
        raise DataError(
            f"there are {count} names for shares of shape {heights.shape}; give one for each share"
        )
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
    note = "" if largest.size == heights.size else f" ({largest.size} largest of {heights.size})"
    axes.set_xlabel(f"{label}{note}")
    axes.tick_params(axis="y", length=0)
    return tidy(axes)


def _edges(thresholds: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the ends of steps: the thresholds, and points slightly beyond the outer ones."""
    inner = thresholds.astype(np.float64)
    if inner.size == 0:
        return np.array([0.0, 1.0])
    beyond = 0.08 * np.ptp(inner) or max(0.5 * abs(inner[0]), 0.5)
    return np.concatenate([[inner[0] - beyond], inner, [inner[-1] + beyond]])


def _with_zeros(label: str, values: NDArray[np.float64], columns: Mapping[str, list[Any]]) -> str:
    """Add to a label the round from which a line is 0, which a logarithmic scale cannot show."""
    if values[-1] != 0:
        return label
    last = np.flatnonzero(values)
    start = columns["number"][last[-1] + 1 if last.size else 0]
    return f"{label} (0 from round {start} on)"


MAX_POINTS = 500
"""Maximum number of rows drawn; of more rows, quantiles are drawn."""


def equaliser(curves: Mapping[int, ArrayLike], ax: Any = None) -> Any:
    """Draw the weighted share of rules that err on each row after some rounds, from margins.

    The rows with the largest shares come first. Boosting flattens the line towards equal shares
    (Breiman 1999). The legend has the spread, the standard deviation over rows.
    """
    if not curves:
        raise DataError("there are no margins to draw; give those of one round at least")
    axes = panel(ax)
    for later, number in enumerate(sorted(curves)):
        wrong = (1 - np.asarray(curves[number], dtype=np.float64)) / 2
        if wrong.ndim != 1 or not wrong.size:
            raise DataError(f"the margins after round {number} are not a list of numbers")
        places = np.linspace(0, 1, min(wrong.size, MAX_POINTS))
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


MEASURED, CERTIFIED = BLUE, RED


def threshold_curves(decision: ThresholdDecision, ax: Any = None) -> NDArray[Any]:
    """Draw recall and false alarms by threshold, and recall by false alarms; return the axes."""
    by_threshold, by_alarms = grid = _panels(ax, (10, 4), 1, 2)
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
        xlabel=f"threshold for class '{decision.positive}'",
        ylabel="share of the class (recall), of all others (false positives)",
        ylim=(0, 1),
    )
    by_alarms.plot(alarms, recall, color=MEASURED, label="seen")
    order = np.lexsort((recall_lower, alarms_upper))
    alarms_upper, recall_lower = alarms_upper[order], np.maximum.accumulate(recall_lower[order])
    by_alarms.plot(alarms_upper, recall_lower, color=CERTIFIED, label="guaranteed")
    by_alarms.fill_between(
        alarms_upper, 0, recall_lower, color=CERTIFIED, alpha=0.2, lw=0, step=None
    )
    here = int(np.argmin(np.abs(at - decision.threshold)))
    by_alarms.plot(alarms[here], recall[here], "o", color="0.3", label="chosen")
    by_alarms.set(xlabel="false positive rate", ylabel="recall", xlim=(0, 1), ylim=(0, 1))
    for axes in grid:
        tidy(axes, legend=True)
    return grid


def answering_curve(answering: Answering, ax: Any = None) -> Any:
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
    ax: Any = None,
) -> NDArray[Any]:
    """Draw the error with its interval, both capitals, and the detector in a column of panels."""
    panels = 3 if drift is None else 4
    grid = _panels(ax, (7, 2.1 * panels), panels, 1)
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


def _goal(axes: Any, height: float, label: str) -> None:
    axes.axhline(height, color=RED, lw=0.8, ls="--", label=label)
    tidy(axes, legend=True)
