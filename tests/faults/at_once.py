"""A fit that threads and processes make at the same time."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

from pacboost import AdaBoostClassifier

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
y = X[:, 0] + X[:, 1] * X[:, 2] > 0


def votes(seed: int) -> list[float]:
    """Fit, and give something that every fit has to agree on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AdaBoostClassifier(n_estimators=8, random_state=0, n_jobs=2).fit(X, y)
    result: list[float] = model.decision_function(X[: 20 + seed]).tolist()
    return result[:20]


SCRIPT = """
import numpy as np, sys
from pacboost import AdaBoostClassifier
X = np.random.default_rng(0).normal(size=(400, 4))
model = AdaBoostClassifier(n_estimators=8, random_state=0).fit(X, X[:, 0] > 0)
print(model.score(X, X[:, 0] > 0))
"""


def started(cache: Path) -> subprocess.Popen[str]:
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True)
