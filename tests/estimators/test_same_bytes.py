"""The model depends on the examples: not on threads, layout, source or order of rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from pacboost import AdaBoostClassifier, BoostClassifier, BoostRegressor
from pacboost.kernels.runtime.team import Team
from pacboost.models.file.format import model_bytes
from pacboost.sources.file_rows import read_csv

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]
Data = Callable[[int], tuple[Rows, Labels]]
NAMES = ("a", "b", "c", "d", "e")


def continuous(rows: int, seed: int = 0) -> tuple[Rows, Labels]:
    """Rows of 32-bit numbers, so that both float types hold them exactly; some missing."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 5)).astype(np.float32).astype(np.float64)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + generator.normal(size=rows) > 0).astype(np.int64)
    X[generator.random(X.shape) < 0.02] = np.nan
    return X, y


def tied(rows: int, seed: int = 0) -> tuple[Rows, Labels]:
    """Few values, so that many rows and many rules are equal."""
    generator = np.random.default_rng(seed)
    X = generator.integers(0, 3, size=(rows, 5)).astype(np.float64)
    y = (X[:, 0] + X[:, 1] + generator.normal(size=rows) > 2).astype(np.int64)
    return X, y


KINDS = pytest.mark.parametrize("data", [continuous, tied])


def fitted(X: Any, y: Any, weights: Any = None, **options: Any) -> AdaBoostClassifier:
    model = AdaBoostClassifier(**{"n_estimators": 20, **options})
    return model.fit(X, y, sample_weight=weights)


def bytes_of(X: Any, y: Any, weights: Any = None, **options: Any) -> bytes:
    return model_bytes(fitted(X, y, weights, **options).model_)


def rules(model: AdaBoostClassifier) -> list[tuple[int, float, int, int]]:
    return [(h.feature, h.threshold, h.above, h.missing) for h in model.estimators_]


def assert_same_rules(one: AdaBoostClassifier, other: AdaBoostClassifier) -> None:
    assert rules(one) == rules(other)
    np.testing.assert_allclose(one.votes_, other.votes_, rtol=0, atol=1e-9)


@KINDS
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_change_no_byte(data: Data, weighted: bool) -> None:
    X, y = data(120_001)
    weights = np.random.default_rng(1).uniform(0.1, 2, size=y.size) if weighted else None
    one, two, three = (bytes_of(X, y, weights, n_jobs=n) for n in (1, 2, 3))
    assert one == two == three


def test_threads_change_no_byte_where_cheap_kernels_share_too() -> None:
    X, y = continuous(420_000)
    X = X[:, :2].astype(np.float32)
    one, two, three = (bytes_of(X, y, n_estimators=4, n_jobs=n) for n in (1, 2, 3))
    assert one == two == three


def test_threads_change_no_byte_of_a_resampled_or_validated_run() -> None:
    X, y = continuous(110_000)
    options: dict[str, Any] = {"resample": True, "early_stopping": True, "random_state": 4}
    one, two, three = (bytes_of(X, y, n_estimators=6, n_jobs=n, **options) for n in (1, 2, 3))
    assert one == two == three


def test_threads_change_no_score() -> None:
    X, y = continuous(120_001)
    model = fitted(X, y, n_jobs=1)
    scores = model.decision_function(X)
    for threads in (2, 3):
        model.set_params(n_jobs=threads)
        assert np.array_equal(model.decision_function(X), scores)


@KINDS
def test_memory_order_changes_no_byte(data: Data) -> None:
    X, y = data(3_000)
    expected = bytes_of(np.ascontiguousarray(X), y)
    assert bytes_of(np.asfortranarray(X), y) == expected
    wide = np.repeat(X, 2, axis=1)
    assert bytes_of(wide[:, ::2], y) == expected


@KINDS
def test_float_type_changes_no_byte(data: Data) -> None:
    X, y = data(3_000)
    assert bytes_of(X.astype(np.float32), y) == bytes_of(X, y)


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, object])
def test_whole_numbers_of_any_type_change_no_byte(kind: Any) -> None:
    X, y = tied(1_000)
    assert bytes_of(X.astype(kind), y) == bytes_of(X, y)


