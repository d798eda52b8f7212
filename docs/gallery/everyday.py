"""Draw what a fitted model shows of itself (``everyday.png``): four plots on real data.

    python docs/gallery/everyday.py

AdaBoost over stumps on scikit-learn's breast cancer set; 171 of the 569 rows are test rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import pacboost
from pacboost import AdaBoostClassifier

ROUNDS = 200


class Fit(NamedTuple):
    """A fitted model, its training rows and its test rows."""

    model: Any
    X: Any
    y: Any
    X_test: Any
    y_test: Any


def measure(rounds: int = ROUNDS) -> Fit:
    """Boost on 70 % of the rows."""
    data = load_breast_cancer(as_frame=True)
    named = np.asarray(data.target_names)[data.target]
    X, X_test, y, y_test = train_test_split(data.data, named, test_size=0.3, random_state=0)
    return Fit(AdaBoostClassifier(n_estimators=rounds).fit(X, y), X, y, X_test, y_test)


def draw(fit: Fit, path: Path) -> None:
    """Write the picture; every panel is one method of the model."""
    from matplotlib.figure import Figure

    model, figure = fit.model, Figure(figsize=(10, 7.4), dpi=90, layout="constrained")
    panels = figure.subplots(2, 2)
    pacboost.plots.rounds(model, fit.X_test, fit.y_test, ax=panels[0, 0])
    pacboost.plots.importances(model, ax=panels[0, 1], top=10)
    pacboost.plots.margins(model, fit.X, fit.y, rounds=[5, 20, len(model.ledger_)], ax=panels[1, 0])
    panels[1, 0].set_xticks([-1, -0.5, 0, 0.5, 1])
    pacboost.plots.hardest(model, 12, ax=panels[1, 1])
    names = ("plots.rounds(model, X, y)", "plots.importances(model)", "plots.margins(model, X, y)",
             "plots.hardest(model, 12)")  # fmt: skip
    for panel, name in zip(panels.flat, names, strict=True):
        panel.set_title(name, loc="left", fontsize=10, family="monospace")
    figure.savefig(path)


if __name__ == "__main__":
    draw(measure(), Path(__file__).with_suffix(".png"))
