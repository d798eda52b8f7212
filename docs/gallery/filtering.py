"""Draw which examples a filter keeps as the vote learns (``filtering.png``).

    python docs/gallery/filtering.py

Two features, a wavy boundary and no noise. Examples are made when they are asked for and never
stored: the fit sees each of them once, and keeps those that its vote is not yet sure of.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost import FilterBoostClassifier

Points = NDArray[np.float64]
Labels = NDArray[np.int64]

ROWS_AT_ONCE = 4_096
ROUNDS = (0, 12, 36)
"""After how many rounds a panel shows what is kept."""
SHOWN = 1_200
"""So many kept examples a panel shows; new ones are looked at until they are found."""


class Panel(NamedTuple):
    """What the filter does with new examples after so many rounds."""

    rounds: int
    looked_at: int
    wrong: int
    kept: Points
    labels: Labels


def label(X: Points) -> Labels:
    """Give points above a wave +1, others −1."""
    return np.where(X[:, 1] > 0.5 * np.sin(5 * X[:, 0]), 1, -1)


def examples(seed: int = 0) -> Iterator[tuple[Points, Labels]]:
    """Make examples without end."""
    generator = np.random.default_rng(seed)
    while True:
        X = generator.uniform(-1, 1, size=(ROWS_AT_ONCE, 2))
        yield X, label(X)


def boost(rounds: int = max(ROUNDS)) -> FilterBoostClassifier:
    """Boost trees by filtering."""
    model = FilterBoostClassifier(
        n_estimators=rounds, sample_rows=20_000, n_certify=5_000, random_state=0
    )
    return model.fit_source(examples())


def panel(model: FilterBoostClassifier, rounds: int) -> Panel:
    """Filter new examples by the vote of the first rounds: each is kept with its weight."""
    generator = np.random.default_rng(1)
    kept: list[tuple[Points, Labels]] = []
    looked_at = wrong = found = 0
    for X, y in examples(seed=2):
        margins = y * [np.zeros(len(X)), *model.staged_decision_function(X)][rounds]
        accepted = generator.random(len(X)) < 1 / (1 + np.exp(2 * margins))
        looked_at += len(X)
        wrong += int(np.count_nonzero(margins <= 0))
        found += int(np.count_nonzero(accepted))
        kept.append((X[accepted], y[accepted]))
        if found >= SHOWN:
            break
    X, y = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    return Panel(rounds, looked_at, wrong, X, y)


def draw(panels: list[Panel], path: Path) -> None:
    """Write the picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.5), dpi=100, layout="constrained")
    x = np.linspace(-1, 1, 200)
    for axes, one in zip(figure.subplots(1, len(panels)), panels, strict=True):
        axes.plot(x, 0.5 * np.sin(5 * x), color="0.7", lw=1, zorder=0)
        for sign, colour in ((1, "#1f5fa8"), (-1, "#b5382a")):
            X = one.kept[:SHOWN][one.labels[:SHOWN] == sign]
            axes.scatter(X[:, 0], X[:, 1], s=2, color=colour, lw=0)
        share = len(one.kept) / one.looked_at
        axes.set_title(f"after {one.rounds} rounds {share:.1%} are kept", fontsize=10)
        if one.rounds:
            axes.set_xlabel(f"wrong: {one.wrong / one.looked_at:.2%}", fontsize=9)
        axes.set(xticks=[], yticks=[], xlim=(-1, 1), ylim=(-1, 1), aspect="equal")
    figure.savefig(path)


if __name__ == "__main__":
    fitted = boost()
    draw([panel(fitted, rounds) for rounds in ROUNDS], Path(__file__).with_suffix(".png"))
