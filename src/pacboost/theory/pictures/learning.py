"""Pictures of learning: decision regions, rectangles, true errors, version spaces and cycles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.errors import DataError, ParameterError
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.models.answers import asked
from pacboost.numerics.checks import positive_whole, probability, whole
from pacboost.reports.plots import figure, tidy
from pacboost.sources.toy import cycling_matrix
from pacboost.theory.explain import staged_margins
from pacboost.theory.learners import Rectangle, tightest
from pacboost.theory.pac_learning import pac
from pacboost.theory.sample_sizes import sharp, strip_exact
from pacboost.theory.version_space import Bands
from pacboost.theory.worlds import Boxes, Ends, Intervals, World

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999")
"""Colours that are distinct with every kind of colour vision (Okabe and Ito)."""
MARKERS = "o^sDvP*"
GRID_POINTS = 200


def regions(
    classifier: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    features: Sequence[int] = (0, 1),
    weights: ArrayLike | None = None,
    resolution: int = GRID_POINTS,
) -> Any:
    """Draw the decision regions of a fitted classifier, and the points; return the axes.

    ``classifier`` is anything with ``predict``. If X has more than the two ``features``, the others
    are fixed at their medians. ``weights``, such as ``theory.weights(model, t, X, y)``, set the
    areas of the points.

    >>> from pacboost import AdaBoostClassifier
    >>> from pacboost.sources.toy import lecture_points
    >>> X, y = lecture_points()
    >>> axes = regions(AdaBoostClassifier(n_estimators=3).fit(X, y), X, y)
    >>> axes.get_xlabel()
    'x0'
    """
    points, names = _columns(X)
    numbers, count = [whole("a feature", feature) for feature in features], points.shape[1]
    if len(numbers) != 2 or numbers[0] == numbers[1] or max(numbers) >= count:
        raise ParameterError(
            f"features is {tuple(features)}; give two different columns, 0 to {count - 1}"
        )
    first, second = numbers
    axes = figure((5, 4.5)).subplots() if ax is None else ax
    x, z = (_grid(points[:, j], positive_whole("resolution", resolution)) for j in (first, second))
    rows = np.tile(np.median(points, axis=0), (x.size * z.size, 1))
    rows[:, first], rows[:, second] = np.tile(x, z.size), np.repeat(z, x.size)
    frame: Any = X
    table = type(frame)(rows, columns=frame.columns) if hasattr(X, "iloc") else rows
    predictions = asked(classifier, table)
    classes = np.unique(predictions if y is None else np.concatenate([predictions, np.asarray(y)]))
    shade(axes, x, z, np.searchsorted(classes, predictions).reshape(z.size, x.size), classes.size)
    if y is not None:
        scatter(axes, points[:, [first, second]], np.asarray(y), classes, weights)
    axes.set(xlabel=names[first], ylabel=names[second])
    return tidy(axes, legend=y is not None)


def shade(
    axes: Axes, x: NDArray[Any], z: NDArray[Any], numbers: NDArray[np.intp], count: int
) -> None:
    """Fill a grid of class numbers with the light colours of the classes."""
    from matplotlib.colors import ListedColormap

    colours = ListedColormap([COLOURS[k % len(COLOURS)] for k in range(count)])
    axes.pcolormesh(
        x, z, numbers, cmap=colours, vmin=-0.5, vmax=count - 0.5, alpha=0.25, rasterized=True,
        shading="nearest",
    )  # fmt: skip


def scatter(
    axes: Axes,
    points: NDArray[Any],
    y: NDArray[Any],
    classes: NDArray[Any],
    weights: ArrayLike | None = None,
) -> None:
    """Draw points with a colour and a marker for each class, and areas by weight."""
    shares = np.full(len(points), 1 / len(points)) if weights is None else np.asarray(weights)
    if shares.shape != (len(points),):
        raise DataError(
            f"weights have shape {shares.shape}; give one for each of {len(points)} rows"
        )
    areas = min(60.0, 6000 / len(points)) * len(points) * shares / shares.sum()
    for k, label in enumerate(classes):
        in_class = y == label
        axes.scatter(
            points[in_class, 0], points[in_class, 1], s=areas[in_class], label=str(label),
            color=COLOURS[k % len(COLOURS)], marker=MARKERS[k % len(MARKERS)], edgecolors="white",
            linewidths=0.6,
        )  # fmt: skip


def _columns(X: ArrayLike) -> tuple[NDArray[np.float64], list[str]]:
    try:
        points = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise DataError(
            f"X has columns that are not numbers; regions need numbers ({problem})"
        ) from problem
    if points.ndim != 2 or points.shape[1] < 2 or len(points) == 0:
        raise DataError(f"X has shape {points.shape}; give rows of two features or more")
    if not np.isfinite(points).all():
        raise DataError("X has missing or infinite values; regions need finite numbers")
    names = getattr(X, "columns", None)
    return points, [f"x{j}" for j in range(points.shape[1])] if names is None else list(names)


def _grid(values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    low, high = float(values.min()), float(values.max())
    beyond = 0.08 * (high - low) or 0.5
    return np.linspace(low - beyond, high + beyond, size)


TARGET = Boxes((0.2, 0.25), (0.8, 0.75))


def rectangle(
    m: int = 60,
    *,
    epsilon: float = 0.1,
    world: Boxes = TARGET,
    seed: int = 0,
    ax: Axes | None = None,
) -> Any:
    """Draw m examples of a target box, the tightest box, and the strips of the lecture's proof.

    Each strip lies within the target along one side and has mass epsilon/4 under the uniform
    distribution. If every strip holds an example, the error of the tightest box, which is the part
    of the target outside it, is at most epsilon.

    >>> rectangle(20).get_title()[:13]
    'true error 0.'
    """
    if world.features != 2:
        raise ParameterError(f"world has {world.features} features; give a world with 2")
    X, y = world.draw(positive_whole("m", m), seed)
    box = tightest(X, y)
    axes = figure((5, 5)).subplots() if ax is None else ax
    _strips(axes, world, probability("epsilon", epsilon))
    _outline(axes, world.lower, world.upper, color="black", label="target")
    if (box.lower <= box.upper).all():
        _outline(axes, box.lower, box.upper, color="#d55e00", ls="--", label="tightest box")
    scatter(axes, X, y, np.array([-1, 1]))
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="x0", ylabel="x1", aspect="equal")
    risk = float(world.box_risk(box.lower, box.upper))
    axes.set_title(f"true error {risk:.3f}, {m} examples", fontsize="medium")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=5, frameon=False)
    return tidy(axes)


SIX_POINTS = ((0.45, 0.45), (0.6, 0.6), (0.5, 0.62), (0.12, 0.75), (0.9, 0.2), (0.75, 0.92))


def consistent(ax: Axes | None = None) -> Any:
    """Draw a hypothesis that agrees with its concept on six examples, and is wrong elsewhere.

    Three examples are positive and three negative, as in lecture 002. The shaded region, where
    concept and hypothesis differ, is the true error under the uniform distribution. The title has
    the chance that six examples all miss it.

    >>> consistent().get_title()
    '0 of 6 wrong, true error 0.23: so by chance 0.22'
    """
    X, world = np.array(SIX_POINTS), TARGET
    lower, upper = (0.4, 0.35), (0.95, 0.65)
    risk = float(world.box_risk(lower, upper))
    axes = figure((5, 5)).subplots() if ax is None else ax
    x = np.linspace(0, 1, 2 * GRID_POINTS)
    rows = np.stack([np.tile(x, x.size), np.repeat(x, x.size)], axis=1)
    inside = ((rows >= lower) & (rows <= upper)).all(axis=1)
    differs = (inside != (world.truth(rows) > 0)).reshape(x.size, x.size)
    axes.contourf(x, x, differs, levels=[0.5, 1.5], colors="grey", alpha=0.35)
    _outline(axes, world.lower, world.upper, color="black", label="concept c")
    _outline(axes, lower, upper, color="#d55e00", ls="--", label="hypothesis h")
    scatter(axes, X, world.truth(X), np.array([-1, 1]))
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="x0", ylabel="x1", aspect="equal")
    chance = (1 - risk) ** len(X)
    words = f"0 of 6 wrong, true error {risk:.2f}: so by chance {chance:.2f}"
    axes.set_title(words, fontsize="medium")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=4, frameon=False)
    return tidy(axes)


def _strips(axes: Axes, world: Boxes, epsilon: float) -> None:
    """Shade four strips of mass epsilon/4; a strip is the whole target if that has less mass."""
    (x_min, low), (x_max, high) = world.lower, world.upper
    wide, tall = x_max - x_min, high - low
    strip_wide, strip_tall = min(wide, epsilon / 4 / tall), min(tall, epsilon / 4 / wide)
    for x, z, width, height in (
        (x_min, low, strip_wide, tall), (x_max - strip_wide, low, strip_wide, tall),
        (x_min, low, wide, strip_tall), (x_min, high - strip_tall, wide, strip_tall),
    ):  # fmt: skip
        axes.bar(x, height, width, bottom=z, align="edge", color="grey", alpha=0.25, lw=0)


def _outline(axes: Axes, lower: Ends, upper: Ends, **style: Any) -> None:
    (x_min, low), (x_max, high) = lower, upper
    axes.plot([x_min, x_max, x_max, x_min, x_min], [low, low, high, high, low], **style)


SIZES = (10, 20, 40, 80, 160, 320, 640)


def true_error(
    learner: object = None,
    world: World = TARGET,
    sizes: Sequence[int] = SIZES,
    *,
    delta: float = 0.05,
    trials: int = 400,
    seed: int = 0,
    ax: Axes | None = None,
) -> Any:
    """Draw the true error against the number of examples m: its mean and its 1 - delta quantile.

    The default learner is the tightest box, with its two bounds: with probability 1 - delta the
    error is at most each of them.

    >>> len(true_error(sizes=(10, 40), trials=20).get_lines())
    4
    """
    probability("delta", delta)
    if not sizes:
        raise ParameterError("sizes is empty; give some numbers of examples")
    axes = figure().subplots() if ax is None else ax
    chosen = Rectangle() if learner is None else learner
    numbers = sorted(positive_whole("m", m) for m in sizes)
    runs = [pac(world, m, chosen, trials=trials, seed=seed).risks for m in numbers]
    tails = [np.quantile(risks, 1 - delta, method="higher") for risks in runs]
    axes.plot(numbers, [np.mean(risks) for risks in runs], "o-", label="mean")
    axes.plot(numbers, tails, "^-", label=f"{1 - delta:.0%} of the runs are below")
    if learner is None and isinstance(world, Boxes):
        for bound, label in ((sharp, "bound by peeling"), (strip_exact, "bound by strips")):
            values = [min(1.0, bound(m, delta, world.features)) for m in numbers]
            axes.plot(numbers, values, "--", label=label)
    axes.set(xlabel="examples m", ylabel="true error", xscale="log", yscale="log")
    return tidy(axes, legend=True)


def version_space(
    m: int = 60,
    *,
    world: Intervals | None = None,
    cuts: int = 99,
    repeats: int = 5,
    seed: int = 0,
    ax: Axes | None = None,
) -> Any:
    """Draw the number of intervals of a grid that fit the first examples of a sample, by example.

    Hypotheses are the intervals between ``cuts`` equally spaced cuts in [0, 1]; those without
    mistakes are the version space. Each line is another sample of the same world.

    >>> version_space(5, cuts=9, repeats=2).get_ylabel()
    'hypotheses without a mistake'
    """
    world = Intervals(((0.3, 0.6),)) if world is None else world
    places = np.linspace(0, 1, positive_whole("cuts", cuts) + 2)[1:-1]
    grid = Bands(tuple(places.tolist()), feature=0, intervals=True)
    last = positive_whole("m", m)
    axes = figure().subplots() if ax is None else ax
    for number in range(positive_whole("repeats", repeats)):
        X, y = world.draw(last, seed + number)
        counts = [grid.search(X[:m], y[:m]).survivors or 0 for m in range(1, last + 1)]
        label = "one sample each" if number == 0 else None
        axes.step(range(last + 1), [grid.size(1), *counts], where="post", lw=1, label=label)
    axes.set(xlabel="examples", ylabel="hypotheses without a mistake", yscale="log")
    axes.set_ylim(bottom=0.8)
    return tidy(axes, legend=True)


Doubles = NDArray[np.float64]
BITS, SHARED_BITS = 21, 11


def long_servedio_points(
    m: int, noise: float, seed: int
) -> tuple[Doubles, NDArray[np.int64], NDArray[np.int64]]:
    """Draw Long and Servedio's (2010) rows of 21 signs: rows, flipped labels, and true labels.

    A quarter agree with the label in all bits, a quarter in the first eleven alone, and half in
    five of the first eleven and six of the last ten. The majority of all bits is always right.

    >>> X, _, y = long_servedio_points(100, 0.1, 0)
    >>> bool((np.sign(X.sum(axis=1)) == y).all())
    True
    """
    generator = np.random.default_rng(seed)
    y = generator.choice([-1, 1], m)
    agree = np.ones((m, BITS))
    kind = generator.random(m)
    agree[(kind >= 0.25) & (kind < 0.5), SHARED_BITS:] = -1
    for row in np.flatnonzero(kind >= 0.5):
        agree[row] = -1
        agree[row, generator.choice(SHARED_BITS, 5, replace=False)] = 1
        agree[row, SHARED_BITS + generator.choice(BITS - SHARED_BITS, 6, replace=False)] = 1
    return agree * y[:, None], np.where(generator.random(m) < noise, -y, y), y


def cycling(rounds: int = 1000, ax: Axes | None = None) -> Any:
    """Draw the smallest margin of AdaBoost on eight rows, which stays at 1/3 instead of 3/8.

    The matrix is Rudin, Daubechies and Schapire's (2004). ArcGV reaches the largest possible
    margin, the value of the game between rows and rules.

    >>> len(cycling(rounds=20).get_lines())
    3
    """
    axes = figure().subplots() if ax is None else ax
    last = positive_whole("rounds", rounds)
    for booster, label in (("adaboost", "AdaBoost"), ("arc_gv", "ArcGV")):
        margins = cycling_margins(booster, last)
        axes.plot(np.arange(1, margins.size + 1), margins, label=label)
    axes.axhline(3 / 8, color="grey", ls="--", label="largest possible, 3/8")
    axes.set(xlabel="round", ylabel="least margin", xscale="log", ylim=(0, 0.42))
    return tidy(axes, legend=True)


def cycling_margins(booster: str, rounds: int) -> Doubles:
    """Return the smallest margin after each round of a booster that chooses among the columns."""
    matrix = cycling_matrix()
    y = np.array([1, -1] * 4)

    def best(X: Doubles, signs: NDArray[Any], weights: Doubles) -> Any:
        edges = weights @ matrix
        column = int(np.flatnonzero(edges >= edges.max() - 1e-9)[0])
        return lambda rows: (matrix[:, column] * y)[rows[:, 0].astype(np.intp)]

    rows = np.arange(8.0)[:, None]
    model = BoostClassifier(booster, best, rounds, early_stopping=False).fit(rows, y)
    return np.array([margins.min() for margins in staged_margins(model, rows, y)])
