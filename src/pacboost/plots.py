"""Pictures of fitted models, with matplotlib.

Every function takes a fitted model, draws on ``ax`` or on a new figure, and returns the axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils.validation import check_is_fitted

from pacboost.errors import DataError, ParameterError
from pacboost.estimators.fitted.judging import (
    labelled,
    margins_after,
    refuse_half,
    staged_errors,
    vote_of,
    with_targets,
)
from pacboost.hypotheses.shapes import Shape, Shapes
from pacboost.kernels.threads import using
from pacboost.ledgers.ledger import Ledger
from pacboost.models.explain.explanation import class_number
from pacboost.models.explain.importances import Importances
from pacboost.numerics.checks import positive_whole
from pacboost.reports.page.rules import LOG_FROM_RATIO, MAX_BOUND_RATIO
from pacboost.reports.plots import BLUE, COLOURS, GOLD, RED, label_text, panel, panels, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "equaliser", "hardest", "importances", "margins", "partial_dependence", "rounds", "shapes",
]  # fmt: skip

BOUND = "bound on training error"
MAX_PANELS_PER_ROW = 4
MAX_LEVEL_NAMES = 12
MAX_POINTS = 500

Doubles = NDArray[np.float64]


def rounds(
    model: BaseEstimator,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw the training error after each round, with its bound; for regressors, the mean loss.

    The validation error or loss is in the same axes; another validation metric has a second scale
    at the right. If the final vote has another number of rules than rounds, the error of the rows
    given is drawn as a horizontal line.

    Parameters
    ----------
    model : fitted booster
    X, y : array-like, default=None
        Rows and their labels or targets, best test rows; their error or loss is also drawn.
    ax : matplotlib axes, default=None
    """
    refuse_half(X, y)
    model = vote_of(model)
    ledger: Ledger = model.model_.ledger
    test: Sequence[float] | None = None
    if X is not None and not is_regressor(model):
        test = staged_errors(model, X, y)
    elif X is not None:
        sample, measure = with_targets(model, X, y), model._measure("loss")
        with using(model.n_jobs):
            staged = model.model_.vote.staged(sample.table)
            test = [measure(sample, scores[:, None]) for scores in staged]
    return draw_rounds(ledger, ax, test, loss=is_regressor(model))


def draw_rounds(
    ledger: Ledger,
    ax: Axes | None = None,
    test: Sequence[float] | None = None,
    *,
    loss: bool = False,
) -> Any:
    """Draw a ledger; ``test`` has the error or loss of test rows after each rule of the vote."""
    if len(ledger) == 0:
        raise DataError("the ledger has no rounds, so there is nothing to draw; fit first")
    axes = panel(ax)
    what = "loss" if loss else "error"
    columns = ledger.columns()
    lines = {} if loss else {BOUND: np.array(columns["bound"])}
    styles: dict[str, dict[str, Any]] = {BOUND: {"ls": "--", "color": "grey"}}
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
    elif not loss:
        # a bound far above the curves would squeeze them
        measured = [values for label, values in lines.items() if label != BOUND]
        axes.set_ylim(top=MAX_BOUND_RATIO * float(np.nanmax(np.concatenate(measured))) or None)
    units = "share of the rows that are wrong"
    if loss:
        units = f"mean loss ({ledger.potential.replace('_', ' ')})"
    axes.set(xlabel="round", ylabel=units)
    if apart:  # another unit, with a scale at the right but in the same legend
        other, label = axes.twinx(), f"validation {metric.replace('_', ' ')}"
        other.plot(columns["number"], watched, color=RED, label=label)
        other.set_ylabel(label)
        other.spines["top"].set_visible(False)
        axes.plot([], [], color=RED, label=label)
    return tidy(axes, legend=True)


def _with_zeros(label: str, values: Doubles, columns: Mapping[str, list[Any]]) -> str:
    """Add to a label the round from which a line is 0, which a logarithmic scale cannot show."""
    if values[-1] != 0:
        return label
    last = np.flatnonzero(values)
    start = columns["number"][last[-1] + 1 if last.size else 0]
    return f"{label} (0 from round {start} on)"


def importances(
    model: BaseEstimator,
    importances: Importances | None = None,
    ax: Axes | None = None,
    top: int = 20,
) -> Any:
    """Draw feature importances, the largest on top.

    Parameters
    ----------
    model : fitted model
    importances : Importances, default=None
        The result of ``permutation_importances``; None means ``feature_importances_``.
    ax : matplotlib axes, default=None
    top : int, default=20
        The maximum number of features.
    """
    check_is_fitted(model)
    names, heights, spread = model.model_.column_names, model.model_.importances(), None
    label = "share of the importance"
    if importances is not None:
        names, heights, spread = importances.names, importances.mean, importances.std
        label = f"{importances.metric.replace('_', ' ')}: worse by, when shuffled"
    largest = np.argsort(-heights, kind="stable")[: positive_whole("top", top)]
    axes = panel(ax, (7, 1 + 0.28 * largest.size))
    places = np.arange(largest.size)
    widths = None if spread is None else spread[largest]
    bars = axes.barh(places, heights[largest], height=0.7, xerr=widths)
    axes.bar_label(bars, fmt="{:.2g}", padding=3, fontsize="small")
    note = "" if largest.size == heights.size else f" ({largest.size} largest of {heights.size})"
    axes.margins(x=0.1)
    axes.set_xlabel(f"{label}{note}")
    return _named_bars(axes, [names[j] for j in largest])


