"""How the true error falls with the number of examples, and how the version space shrinks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pacboost.bounds.rectangle import sharp, strip_exact
from pacboost.errors import ParameterError
from pacboost.learners.rectangle import Rectangle
from pacboost.learners.version_space import Bands
from pacboost.numerics.checks import positive_whole, probability
from pacboost.pictures.boxes import TARGET
from pacboost.questions.pac import pac
from pacboost.reports.canvas import figure, tidy
from pacboost.sources.worlds import Boxes, Intervals, World

SIZES = (10, 20, 40, 80, 160, 320, 640)


def true_error(
    learner: Any = None,
    world: World = TARGET,
    sizes: Sequence[int] = SIZES,
    *,
    delta: float = 0.05,
    trials: int = 400,
    seed: int = 0,
    ax: Any = None,
) -> Any:
    """Draw the true error against the number of examples m: its mean, and the tail above 1 - delta.

    Without a learner it is the tightest box in a world of boxes, beside its two bounds: with
    probability 1 - delta the error is not above them.

    >>> len(true_error(sizes=(10, 40), trials=20).get_lines())
    4
    """
    probability("delta", delta)
    if not sizes:
        raise ParameterError("sizes is empty; name some numbers of examples")
    axes = figure().subplots() if ax is None else ax
    chosen = Rectangle() if learner is None else learner
    numbers = sorted(positive_whole("m", m) for m in sizes)
    runs = [pac(chosen, world, m, trials=trials, seed=seed).risks for m in numbers]
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
    ax: Any = None,
) -> Any:
    """Draw how many intervals of a grid fit the first examples of a sample, example by example.

    Hypotheses are the intervals between ``cuts`` equally spaced cuts in [0, 1]; those that make no
    mistake so far are the version space. Each line is another sample of the same world.

    >>> version_space(5, cuts=9, repeats=2).get_ylabel()
    'hypotheses without a mistake'
    """
    inside = Intervals(((0.3, 0.6),)) if world is None else world
    places = np.linspace(0, 1, positive_whole("cuts", cuts) + 2)[1:-1]
    grid = Bands(tuple(places.tolist()), feature=0, intervals=True)
    last = positive_whole("m", m)
    axes = figure().subplots() if ax is None else ax
    for number in range(positive_whole("repeats", repeats)):
        X, y = inside.draw(last, seed + number)
        left = [grid.search(X[:count], y[:count]).survivors for count in range(1, last + 1)]
        label = "one sample each" if number == 0 else None
        axes.step(range(last + 1), [grid.size(1), *left], where="post", lw=1, label=label)
    axes.set(xlabel="examples", ylabel="hypotheses without a mistake", yscale="log")
    axes.set_ylim(bottom=0.8)
    return tidy(axes, legend=True)
