"""Draw boosting with and without the distribution-free assumption (``uniform_only.png``).

    python docs/gallery/uniform_only.py

Two worlds of Boolean rows, each with a weak learner that has a large edge under the uniform
distribution. In one world some rule has an edge under every distribution; in the other none has on
a quarter of the rows, whose labels are coins.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost import AdaBoostClassifier
from pacboost.theory.finite_worlds import BooleanConcept, UniformOnly
from pacboost.theory.worlds import World

Rows = NDArray[np.float64]
FEATURES = 20
ROUNDS = 60


class Curves(NamedTuple):
    """What a run did, round by round."""

    name: str
    edges: NDArray[np.float64]
    errors: NDArray[np.float64]
    """On new examples."""
    blind: NDArray[np.float64]
    """The share of the weight on the blind quarter before each round."""


def sees_three_quarters(X: Rows, y: NDArray[np.int8], weights: NDArray[np.float64]) -> Any:
    """Answer by the third bit where that is the label, elsewhere what most of the weight wants."""
    blind = UniformOnly.blind(X)
    constant = 1 if (weights * y)[blind].sum() >= 0 else -1

    def rule(X: Rows) -> NDArray[np.int64]:
        return np.where(UniformOnly.blind(X), constant, np.where(X[:, 2] > 0, 1, -1))

    return rule


def sees_a_bit(X: Rows, y: NDArray[np.int8], weights: NDArray[np.float64]) -> Any:
    """Answer by the bit that has the largest edge: one of three has 1/3 under every weighting."""
    bit = int(np.argmax([(weights * y) @ (2 * X[:, j] - 1) for j in range(3)]))

    def rule(X: Rows) -> NDArray[np.int64]:
        return np.where(X[:, bit] > 0, 1, -1)

    return rule


def measure(rows: int = 40_000, rounds: int = ROUNDS, fresh: int = 40_000) -> list[Curves]:
    """Boost in both worlds."""
    majority = BooleanConcept(FEATURES, lambda X: X[:, :3].sum(axis=1) > 1.5)
    return [
        run("under every distribution", majority, sees_a_bit, rows, rounds, fresh),
        run(
            "under the uniform one only",
            UniformOnly(FEATURES),
            sees_three_quarters,
            rows,
            rounds,
            fresh,
        ),
    ]


def run(name: str, world: World, learner: Any, rows: int, rounds: int, fresh: int) -> Curves:
    """Boost a learner, and look where the weight goes."""
    X, y = world.draw(rows, 1)
    new, truth = world.draw(fresh, 2)
    model = AdaBoostClassifier(learner, n_estimators=rounds, random_state=0).fit(X, y)
    edges = [entry.edge for entry in model.ledger_.rounds]
    errors = [float(np.mean(truth * F <= 0)) for F in model.staged_decision_function(new)]
    before = [np.zeros(rows), *model.staged_decision_function(X)][: len(edges)]
    weights = [np.exp(-y * F) for F in before]
    blind = [float(w[UniformOnly.blind(X)].sum() / w.sum()) for w in weights]
    return Curves(name, np.array(edges), np.array(errors), np.array(blind))


def draw(curves: list[Curves], path: Path) -> None:
    """Write the picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), dpi=100, layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for one, colour in zip(curves, ("#1f5fa8", "#b5382a"), strict=True):
        t = np.arange(1, one.edges.size + 1)
        left.plot(t, one.edges, color=colour, marker=".", ms=3, lw=1)
        middle.plot(t, one.errors, color=colour, marker=".", ms=3, lw=1, label=one.name)
    blind = curves[-1].blind
    t = np.arange(1, blind.size + 1)
    left.plot(t[1:], 1 / (t[1:] - 5 / 6), color="0.5", lw=0.8, ls="--", label="1/(t − 5/6)")
    right.plot(t, blind, color="#b5382a", marker=".", ms=3, lw=1)
    middle.axhline(1 / 8, color="0.5", lw=0.8, ls="--")
    left.set(title="edge", ylim=(0, 1))
    middle.set(title="error on new examples", ylim=(-0.005, 0.26))
    right.set(title="weight on the blind quarter", ylim=(0, 1))
    left.legend(frameon=False)
    middle.legend(frameon=False, title="an edge", fontsize=8)
    for axes in (left, middle, right):
        axes.set_xlabel("round")
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


if __name__ == "__main__":
    draw(measure(), Path(__file__).with_suffix(".png"))
