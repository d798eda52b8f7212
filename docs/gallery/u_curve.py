"""Draw a bound that turns up, an error that does not, and one that does (``u_curve.png``).

    python docs/gallery/u_curve.py

AdaBoost on stumps, Hastie's chi-square problem, 3,000 rounds. Left: 20,000 rows with correct
labels; the bound counts how many ways votes of T stumps can label points, so it grows with T
whatever the run does. Right: 2,000 rows, once with correct labels and once with a fifth of all
labels flipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost import AdaBoostClassifier
from pacboost.theory import vc
from pacboost.theory.worlds import hastie

DELTA = 0.05
FEATURES = 10
NOISE = 0.2
RED, BLUE = "#b5382a", "#1f5fa8"


class Curves(NamedTuple):
    """What is drawn, for each number of rounds."""

    rounds: Sequence[int]
    training: NDArray[np.float64]
    test: NDArray[np.float64]
    bound: NDArray[np.float64]


def measure(
    rows: int = 20_000, rounds: int = 3_000, fresh: int = 20_000, seed: int = 0, noise: float = 0.0
) -> Curves:
    """Boost, and give training error, test error and bound at about 40 numbers of rounds.

    ``noise`` is the share of labels that are flipped, in the training rows and in the new ones. The
    bound is training error + 1/n + √((ln Π(2n) + ln(4/δ))/n), at all T at once.
    """
    world = hastie(FEATURES, noise)
    generator = np.random.default_rng(seed)
    X, y = world.draw(rows, generator)
    new_X, new_y = world.draw(fresh, generator)
    model = AdaBoostClassifier(n_estimators=rounds).fit(X, y)
    scores = model.staged_decision_function(new_X)
    test = np.array([np.mean(score * new_y <= 0) for score in scores])
    training = np.array([entry.training_error for entry in model.ledger_.rounds])
    shown = np.unique(np.geomspace(1, training.size, 40).round().astype(int))
    bound = [_bound(round(training[t - 1] * rows), rows, int(t)) for t in shown]
    return Curves(shown.tolist(), training[shown - 1], test[shown - 1], np.array(bound))


def draw(large: Curves, clean: Curves, noisy: Curves, path: Path) -> None:
    """Write the picture: the bound on many rows, and what wrong labels do on few."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), dpi=80, layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_bound(left, large)
    _draw_noise(right, clean, noisy)
    for axes in (left, right):
        axes.set(xscale="log", xlim=(1, large.rounds[-1] * 1.1), xlabel="rounds T", ylabel="error")
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


def _draw_bound(axes: Any, curves: Curves) -> None:
    axes.plot(curves.rounds, curves.bound, color=RED, lw=2)
    axes.plot(curves.rounds, curves.test, color=BLUE, lw=2)
    axes.plot(curves.rounds, curves.training, color=BLUE, lw=1.5, ls="--")
    lowest = int(np.argmin(curves.bound))
    turn, value = curves.rounds[lowest], float(curves.bound[lowest])
    axes.plot([turn], [value], "o", color=RED)
    axes.annotate(
        f"the bound is smallest at T = {turn}\nand says nothing once it is 1",
        (turn, value),
        xytext=(0.03, 0.93),
        textcoords="axes fraction",
        va="top",
        color=RED,
        arrowprops={"arrowstyle": "-", "color": RED, "lw": 0.8},
    )
    _say(
        axes,
        (0.97, 0.32),
        "right",
        f"error on new examples: {curves.test[-1]:.1%}\nafter {curves.rounds[-1]:,} rounds",
    )
    _say(axes, (0.03, 0.2), "left", "training error (dashed):\nstill falling too")
    axes.set(ylim=(0, 1.02))
    axes.set_title("20,000 rows, correct labels: bound and errors", loc="left", fontsize=11)


def _draw_noise(axes: Any, clean: Curves, noisy: Curves) -> None:
    for curves, colour in ((clean, BLUE), (noisy, RED)):
        axes.plot(curves.rounds, curves.test, color=colour, lw=2)
        axes.plot(curves.rounds, curves.training, color=colour, lw=1.5, ls="--")
    lowest = int(np.argmin(noisy.test))
    turn, value = noisy.rounds[lowest], float(noisy.test[lowest])
    axes.plot([turn], [value], "o", color=RED)
    axes.annotate(
        f"{NOISE:.0%} of the labels flipped:\n{value:.1%} at T = {turn}, "
        f"{noisy.test[-1]:.1%} at T = {noisy.rounds[-1]:,}",
        (turn, value),
        xytext=(0.97, 0.93),
        textcoords="axes fraction",
        ha="right",
        va="top",
        color=RED,
        arrowprops={"arrowstyle": "-", "color": RED, "lw": 0.8},
    )
    _say(axes, (0.03, 0.2), "left", f"correct labels:\n{clean.test[-1]:.1%} in the end")
    axes.set(ylim=(0, 0.52))
    axes.set_title("2,000 rows: new examples, training (dashed)", loc="left", fontsize=11)


def _say(axes: Any, place: tuple[float, float], side: str, words: str) -> None:
    axes.annotate(words, place, xycoords="axes fraction", ha=side, color=BLUE)


def _bound(mistakes: int, rows: int, rounds: int) -> float:
    growth = vc.growth_of_stump_votes(FEATURES, rounds)
    return vc.pessimistic(mistakes, rows, DELTA, growth)


if __name__ == "__main__":
    few = [measure(rows=2_000, noise=noise) for noise in (0.0, NOISE)]
    draw(measure(), few[0], few[1], Path(__file__).with_suffix(".png"))
