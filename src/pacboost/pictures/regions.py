"""Decision regions of any classifier in two features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.errors import DataError, ParameterError
from pacboost.kernels.cuda.device import in_host_memory
from pacboost.numerics.checks import positive_whole, whole
from pacboost.reports.canvas import figure, tidy

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999")
"""Colours that people with any colour vision tell apart (Okabe and Ito)."""
MARKERS = "o^sDvP*"
GRID = 200


def regions(
    classifier: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    ax: Any = None,
    *,
    features: Sequence[int] = (0, 1),
    weights: ArrayLike | None = None,
    resolution: int = GRID,
) -> Any:
    """Draw where a fitted classifier predicts which class, and the points; give the axes.

    ``classifier`` is anything with ``predict``. If X has more than the two ``features``, the others
    are held at their medians. ``weights``, such as ``model.weights(t, X, y)``, set the areas of the
    points.

    >>> from pacboost import AdaBoostClassifier
    >>> from pacboost.sources.toy import lecture_points
    >>> X, y = lecture_points()
    >>> axes = regions(AdaBoostClassifier(n_estimators=3).fit(X, y), X, y)
    >>> axes.get_xlabel()
    'x0'
    """
    points, names = _columns(X)
    first, second = _pair(features, points.shape[1])
    axes = figure((5, 4.5)).subplots() if ax is None else ax
    x, z = (_grid(points[:, j], positive_whole("resolution", resolution)) for j in (first, second))
    rows = np.tile(np.median(points, axis=0), (x.size * z.size, 1))
    rows[:, first], rows[:, second] = np.tile(x, z.size), np.repeat(z, x.size)
    said = np.asarray(in_host_memory(classifier.predict(_like(X, rows))))
    classes = np.unique(said if y is None else np.concatenate([said, np.asarray(y)]))
    shade(axes, x, z, np.searchsorted(classes, said).reshape(z.size, x.size), classes.size)
    if y is not None:
        scatter(axes, points[:, [first, second]], np.asarray(y), classes, weights)
    axes.set(xlabel=names[first], ylabel=names[second])
    return tidy(axes, legend=y is not None)


def shade(
    axes: Any, x: NDArray[Any], z: NDArray[Any], numbers: NDArray[np.intp], count: int
) -> None:
    """Fill a grid of class numbers with the light colours of the classes."""
    from matplotlib.colors import ListedColormap

    own = ListedColormap([COLOURS[k % len(COLOURS)] for k in range(count)])
    axes.pcolormesh(
        x, z, numbers, cmap=own, vmin=-0.5, vmax=count - 0.5, alpha=0.25, rasterized=True,
        shading="nearest",
    )  # fmt: skip


def scatter(
    axes: Any,
    points: NDArray[Any],
    y: NDArray[Any],
    classes: NDArray[Any],
    weights: ArrayLike | None = None,
) -> None:
    """Draw points with a colour and a marker for each class, and areas by weight."""
    shares = np.full(len(points), 1 / len(points)) if weights is None else np.asarray(weights)
    if shares.shape != (len(points),):
        raise DataError(f"weights have shape {shares.shape}; one for each of {len(points)} rows")
    areas = min(60.0, 6000 / len(points)) * len(points) * shares / shares.sum()
    for k, label in enumerate(classes):
        own = y == label
        axes.scatter(
            points[own, 0], points[own, 1], s=areas[own], label=str(label), linewidths=0.6,
            color=COLOURS[k % len(COLOURS)], marker=MARKERS[k % len(MARKERS)], edgecolors="white",
        )  # fmt: skip


def _columns(X: Any) -> tuple[NDArray[np.float64], list[str]]:
    try:
        points = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise DataError(f"regions are drawn over columns of numbers ({problem})") from problem
    if points.ndim != 2 or points.shape[1] < 2 or len(points) == 0:
        raise DataError(f"X has shape {points.shape}; rows of two features or more are needed")
    if not np.isfinite(points).all():
        raise DataError("X holds missing or infinite values; regions need finite numbers")
    names = getattr(X, "columns", None)
    return points, [f"x{j}" for j in range(points.shape[1])] if names is None else list(names)


def _like(X: Any, rows: NDArray[np.float64]) -> Any:
    """Give rows in a frame of the same columns, if X came as one."""
    return type(X)(rows, columns=X.columns) if hasattr(X, "iloc") else rows


def _pair(features: Sequence[int], count: int) -> tuple[int, int]:
    numbers = [whole("a feature", feature) for feature in features]
    if len(numbers) != 2 or numbers[0] == numbers[1] or max(numbers) >= count:
        raise ParameterError(
            f"features is {tuple(features)}; give two different columns, 0 to {count - 1}"
        )
    return numbers[0], numbers[1]


def _grid(values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Give places from a little below the least value to a little above the largest."""
    low, high = float(values.min()), float(values.max())
    beyond = 0.08 * (high - low) or 0.5
    return np.linspace(low - beyond, high + beyond, size)
