"""Draw what bagging does to stable and to unstable learners (``instability.png``).

    python docs/gallery/instability.py

Each learner is fitted once to all training rows, and bagged: 50 members, plurality vote. How
unstable it is, the members tell: it is how often two of them disagree about a new example. Drawn
for a world of our own and, if PACBOOST_DATA names the folder that has it, for the MAGIC telescope.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from pacboost import BaggingClassifier

LEARNERS: dict[str, Any] = {
    "linear discriminant": LinearDiscriminantAnalysis(),
    "naive Bayes": GaussianNB(),
    "25 neighbours": KNeighborsClassifier(25),
    "stump": DecisionTreeClassifier(max_depth=1),
    "tree of 8 leaves": DecisionTreeClassifier(max_leaf_nodes=8),
    "tree of 64 leaves": DecisionTreeClassifier(max_leaf_nodes=64),
    "tree, pure leaves": DecisionTreeClassifier(),
}

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]


class Point(NamedTuple):
    """One learner on one set of rows."""

    name: str
    disagreement: float
    """How often two members disagree about a new example."""
    alone: float
    """Error on new examples of the learner itself."""
    bagged: float
    """Error on new examples of the vote."""

    @property
    def change(self) -> float:
        """By what share bagging changes the error; below 0 it helps."""
        return self.bagged / self.alone - 1


def measure(
    X: Rows,
    y: Labels,
    new_X: Rows,
    new_y: Labels,
    names: Sequence[str] = tuple(LEARNERS),
    members: int = 50,
    seed: int = 0,
) -> list[Point]:
    """Fit every learner once and bagged."""
    points = []
    for name in names:
        learner = LEARNERS[name]
        alone = clone(learner)
        if "random_state" in alone.get_params():
            alone.set_params(random_state=seed)
        model = BaggingClassifier(learner, members, oob_score=False, random_state=seed).fit(X, y)
        shares = model.predict_proba(new_X)
        # Two different members: a pair of the same one never disagrees.
        disagreement = (1 - (shares**2).sum(axis=1)).mean() * members / (members - 1)
        wrong = float((alone.fit(X, y).predict(new_X) != new_y).mean())
        bagged = float((model.predict(new_X) != new_y).mean())
        points.append(Point(name, float(disagreement), wrong, bagged))
    return points


def world(rows: int, seed: int) -> tuple[Rows, Labels]:
    """Ten Gaussian features, of which three count; a tenth of the labels is wrong."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 10))
    y = X[:, 0] + X[:, 1] * X[:, 2] > 0
    return X, (y ^ (generator.random(rows) < 0.1)).astype(np.int64)


def draw(panels: dict[str, Sequence[Point]], path: Path) -> None:
    """Write the picture."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MultipleLocator, PercentFormatter

    figure = Figure(figsize=(4.6 * len(panels), 4.2), dpi=100, layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for panel, (title, points) in zip(axes, panels.items(), strict=True):
        panel.axhline(0, color="#999999", lw=0.8)
        for number, point in enumerate(points, 1):
            colour = "#b5382a" if "tree" in point.name else "#1f5fa8"
            place = point.disagreement, point.change
            panel.plot(*place, "o", color=colour)
            above = 5 if number % 2 else -13  # neighbours on different sides
            panel.annotate(
                str(number), place, xytext=(-3, above), textcoords="offset points", color=colour
            )
        lines = [
            f"{number}  {point.name}: {point.alone:.1%} → {point.bagged:.1%}"
            for number, point in enumerate(points, 1)
        ]
        panel.text(
            0.03, 0.04, "\n".join(lines), transform=panel.transAxes, fontsize=8.5, linespacing=1.4
        )
        widest = max(point.disagreement for point in points)
        panel.set(xlim=(0, 1.05 * widest), xlabel="how often two members disagree")
        panel.set_title(title, loc="left", fontsize=11)
        panel.xaxis.set_major_locator(MultipleLocator(0.05))
        panel.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("change of the error by bagging")
    figure.savefig(path)


def magic() -> tuple[Rows, Labels, Rows, Labels] | None:
    """Half of the MAGIC telescope to learn from and half to test on, if it is there."""
    from pacboost.sources.file_rows import read_csv

    path = Path(os.environ.get("PACBOOST_DATA", "")) / "magic_telescope" / "data.csv.gz"
    if not path.exists():
        return None
    data = read_csv(path, "class")
    X = np.asarray(data.table.rows(), dtype=np.float64)
    y = np.unique(np.asarray(data.labels), return_inverse=True)[1].astype(np.int64)
    order = np.random.default_rng(0).permutation(len(y))
    half = len(y) // 2
    return X[order[:half]], y[order[:half]], X[order[half:]], y[order[half:]]


if __name__ == "__main__":
    shown: dict[str, Sequence[Point]] = {
        "A noisy world, 2,000 rows": measure(*world(2_000, 0), *world(20_000, 1))
    }
    real = magic()
    if real is not None:
        shown[f"MAGIC telescope, {len(real[1]):,} rows"] = measure(*real)
    draw(shown, Path(__file__).with_suffix(".png"))
