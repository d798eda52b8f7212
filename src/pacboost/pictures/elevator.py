"""Lecture 003's elevator: rows ride up with every right rule and down with every wrong one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.measure import Measure
from pacboost.numerics.checks import positive_whole, probability
from pacboost.reports.canvas import figure, tidy

Doubles = NDArray[np.float64]
CHANCES = {"right 3 times in 4": 0.75, "right as often as wrong": 0.5}


def elevator(
    rounds: int = 200, *, edge: float = 0.4, epsilon: float = 0.1, seed: int = 0
) -> NDArray[Any]:
    """Draw the floors N of some rows, round by round, and what they collect; give the two axes.

    A row on floor N weighs M(N): 1 up to floor 0, less by edge·epsilon on every floor above, and
    nothing from floor 1/(edge·epsilon) on. A right rule collects M and takes the row up one floor,
    a wrong one costs M and takes it down. Whatever the ride, after i rounds no more than
    1/(2·edge·epsilon) + edge·epsilon·i/2 is collected: that is why the rounds come to an end.

    >>> [place.get_ylabel() for place in elevator(20)]
    ['floor N: right rules minus wrong rules', 'collected: sum of ±M']
    """
    slope = probability("edge", edge) * probability("epsilon", epsilon)
    last = positive_whole("rounds", rounds)
    axes: NDArray[Any] = figure((9, 3.8)).subplots(1, 2)
    rules = Measure(edge, epsilon, share=1.0)
    number = np.arange(last + 1)
    for label, ride in rides(last, slope, seed).items():
        floors, collected = ridden(ride, rules)
        axes[0].plot(number, floors, label=label, drawstyle="steps-post")
        axes[1].plot(number, collected, label=label)
    _weights(axes[0], 1 / slope)
    bound = 1 / (2 * slope) + slope * number / 2
    axes[1].plot(number, bound, color="black", ls="--", label="1/(2εγ) + εγi/2")
    axes[0].set(xlabel="round", ylabel="floor N: right rules minus wrong rules")
    axes[1].set(xlabel="round", ylabel="collected: sum of ±M")
    for place, corner in zip(axes, ("upper left", "lower left"), strict=True):
        tidy(place).legend(frameon=False, loc=corner)
    return axes


def rides(rounds: int, slope: float, seed: int) -> dict[str, NDArray[np.int64]]:
    """Give rides as steps of ±1: the one that collects most, and rows that are right by chance.

    The first goes up to the floor where nothing weighs, then one floor down and up again.

    >>> rides(6, 0.5, 0)["the ride that collects most"].tolist()
    [1, 1, -1, 1, -1, 1]
    """
    top = round(1 / slope)
    best = np.where((np.arange(rounds) < top) | ((np.arange(rounds) - top) % 2 == 1), 1, -1)
    generator = np.random.default_rng(seed)
    found = {"the ride that collects most": best}
    for label, chance in CHANCES.items():
        found[label] = np.where(generator.random(rounds) < chance, 1, -1)
    return found


def ridden(ride: NDArray[np.int64], rules: Measure) -> tuple[Doubles, Doubles]:
    """Give the floors and what was collected, before the first round and after each."""
    floors = np.concatenate([[0], np.cumsum(ride)]).astype(np.float64)
    weights = rules.chances(rules.slope * floors[:-1], 0)
    return floors, np.concatenate([[0.0], np.cumsum(ride * weights)])


def _weights(axes: Any, top: float) -> None:
    """Shade the floors by how much a row weighs on them."""
    low, high = axes.get_ylim()
    high = max(high, 1.1 * top)
    shades = np.clip(1 - np.linspace(low, high, 100) / top, 0, 1)[:, None]
    left, right = axes.get_xlim()
    axes.imshow(
        shades, extent=(left, right, low, high), origin="lower", aspect="auto", cmap="Greys",
        vmin=0, vmax=2.5, zorder=-1,
    )  # fmt: skip
    axes.axhline(top, color="grey", lw=0.8)
    axes.annotate(f"1/(εγ) = {top:.3g}", (left, top), (4, 3), textcoords="offset points")
    axes.set_ylim(low, high)
