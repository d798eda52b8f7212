"""Draw how boosting evens out what rules get wrong, and how bagging does not (``equaliser.png``).

    python docs/gallery/equaliser.py

Stumps on scikit-learn's breast cancer set, 569 rows. For each row the share of rules that are wrong
on it, weighted by their votes: boosted stumps on the left, bagged ones (each from a bootstrap draw
of the rows, one vote each) on the right.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

import pacboost
from pacboost import AdaBoostClassifier
from pacboost.plots import draw_equaliser

Margins = dict[int, NDArray[np.float64]]

ROUNDS = (1, 10, 100, 1_000)


class Views(NamedTuple):
    """Margins after some numbers of rules, boosted and bagged."""

    boosted: Margins
    bagged: Margins


def measure(rounds: tuple[int, ...] = ROUNDS, seed: int = 0) -> Views:
    """Boost, and bag as many stumps."""
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=max(rounds)).fit(X, y)
    boosted = dict(enumerate(pacboost.theory.staged_margins(model, X, y), start=1))
    generator = np.random.default_rng(seed)
    sums, bagged = np.zeros(len(y)), {}
    for number in range(1, max(rounds) + 1):
        drawn = generator.integers(len(y), size=len(y))
        stump = AdaBoostClassifier(n_estimators=1).fit(X[drawn], y[drawn])
        sums += np.where(stump.predict(X) == y, 1, -1)
        bagged[number] = sums / number
    return Views({t: boosted[t] for t in rounds}, {t: bagged[t] for t in rounds})


def draw(views: Views, path: Path) -> None:
    """Write the picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), dpi=100, layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    draw_equaliser(views.boosted, left).set_title("boosted stumps", loc="left", fontsize=11)
    draw_equaliser(views.bagged, right).set_title("bagged stumps", loc="left", fontsize=11)
    right.set_ylabel("")
    figure.savefig(path)


if __name__ == "__main__":
    draw(measure(), Path(__file__).with_suffix(".png"))