def test_booleans_are_zeros_and_ones() -> None:
    X, y = tied(1_000)
    assert bytes_of(X > 0, y) == bytes_of((X > 0).astype(float), y)


def columns(X: Rows) -> dict[str, Rows]:
    return {name: X[:, j] for j, name in enumerate(NAMES)}


@KINDS
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_change_no_byte(data: Data, make: Callable[[dict[str, Rows]], Any]) -> None:
    X, y = data(3_000)
    assert bytes_of(make(columns(X)), y) == bytes_of(X, y)


def test_nulls_are_missing_values() -> None:
    X, y = continuous(3_000)
    expected = bytes_of(X, y)
    assert bytes_of(pl.DataFrame(columns(X)).fill_nan(None), y) == expected
    nulls = {name: pa.array(values, from_pandas=True) for name, values in columns(X).items()}
    assert bytes_of(pa.table(nulls), y) == expected
    assert bytes_of(pd.DataFrame(columns(X)).astype("Float64"), y) == expected


def test_frames_of_32_bits_change_no_byte() -> None:
    X, y = continuous(3_000)
    narrow = pl.DataFrame(columns(X)).cast(pl.Float32)
    assert bytes_of(narrow, y) == bytes_of(X, y)


@KINDS
def test_csv_file_changes_no_byte(data: Data, tmp_path: Path) -> None:
    X, y = data(3_000)
    pd.DataFrame({**columns(X), "label": y}).to_csv(tmp_path / "rows.csv", index=False)
    read = read_csv(tmp_path / "rows.csv", target="label")
    assert bytes_of(read.table, read.labels) == bytes_of(X, y)
    assert fitted(read.table, read.labels).feature_names_in_.tolist() == list(NAMES)


def test_source_changes_no_prediction(tmp_path: Path) -> None:
    X, y = continuous(1_000)
    frame = pd.DataFrame(columns(X))
    model = fitted(frame, y)
    scores = model.decision_function(frame)
    pd.DataFrame({**columns(X), "label": y}).to_csv(tmp_path / "rows.csv", index=False)
    assert np.array_equal(model.decision_function(pl.DataFrame(columns(X))), scores)
    assert np.array_equal(model.decision_function(pa.table(columns(X))), scores)
    assert np.array_equal(
        model.decision_function(read_csv(tmp_path / "rows.csv", "label").table), scores
    )


@KINDS
@pytest.mark.parametrize("seed", range(2))
def test_order_of_rows_changes_no_rule(data: Data, seed: int) -> None:
    X, y = data(700)
    order = np.random.default_rng(seed).permutation(y.size)
    assert_same_rules(fitted(X[order], y[order]), fitted(X, y))


@KINDS
@pytest.mark.parametrize("seed", range(2))
def test_order_of_weighted_rows_changes_no_rule(data: Data, seed: int) -> None:
    X, y = data(700)
    generator = np.random.default_rng(seed)
    weights = generator.uniform(0.1, 2, size=y.size)
    order = generator.permutation(y.size)
    assert_same_rules(fitted(X[order], y[order], weights[order]), fitted(X, y, weights))


def split(X: Rows, y: Labels, weights: Rows, shares: Rows | float) -> tuple[Rows, Labels, Rows]:
    """Every row twice, its weight shared out."""
    shared = np.concatenate([weights * shares, weights * (1 - np.asarray(shares))])
    return np.vstack([X, X]), np.concatenate([y, y]), shared


@KINDS
@pytest.mark.parametrize("rows", [40, 510])
@pytest.mark.parametrize("weight", [1.0, 0.1])
@pytest.mark.parametrize("share", [0.5, 1 / 3])
def test_sharing_equal_weights_over_two_copies_changes_no_rule(
    data: Data, rows: int, weight: float, share: float
) -> None:
    X, y = data(rows)
    weights = np.full(rows, weight)
    assert_same_rules(fitted(*split(X, y, weights, share)), fitted(X, y, weights))


