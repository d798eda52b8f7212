"""Where AdaBoost does not do what one may hope: noise, Long and Servedio's data, a cycle."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.numerics.checks import positive_whole, probability
from pacboost.reports.canvas import figure, tidy
from pacboost.sources.toy import cycling_matrix
from pacboost.sources.worlds import LabelNoise, World, hastie

Doubles = NDArray[np.float64]
BITS, FIRST = 21, 11


def label_noise(
    noise: float = 0.2,
    *,
    world: World | None = None,
    m: int = 400,
    rounds: int = 300,
    seed: int = 0,
    ax: Any = None,
) -> Any:
    """Draw the error on new examples by round, with clean and with flipped training labels.

    Both votes are of stumps, and both are tested on clean labels of the same world.

    >>> label_noise(m=100, rounds=5).get_ylabel()
    'error on new examples, clean labels'
    """
    chosen = hastie(5) if world is None else world
    count, last = positive_whole("m", m), positive_whole("rounds", rounds)
    X_test, y_test = chosen.draw(10_000, seed + 1)
    axes = figure().subplots() if ax is None else ax
    flipped = LabelNoise(chosen, probability("noise", noise))
    for own, label in ((chosen, "clean labels"), (flipped, f"{noise:.0%} flipped")):
        model = AdaBoostClassifier(n_estimators=last).fit(*own.draw(count, seed))
        errors = [1 - share for share in model.staged_score(X_test, y_test)]
        axes.plot(np.arange(1, len(errors) + 1), errors, label=f"trained on {label}")
    axes.set(xlabel="round", ylabel="error on new examples, clean labels", xscale="log")
    return tidy(axes, legend=True)


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
    agree[(kind >= 0.25) & (kind < 0.5), FIRST:] = -1
    for row in np.flatnonzero(kind >= 0.5):
        agree[row] = -1
        agree[row, generator.choice(FIRST, 5, replace=False)] = 1
        agree[row, FIRST + generator.choice(BITS - FIRST, 6, replace=False)] = 1
    return agree * y[:, None], np.where(generator.random(m) < noise, -y, y), y


def long_servedio(
    noise: float = 0.1, *, m: int = 2000, rounds: int = 200, seed: int = 0, ax: Any = None
) -> Any:
    """Draw how convex boosters fail under label noise though a vote of the same rules is right.

    Every bit is a stump, and the vote of all with equal weight makes no mistake on true labels.
    AdaBoost and LogitBoost, trained on flipped labels, come to votes that do.

    >>> len(long_servedio(m=200, rounds=5).get_lines())
    3
    """
    X, flipped, y = long_servedio_points(positive_whole("m", m), probability("noise", noise), seed)
    axes = figure().subplots() if ax is None else ax
    for booster, label in (("adaboost", "AdaBoost"), ("logit", "LogitBoost")):
        model = BoostClassifier(
            booster, "stump", positive_whole("rounds", rounds), early_stopping=False
        ).fit(X, flipped)
        errors = [1 - share for share in model.staged_score(X, y)]
        axes.plot(np.arange(1, len(errors) + 1), errors, label=label)
    axes.axhline(0, color="grey", ls="--", label="all bits with equal votes")
    axes.set(xlabel="round", ylabel="error on true labels", ylim=(-0.02, None))
    return tidy(axes, legend=True)


def cycling(rounds: int = 1000, ax: Any = None) -> Any:
    """Draw the least margin of AdaBoost on eight rows where it stops at 1/3 instead of 3/8.

    The matrix is Rudin, Daubechies and Schapire's (2004). ArcGV comes to the largest margin there
    is, the value of the game (``pacboost.game``).

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
    """Give the least margin after each round of a booster that chooses among the columns."""
    matrix = cycling_matrix()
    y = np.array([1, -1] * 4)

    def best(X: Doubles, signs: NDArray[Any], weights: Doubles) -> Any:
        edges = weights @ matrix
        column = int(np.flatnonzero(edges >= edges.max() - 1e-9)[0])
        return lambda rows: (matrix[:, column] * y)[rows[:, 0].astype(np.intp)]

    rows = np.arange(8.0)[:, None]
    model = BoostClassifier(booster, best, rounds, early_stopping=False).fit(rows, y)
    return np.array([margins.min() for margins in model.staged_margins(rows, y)])
