"""Draw what each column adds to a score (``columns.png``): the model itself, not an approximation.

    python docs/gallery/columns.py

LogitBoost over stumps on scikit-learn's breast cancer set.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

import pacboost
from pacboost import BoostClassifier


def measure(rounds: int = 100) -> Any:
    """Boost stumps on all rows."""
    data = load_breast_cancer(as_frame=True)
    named = np.asarray(data.target_names)[data.target]
    return BoostClassifier("logit", "stump", n_estimators=rounds).fit(data.data, named)


def draw(model: Any, path: Path) -> None:
    """Write the picture."""
    axes = np.asarray(pacboost.plots.shapes(model, top=8))
    figure = axes.flat[0].figure
    figure.set(dpi=90)
    figure.savefig(path)


if __name__ == "__main__":
    draw(measure(), Path(__file__).with_suffix(".png"))
