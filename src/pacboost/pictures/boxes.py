"""Lecture 002's rectangle: the target, the tightest box around the positive rows, four strips."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacboost.errors import ParameterError
from pacboost.learners.rectangle import tightest
from pacboost.numerics.checks import positive_whole, probability
from pacboost.pictures.regions import scatter
from pacboost.reports.canvas import figure, tidy
from pacboost.sources.worlds import Boxes

TARGET = Boxes((0.2, 0.25), (0.8, 0.75))


def rectangle(
    m: int = 60,
    *,
    epsilon: float = 0.1,
    world: Boxes = TARGET,
    seed: int = 0,
    ax: Any = None,
) -> Any:
    """Draw m examples of a target box, the tightest box, and the strips of the lecture's proof.

    Each strip lies within the target along one side and has mass epsilon/4 under the uniform
    distribution. If every strip holds an example, the error of the tightest box, which is the part
    of the target outside it, is at most epsilon.

    >>> rectangle(20).get_title()[:13]
    'true error 0.'
    """
    if world.features != 2:
        raise ParameterError(f"world has {world.features} features; a box with 2 can be drawn")
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


def _strips(axes: Any, world: Boxes, epsilon: float) -> None:
    """Shade four strips of mass epsilon/4; a strip is the whole target if that has less mass."""
    (left, low), (right, high) = world.lower, world.upper
    wide = min(right - left, epsilon / 4 / (high - low))
    tall = min(high - low, epsilon / 4 / (right - left))
    corners = (
        (left, low, wide, high - low), (right - wide, low, wide, high - low),
        (left, low, right - left, tall), (left, high - tall, right - left, tall),
    )  # fmt: skip
    for x, z, width, height in corners:
        axes.bar(x, height, width, bottom=z, align="edge", color="grey", alpha=0.25, lw=0)


def _outline(axes: Any, lower: Any, upper: Any, **style: Any) -> None:
    (left, low), (right, high) = lower, upper
    axes.plot([left, right, right, left, left], [low, low, high, high, low], **style)
