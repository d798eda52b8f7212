"""Boosted trees do not depend on the number of threads: every kind of table and answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pacboost import BoostClassifier, BoostRegressor
from pacboost.models.file.format import model_bytes

THREADS = [(1, 2, 7), pytest.param((1, 3, 16), marks=pytest.mark.slow)]
ROWS = 20_000
GENERATOR = np.random.default_rng(0)
NUMBERS = GENERATOR.normal(size=(ROWS, 9)).astype(np.float32)
SCORE = NUMBERS[:, 0] * NUMBERS[:, 1] + NUMBERS[:, 2] + GENERATOR.normal(size=ROWS)
HOLES = np.where(GENERATOR.random(NUMBERS.shape) < 0.1, np.nan, NUMBERS)
LEVELS = pd.DataFrame(NUMBERS[:, :4], columns=list("abcd")).assign(
    level=pd.Categorical(GENERATOR.integers(0, 12, ROWS))
)
ONE_HOT = np.hstack([NUMBERS[:, :3], np.eye(20, dtype=np.float32)[GENERATOR.integers(0, 20, ROWS)]])
CLASSES = np.digitize(SCORE, [-1.0, 0.0, 1.0])
Fit = Callable[[int], Any]


def boosted(booster: str, X: Any, y: Any, **options: Any) -> Fit:
    def fit(threads: int) -> Any:
        model = BoostClassifier(booster, "tree", n_estimators=2, n_jobs=threads, random_state=0)
        return model.set_params(**options).fit(X, y)

    return fit


def regression(threads: int) -> Any:
    return BoostRegressor(n_estimators=2, n_jobs=threads, random_state=0).fit(NUMBERS, SCORE)


FITS: dict[str, Fit] = {
    "dense": boosted("logit", NUMBERS, SCORE > 0),
    "exponential": boosted("adaboost", NUMBERS, SCORE > 0),
    "categories": boosted("logit", LEVELS, SCORE > 0),
    "shared lanes": boosted("logit", ONE_HOT, SCORE > 0),
    "missing": boosted("logit", HOLES, SCORE > 0),
    "monotone": boosted("logit", HOLES, SCORE > 0, monotone_constraints={0: 1, 2: -1}),
    "many classes": boosted("logit", NUMBERS, CLASSES),
    "drawn rows": boosted("logit", NUMBERS, SCORE > 0, subsample=0.5),
    "validated": boosted("logit", NUMBERS, SCORE > 0, early_stopping=True),
    "regression": regression,
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("numbers", THREADS)
@pytest.mark.parametrize("kind", FITS)
def test_threads_change_no_byte(
    kind: str, numbers: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pacboost.learners.tree.CELLS_WORTH_MANY", 0)
    monkeypatch.setattr("pacboost.kernels.runtime.team.cores", lambda: 16)
    assert len({model_bytes(FITS[kind](threads).model_) for threads in numbers}) == 1
