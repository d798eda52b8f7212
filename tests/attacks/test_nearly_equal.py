"""Copies among other rows that differ in rounding or letters, too few to refuse the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from pacboost import BoostClassifier, StrongClassifier, TextBoostClassifier
from pacboost.samples.copies import places_of_rows

DELTA, RUNS, ROWS = 0.1, 8, 200
ALLOWED = int(binom.isf(1e-3, RUNS, DELTA))


def numbers(generator: np.random.Generator, again: Any) -> Any:
    X = generator.normal(size=(ROWS, 4))
    return np.concatenate([X, X[again] * (1 + 1e-7)])


def texts(generator: np.random.Generator, again: Any) -> Any:
    words = [f"w{number}" for number in range(400)]
    X = [" ".join(generator.choice(words, 8, replace=False)) for _ in range(ROWS)]
    return X + [f"{X[place].upper()}!" for place in again]


CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "trees": (
        lambda seed: BoostClassifier(
            "logit", "tree", 100, certify="holdout", delta=DELTA, random_state=seed
        ),
        numbers,
    ),
    "strong": (lambda seed: StrongClassifier(delta=DELTA, random_state=seed), numbers),
    "texts": (
        lambda seed: TextBoostClassifier(
            n_estimators=40, certify="holdout", delta=DELTA, random_state=seed
        ),
        texts,
    ),
}


@pytest.mark.parametrize("name", ["trees", pytest.param("strong", marks=pytest.mark.slow), "texts"])
def test_a_third_of_the_rows_comes_again(name: str) -> None:
    make, rows = CASES[name]
    false = 0
    for seed in range(RUNS):
        generator = np.random.default_rng(seed)
        again = generator.choice(ROWS, ROWS // 3, replace=False)
        y = generator.integers(2, size=ROWS)
        found = make(seed).fit(rows(generator, again), np.concatenate([y, y[again]]))
        false += found.certificate_.value < 0.5
    assert false <= ALLOWED


@pytest.mark.parametrize("rows", [300, 100_000])
@pytest.mark.parametrize("columns", [1, 2])
def test_dense_numbers_are_not_taken_for_copies(rows: int, columns: int) -> None:
    X = np.random.default_rng(0).normal(size=(rows, columns))
    X[:, 1:] = X[:, 1:] > 0
    distinct = np.unique(X.astype(np.float32), axis=0).shape[0]
    assert int(places_of_rows(X).max()) + 1 >= 0.999 * distinct
