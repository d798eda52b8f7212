"""Draw six boosters side by side on the same rows (``boosters.png``).

    python docs/gallery/boosters.py

Stumps on two of scikit-learn's handwritten digits, 3 and 8: 357 images of 8 × 8 pixels, a third of
them test rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import pacboost

BOOSTERS = "adaboost,logit,mada,lp,soft,brown"


def measure(rounds: int = 100) -> Any:
    """Fit every booster to the same training rows."""
    X, y = load_digits(return_X_y=True)
    some = np.isin(y, (3, 8))
    labels = np.where(y[some] == 8, "eight", "three")
    return pacboost.compare(
        X[some], labels, BOOSTERS, "stump", n_estimators=rounds, test=1 / 3, random_state=0
    )


def draw(found: Any, path: Path) -> None:
    """Write the picture."""
    axes = np.asarray(found.plot())
    figure = axes.flat[0].figure
    figure.set(dpi=90)
    figure.savefig(path)


if __name__ == "__main__":
    draw(measure(), Path(__file__).with_suffix(".png"))
