"""Copies that do not look equal: another last digit, a row number, another annotator, another file.

Labels are coin flips, so the risk on new rows is 1/2. Each world holds every example several times.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import pacboost
from pacboost import BoostClassifier, StrongClassifier, TextBoostClassifier
from pacboost.bounds.wording import NEW_EXAMPLES
from pacboost.errors import PacboostError
from pacboost.samples.copies import places_of_rows
from pacboost.theory import certify_by_training_rows
from tests.attacks.worlds import coins
from tests.bounds.coverage import allowed_violations
from tests.runs import several_runs

RUNS, DELTA, ROWS, TIMES = 5, 0.05, 60, 8
Rows = tuple[NDArray[Any], NDArray[Any]]


def other_digits(seed: int) -> Rows:
    """The same table was exported several times and differs by relative errors of 1e-6."""
    X, y = tiled(seed)
    return X * (1 + 1e-6 * np.random.default_rng(seed).standard_normal(X.shape)), y


def row_numbers(seed: int) -> Rows:
    """Every copy has a number of its own in the first column."""
    X, y = tiled(seed)
    return np.column_stack([np.arange(len(y)), X]), y


def annotators(seed: int) -> Rows:
    """Equal rows; each annotator contradicts the majority once in ten times."""
    X, y = tiled(seed)
    return X, np.where(np.random.default_rng(seed).random(len(y)) < 0.1, 1 - y, y)


def tiled(seed: int) -> Rows:
    X, y = coins(seed, ROWS)
    return np.tile(X, (TIMES, 1)), np.tile(y, TIMES)


WORLDS: dict[str, Callable[[int], Rows]] = {
    world.__name__: world for world in (other_digits, row_numbers, annotators)
}


def makers(seed: int) -> dict[str, Any]:
    common: dict[str, Any] = {"random_state": seed, "n_jobs": 1}
    return {
        "holdout": pacboost.BoostClassifier(
            learner="tree", n_estimators=20, certify="holdout", **common
        ),
        "oob": pacboost.RandomForestClassifier(n_estimators=30, certify="oob", **common),
        "strong": pacboost.StrongClassifier(n_estimators=30, **common),
    }


def is_false(certificate: Any) -> bool:
    return bool(certificate.of_what == NEW_EXAMPLES and certificate.value < 0.5)


def count(claim: Callable[[int], Any]) -> int:
    """Count false claims; a refusal is none."""
    found = 0
    for seed in range(RUNS):
        try:
            found += is_false(claim(seed))
        except PacboostError as refusal:
            assert str(refusal)  # noqa: PT017 - a refusal in words is a valid answer
    return found


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("way", ["holdout", "oob", "strong"])
def test_hidden_copies_within_a_fit(way: str, world: str) -> None:
    def claim(seed: int) -> Any:
        return makers(seed)[way].fit(*WORLDS[world](seed)).certificate_

    assert count(claim) <= allowed_violations(RUNS, DELTA)


@pytest.mark.parametrize("world", WORLDS)
def test_hidden_copies_among_training_rows_that_certify(world: str) -> None:
    def claim(seed: int) -> Any:
        return certify_by_training_rows(*WORLDS[world](seed), 30, random_state=seed)[0].certificate

    assert count(claim) <= allowed_violations(RUNS, DELTA)


def test_files_that_are_copies_of_each_other(tmp_path: Path) -> None:
    def claim(seed: int) -> Any:
        X, y = coins(seed, 400)
        table = pd.DataFrame(X, columns=list("abc")).assign(y=y)
        paths = [tmp_path / f"{seed}_{part}.csv" for part in range(5)]
        for path in paths:
            table.to_csv(path, index=False)
        model = pacboost.FilterBoostClassifier(
            max_leaves=60, min_leaf_rows=1, learning_rate=1.0, n_estimators=12, sample_rows=600,
            random_state=seed, n_jobs=1,
        )  # fmt: skip
        return model.fit_source(paths, "y").certificate_

    assert count(claim) <= allowed_violations(RUNS, DELTA)


def test_copies_with_a_group_each() -> None:
    violated = 0
    for seed in range(RUNS):
        X, y = tiled(seed)
        model = pacboost.StrongClassifier(n_estimators=30, random_state=seed, n_jobs=1)
        try:
            certificate = model.fit(X, y, groups=np.arange(len(y))).certificate_
        except PacboostError as refusal:
            assert str(refusal)  # noqa: PT017 - a refusal in words is a valid answer
            continue
        violated += "new" in certificate.of_what and certificate.value < 0.5
    assert violated <= allowed_violations(RUNS, DELTA)


def test_training_texts_with_another_mark_at_the_end() -> None:
    generator = np.random.default_rng(0)
    texts = [" ".join(f"w{word}" for word in generator.integers(5000, size=4)) for _ in range(150)]
    labels = generator.integers(2, size=150)
    model = pacboost.TextBoostClassifier(min_count=1, n_estimators=60, random_state=0, n_jobs=1)
    model.fit(texts, labels)
    with pytest.raises(PacboostError, match="trained on"):
        pacboost.certify(model, [f"{text}!" for text in texts], labels)


@several_runs(12, 100)
@pytest.mark.parametrize(("rows", "learned"), [(30, 6), (6, 6)])
def test_few_training_rows_among_few_rows(rows: int, learned: int, runs: int) -> None:
    violated = 0
    for seed in range(runs):
        X, y = coins(seed, 300)
        model = pacboost.BoostClassifier(
            learner="tree", n_estimators=60, random_state=seed, n_jobs=1
        )
        model.fit(X, y)
        other, labels = coins(seed + 999, rows - learned)
        try:
            certificate = pacboost.certify(
                model, np.concatenate([other, X[:learned]]), np.concatenate([labels, y[:learned]])
            )
        except PacboostError as refusal:
            assert "trained on" in str(refusal)  # noqa: PT017
            continue
        violated += is_false(certificate)
    assert violated <= allowed_violations(runs, DELTA)


# Copies among other rows that differ in rounding or letters, too few to refuse the table.

DELTA_OF_NEARLY_EQUAL, RUNS_OF_NEARLY_EQUAL, ROWS_OF_NEARLY_EQUAL = 0.1, 8, 200
ALLOWED = int(binom.isf(1e-3, RUNS_OF_NEARLY_EQUAL, DELTA_OF_NEARLY_EQUAL))


def numbers(generator: np.random.Generator, again: Any) -> Any:
    X = generator.normal(size=(ROWS_OF_NEARLY_EQUAL, 4))
    return np.concatenate([X, X[again] * (1 + 1e-7)])


def texts(generator: np.random.Generator, again: Any) -> Any:
    words = [f"w{number}" for number in range(400)]
    X = [" ".join(generator.choice(words, 8, replace=False)) for _ in range(ROWS_OF_NEARLY_EQUAL)]
    return X + [f"{X[place].upper()}!" for place in again]


CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "trees": (
        lambda seed: BoostClassifier(
            "logit", "tree", 100, certify="holdout", delta=DELTA_OF_NEARLY_EQUAL, random_state=seed
        ),
        numbers,
    ),
    "strong": (
        lambda seed: StrongClassifier(delta=DELTA_OF_NEARLY_EQUAL, random_state=seed),
        numbers,
    ),
    "texts": (
        lambda seed: TextBoostClassifier(
            n_estimators=40, certify="holdout", delta=DELTA_OF_NEARLY_EQUAL, random_state=seed
        ),
        texts,
    ),
}


@pytest.mark.parametrize("name", ["trees", pytest.param("strong", marks=pytest.mark.slow), "texts"])
def test_a_third_of_the_rows_comes_again(name: str) -> None:
    make, rows = CASES[name]
    false = 0
    for seed in range(RUNS_OF_NEARLY_EQUAL):
        generator = np.random.default_rng(seed)
        again = generator.choice(ROWS_OF_NEARLY_EQUAL, ROWS_OF_NEARLY_EQUAL // 3, replace=False)
        y = generator.integers(2, size=ROWS_OF_NEARLY_EQUAL)
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
