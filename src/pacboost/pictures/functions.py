"""Functions of the margin: the losses that boosters minimise, and the ramp of lecture 003."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacboost.numerics.checks import probability
from pacboost.reports.canvas import figure, tidy


def losses(ax: Any = None) -> Any:
    """Draw exponential, logistic and 0-1 loss against the margin y·F(x).

    The first two lie above the third, which is why their means bound the training error.

    >>> len(losses().get_lines())
    3
    """
    axes = figure().subplots() if ax is None else ax
    margins = np.linspace(-2, 3, 501)
    axes.plot(margins, np.exp(-margins), label="exponential: exp(−yF)")
    axes.plot(margins, np.log2(1 + np.exp(-2 * margins)), label="logistic: log₂(1 + exp(−2yF))")
    axes.step([-2, 0, 3], [1, 1, 0], where="pre", color="black", label="0–1: mistakes, and ties")
    axes.set(xlabel="margin yF(x)", ylabel="loss", ylim=(-0.05, 5))
    return tidy(axes, legend=True)


def ramp(edge: float = 0.2, epsilon: float = 0.1, ax: Any = None) -> Any:
    """Draw the measure of lecture 003: how much a row counts by the majority of rules so far.

    N counts how many more rules are right on the row than wrong. M is 1 up to N = 0, falls by the
    slope edge·epsilon with every further rule, and is 0 from N = 1/(edge·epsilon) on.

    >>> ramp().get_ylabel()
    'M(x): chance that the filter keeps x'
    """
    slope = probability("edge", edge) * probability("epsilon", epsilon)
    axes = figure().subplots() if ax is None else ax
    end = 1 / slope
    axes.plot([-end / 2, 0, end, 1.4 * end], [1, 1, 0, 0])
    axes.axvline(0, color="grey", lw=0.8)
    axes.annotate(
        f"1/(εγ) = {end:.3g}", (end, 0), (end, 0.25), ha="center", arrowprops={"arrowstyle": "->"}
    )
    axes.set(
        xlabel="N(x): right rules minus wrong rules", ylabel="M(x): chance that the filter keeps x"
    )
    return tidy(axes)