@pytest.mark.parametrize("rows", [510, 600])
def test_sharing_equal_weights_moves_no_quantile(rows: int) -> None:
    X = np.random.default_rng(0).normal(size=(rows, 4))
    y = (X[:, 0] + X[:, 1] + np.random.default_rng(1).normal(size=rows) > 0).astype(np.int64)
    weights = np.full(rows, 0.1)  # below[k] and the targets of quantiles tie, up to rounding
    assert_same_rules(fitted(*split(X, y, weights, 1 / 3)), fitted(X, y, weights))


@KINDS
@pytest.mark.parametrize("seed", range(2))
def test_sharing_random_weights_over_two_copies_changes_no_rule(data: Data, seed: int) -> None:
    X, y = data(700)
    generator = np.random.default_rng(seed)
    weights, shares = generator.uniform(0.1, 2, size=y.size), generator.uniform(0.1, 0.9, y.size)
    assert_same_rules(fitted(*split(X, y, weights, shares)), fitted(X, y, weights))


@pytest.mark.parametrize("seed", range(12))
def test_sharing_weights_unevenly_breaks_ties_of_few_rows_as_before(seed: int) -> None:
    generator = np.random.default_rng(seed)
    X = generator.integers(0, 2, size=(40, 6)).astype(np.float64)
    y = (X[:, 0] + X[:, 1] + generator.normal(size=40) > 1.5).astype(np.int64)
    shares = generator.uniform(0.1, 0.9, size=40)
    assert_same_rules(fitted(*split(X, y, np.ones(40), shares)), fitted(X, y))


@KINDS
@pytest.mark.parametrize("factor", [2.0, 0.1, 1e-6, 1e9])
def test_unit_of_weights_changes_no_rule(data: Data, factor: float) -> None:
    X, y = data(700)
    weights = np.random.default_rng(0).integers(1, 4, size=y.size).astype(np.float64)
    assert_same_rules(fitted(X, y, weights * factor), fitted(X, y, weights))


def test_trees_take_the_same_rows_from_every_source() -> None:
    X, y = tied(500)
    tree = DecisionTreeClassifier(max_depth=2)
    options: dict[str, Any] = {"estimator": tree, "n_estimators": 5, "random_state": 1}
    expected = fitted(X, y, **options)
    for source in (pd.DataFrame(columns(X)), pl.DataFrame(columns(X)), pa.table(columns(X))):
        assert fitted(source, y, **options).ledger_.digest() == expected.ledger_.digest()


# Boosted trees do not depend on the number of threads: every kind of table and answer.

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
    "listed": boosted("adaboost", sparse.csr_array(ONE_HOT[:, 3:]), SCORE > 0),
    "missing": boosted("logit", HOLES, SCORE > 0),
    "monotone": boosted("logit", HOLES, SCORE > 0, monotone_constraints={0: 1, 2: -1}),
    "pairs": boosted("logit", NUMBERS, SCORE > 0, interaction_constraints="pairwise"),
    "many classes": boosted("logit", NUMBERS, CLASSES),
    "drawn rows": boosted("logit", NUMBERS, SCORE > 0, subsample=0.5),
    "validated": boosted("logit", NUMBERS, SCORE > 0, early_stopping=True),
    "regression": regression,
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("numbers", THREADS)
@pytest.mark.parametrize("kind", FITS)
def test_threads_change_no_byte_of_trees(
    kind: str, numbers: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pacboost.learners.tree.MIN_CELLS_FOR_LARGE_TEAM", 0)
    monkeypatch.setattr("pacboost.kernels.runtime.team.cores", lambda: 16)
    assert len({model_bytes(FITS[kind](threads).model_) for threads in numbers}) == 1


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", FITS)
def test_teams_that_change_between_calls_change_no_byte(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pacboost.kernels.runtime.team.cores", lambda: 4)
    expected, run, drawn = FITS[kind](1), Team.run, np.random.default_rng(0)

    def run_by_some(team: Team, body: Any, size: int, *arguments: Any) -> None:
        run(team, body, int(drawn.integers(1, size + 1)), *arguments)

    monkeypatch.setattr(Team, "run", run_by_some)
    assert model_bytes(FITS[kind](4).model_) == model_bytes(expected.model_)
