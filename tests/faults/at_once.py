"""A fit that threads and processes make at the same time."""

import warnings

import numpy as np

from pacboost import AdaBoostClassifier

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
