"""Draw the curve that turns up in theory and not in practice (``u_curve.png``).

    python docs/gallery/u_curve.py

AdaBoost on stumps, 20,000 rows of Hastie's chi-square problem, 3,000 rounds. The bound counts how
many ways votes of T stumps can label points, so it grows with T whatever the run does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost import AdaBoostClassifier
from pacboost.bounds import vc
from pacboost.sources.worlds import hastie

DELTA = 0.05
FEATURES = 10


class Curves(NamedTuple):
    """What is drawn, for each number of rounds."""

    rounds: Sequence[int]
    training: NDArray[np.float64]
    test: NDArray[np.float64]
    bound: NDArray[np.float64]


def measure(rows: int = 20_000, rounds: int = 3_000, fresh: int = 20_000, seed: int = 0) -> Curves:
    """Boost, and give training error, test error and bound at about 40 numbers of rounds.

    The bound is training error + 1/n + √((ln Π(2n) + ln(4/δ))/n), at all T at once.
    """
    world = hastie(FEATURES)
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


def draw(curves: Curves, path: Path) -> None:
    """Write the picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), dpi=110, layout="constrained")
    axes = figure.subplots()
    axes.plot(curves.rounds, curves.bound, color="#b5382a", lw=2)
    axes.plot(curves.rounds, curves.test, color="#1f5fa8", lw=2)
    axes.plot(curves.rounds, curves.training, color="#1f5fa8", lw=1.5, ls="--")
    lowest = int(np.argmin(curves.bound))
    turn, value = curves.rounds[lowest], float(curves.bound[lowest])
    axes.plot([turn], [value], "o", color="#b5382a")
    axes.annotate(
        f"the bound is smallest at T = {turn};\nfrom here on, theory predicts harm",
        (turn, value),
        xytext=(0.03, 0.93),
        textcoords="axes fraction",
        va="top",
        color="#b5382a",
        arrowprops={"arrowstyle": "-", "color": "#b5382a", "lw": 0.8},
    )
    last = (curves.rounds[-1], float(curves.test[-1]))
    axes.annotate(
        f"error on new examples: {last[1]:.1%}\nafter {last[0]:,} rounds, still falling",
        last,
        xytext=(0.97, 0.24),
        textcoords="axes fraction",
        ha="right",
        color="#1f5fa8",
    )
    axes.annotate(
        "training error (dashed)",
        (curves.rounds[0], float(curves.training[0])),
        xytext=(0.03, 0.2),
        textcoords="axes fraction",
        color="#1f5fa8",
    )
    axes.set(xscale="log", ylim=(0, 1.02), xlim=(1, curves.rounds[-1] * 1.1))
    axes.set(xlabel="rounds T", ylabel="error")
    axes.set_title(f"Growth bound on votes of T stumps, δ = {DELTA:g}", loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


def _bound(mistakes: int, rows: int, rounds: int) -> float:
    growth = vc.growth_of_stump_votes(FEATURES, rounds)
    return vc.pessimistic(mistakes, rows, DELTA, growth)


if __name__ == "__main__":
    draw(measure(), Path(__file__).with_suffix(".png"))