def shapes(
    model: BaseEstimator, ax: Axes | None = None, top: int = 12, *, for_class: object = None
) -> NDArray[Any]:
    """Draw the effect of each feature on the score, for votes that have ``shapes``.

    Features with the widest range come first. A category has a mark for each level. A dashed line
    is the effect of a missing value.

    Parameters
    ----------
    model : fitted model
    ax : matplotlib axes or array of axes, default=None
    top : int, default=12
        The maximum number of features.
    for_class : label, default=None
        The class to draw, if there are more than two; None means all.
    """
    check_is_fitted(model)
    return _steps(model, model.shapes(), ax, top, for_class)


def partial_dependence(
    model: BaseEstimator,
    X: ArrayLike | None = None,
    features: Sequence[int | str] | None = None,
    ax: Axes | None = None,
    top: int = 12,
    *,
    for_class: object = None,
) -> NDArray[Any]:
    """Draw ``partial_dependence``, one panel for each feature.

    Parameters
    ----------
    model : fitted model
    X : array-like, default=None
        Rows to average over, for forests.
    features : sequence of int or str, default=None
    ax : matplotlib axes or array of axes, default=None
    top : int, default=12
        The maximum number of features.
    for_class : label, default=None
        The class to draw, if there are more than two; None means all.
    """
    rows = {} if X is None else {"X": X}
    steps = model.partial_dependence(features, top=top, **rows)
    return _steps(model, steps, ax, max(top, len(steps.features)), for_class)


def _steps(
    model: BaseEstimator, steps: Shapes, ax: Axes | None, top: int, for_class: object
) -> NDArray[Any]:
    number = class_number(model.model_.classes.tolist(), for_class)
    if number is not None and len(steps.answers) == 1:
        raise ParameterError(
            f"for_class is {for_class!r}, but two classes have one score, that of "
            f"{steps.answers[0]!r}; omit for_class"
        )
    return draw_shapes(steps if number is None else steps.of(number), ax, top)


def draw_shapes(shapes: Shapes, ax: Axes | None = None, top: int = 12) -> NDArray[Any]:
    """Draw step functions, one panel for each feature."""
    if not shapes.features:
        raise DataError("the vote uses no feature, so there are no step functions to draw")
    features = shapes.features
    chosen = sorted(features, key=lambda j: (-features[j].span, j))[: positive_whole("top", top)]
    count = len(chosen)
    wide = min(count, MAX_PANELS_PER_ROW)
    high = -(-count // wide)
    size = (max(4.0, 2.6 * wide), max(3.0, 2.2 * high))
    grid = panels(ax, size, high, wide, count, sharey=True)
    for axes, j in zip(grid, chosen, strict=True):
        _shape(axes, features[j], shapes.answers)
        kind = shapes.names.levels.kind(j)
        if kind.spells_axis:
            axes.locator_params(axis="x", nbins=3)
            axes.xaxis.set_major_formatter(lambda value, _, kind=kind: kind.show(value))
    grid[0].set_ylabel("added to the score")
    grid[0].legend(frameon=False, fontsize="small")
    return grid


def _shape(axes: Axes, shape: Shape, answers: Sequence[str]) -> None:
    answers = answers or ("score",)  # a regression has no classes
    for k, answer in enumerate(answers):
        color = COLOURS[k] if k < len(COLOURS) else f"C{k}"
        label = "score" if len(answers) == 1 else label_text(answer)
        if shape.levels:
            places = np.arange(len(shape.levels))
            axes.plot(places, shape.values[:, k], "o", ms=4, color=color, label=label)
        else:
            heights, edges = shape.values[:, k], _edges(shape.thresholds)
            axes.stairs(heights, edges, baseline=None, lw=1.5, color=color, label=label)
        missing_color, missing_label = (GOLD, "if missing") if len(answers) == 1 else (color, None)
        axes.axhline(shape.missing[k], color=missing_color, ls="--", lw=1, label=missing_label)
    axes.axhline(0, color="grey", lw=0.6, zorder=0)
    axes.set_xlabel(label_text(shape.name))
    if shape.levels:
        step = -(-len(shape.levels) // MAX_LEVEL_NAMES)
        shown = range(0, len(shape.levels), step)
        labels = [label_text(shape.levels[k]) for k in shown]
        axes.set_xticks(shown, labels, rotation=45, ha="right")
    elif shape.thresholds.size == 0:
        axes.set_xticks([])  # constant
    tidy(axes)


def _edges(thresholds: NDArray[np.float32]) -> Doubles:
    """Return the ends of steps: the thresholds, and points slightly beyond the outer ones."""
    inner = thresholds.astype(np.float64)
    if inner.size == 0:
        return np.array([0.0, 1.0])
    beyond = 0.08 * np.ptp(inner) or max(0.5 * abs(inner[0]), 0.5)
    return np.concatenate([[inner[0] - beyond], inner, [inner[-1] + beyond]])


def margins(
    model: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    rounds: Sequence[int] | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw the distribution of the margins of rows after some rounds.

    The margin of a row is positive if the vote is right, and 1 if all its rules are. With several
    labels every pair of row and label has a margin.

    Parameters
    ----------
    model : fitted booster
    X, y : array-like
        Rows and their labels.
    rounds : sequence of int, default=None
    ax : matplotlib axes, default=None
    """
    return draw_margins(_margins(model, X, y, rounds), ax)


def draw_margins(curves: Mapping[int, Doubles], ax: Axes | None = None) -> Any:
    """Draw the distribution of margins, by rounds."""
    axes = panel(ax)
    for later, number in enumerate(sorted(curves)):
        values = np.asarray(curves[number], dtype=np.float64)
        # Not matplotlib's ecdf: with compress=True it miscounts equal values.
        places, counts = np.unique(np.clip(values, -1, 1), return_counts=True)
        below = np.concatenate([[0], np.cumsum(counts), [values.size]]) / values.size
        axes.step(
            np.concatenate([[-1], places, [1]]), below, where="post",
            color=_shade(later, len(curves)), label=f"after round {number}",
        )  # fmt: skip
    axes.axvline(0, color=RED, lw=0.8)
    axes.set(xlim=(-1, 1), ylim=(0, 1))
    axes.set(xlabel="margin", ylabel="share of the rows with at most this margin")
    return tidy(axes, legend=True)


def equaliser(
    model: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    rounds: Sequence[int] | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw, for each row, the weighted share of rules that get it wrong, after some rounds.

    The rows with the largest shares come first. Boosting makes these shares more equal: a row that
    many rules get wrong gains weight in the next rounds (Breiman 1999). The legend has the spread,
    the standard deviation over rows. Two classes only.

    Parameters
    ----------
    model : fitted booster of two classes
    X, y : array-like
        Rows and their labels.
    rounds : sequence of int, default=None
    ax : matplotlib axes, default=None
    """
    check_is_fitted(model)
    if model.model_.vote.outputs > 1:
        raise DataError("the model has more than two classes; use plots.margins")
    return draw_equaliser(_margins(model, X, y, rounds), ax)


def draw_equaliser(curves: Mapping[int, Doubles], ax: Axes | None = None) -> Any:
    """Draw the weighted share of rules that err on each row, from margins by rounds."""
    axes = panel(ax)
    for later, number in enumerate(sorted(curves)):
        wrong = (1 - np.asarray(curves[number], dtype=np.float64)) / 2
        places = np.linspace(0, 1, min(wrong.size, MAX_POINTS))
        axes.plot(
            places, np.quantile(wrong, 1 - places), color=_shade(later, len(curves)),
            label=f"after round {number}: spread {wrong.std():.3f}",
        )  # fmt: skip
    axes.axhline(0.5, color=RED, lw=0.8)
    axes.set(xlim=(0, 1), ylim=(-0.02, 1.02))
    axes.set(xlabel="rows, hardest first", ylabel="weighted share of rules that are wrong")
    return tidy(axes, legend=True)


def hardest(model: BaseEstimator, k: int = 20, ax: Axes | None = None) -> Any:
    """Draw the k training rows with the smallest margins: outliers and wrong labels.

    Parameters
    ----------
    model : fitted booster
    k : int, default=20
    ax : matplotlib axes, default=None
    """
    check_is_fitted(model)
    rows = model.model_.ledger.hardest(k)
    axes = panel(ax, (7, 1 + 0.28 * len(rows)))
    colours = [RED if entry.margin <= 0 else BLUE for entry in rows]
    margins = [entry.margin for entry in rows]
    axes.barh(np.arange(len(rows)), margins, height=0.7, color=colours)
    axes.axvline(0, color="grey", lw=0.8)
    axes.set_xlabel("margin (below 0: the vote is wrong)")
    return _named_bars(axes, [f"row {entry.row}: {entry.label}" for entry in rows])


def _named_bars(axes: Axes, names: Sequence[str]) -> Any:
    """Name horizontal bars, the first on top."""
    axes.set_yticks(np.arange(len(names)), [label_text(name) for name in names])
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    return tidy(axes)


def _shade(place: int, count: int) -> tuple[float, float, float]:
    """Return a blue for one of several curves, darker for later ones."""
    light = 0.85 - 0.8 * (place + 1) / count
    return 0.1 + 0.8 * light, 0.25 + 0.6 * light, 0.45 + 0.5 * light


def _margins(
    model: BaseEstimator, X: ArrayLike, y: ArrayLike, rounds: Sequence[int] | None
) -> dict[int, Doubles]:
    model = vote_of(model)
    sample = labelled(model, X, y)
    with using(model.n_jobs):
        return margins_after(model.model_, sample, rounds)
