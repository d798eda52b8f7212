"""The model depends on the examples: not on threads, layout, source or order of rows."""

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

from pacboost import AdaBoostClassifier, BoostClassifier, BoostRegressor
from pacboost.kernels import team
from pacboost.models.file.format import model_bytes
from pacboost.sources.file_rows import read_csv
from tests.grids import each_value, one_in

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


def narrow(rows: int, seed: int = 0) -> tuple[Any, Labels]:
    X, y = continuous(rows, seed)
    return X[:, :2].astype(np.float32), y


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


RUNS: dict[str, tuple[Data, int, dict[str, Any]]] = {
    "continuous": (continuous, 120_001, {"n_estimators": 20}),
    "tied": (tied, 120_001, {"n_estimators": 20}),
    "cheap kernels share too": (narrow, 420_000, {"n_estimators": 4}),
    "drawn and validated": (
        continuous,
        110_000,
        {"n_estimators": 6, "resample": True, "early_stopping": True, "random_state": 4},
    ),
}


@each_value
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_change_no_byte(name: str, weighted: bool) -> None:
    data, rows, options = RUNS[name]
    X, y = data(rows)
    weights = np.random.default_rng(1).uniform(0.1, 2, size=y.size) if weighted else None
    assert len({bytes_of(X, y, weights, n_jobs=n, **options) for n in (1, 2, 3)}) == 1


def test_threads_change_no_score() -> None:
    X, y = continuous(120_001)
    model = fitted(X, y, n_jobs=1)
    scores = model.decision_function(X)
    for threads in (2, 3):
        model.set_params(n_jobs=threads)
        assert np.array_equal(model.decision_function(X), scores)


def columns(X: Rows) -> dict[str, Rows]:
    return {name: X[:, j] for j, name in enumerate(NAMES)}


def nulls(X: Rows) -> Any:
    cells = {name: pa.array(column, from_pandas=True) for name, column in columns(X).items()}
    return pa.table(cells)


FORMS: dict[str, Callable[[Rows], Any]] = {
    "columns in memory": np.asfortranarray,
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "32 bits": lambda X: X.astype(np.float32),
    "pandas": lambda X: pd.DataFrame(columns(X)),
    "pandas, nulls": lambda X: pd.DataFrame(columns(X)).astype("Float64"),
    "polars": lambda X: pl.DataFrame(columns(X)),
    "polars, nulls": lambda X: pl.DataFrame(columns(X)).fill_nan(None),
    "polars, 32 bits": lambda X: pl.DataFrame(columns(X)).cast(pl.Float32),
    "arrow": lambda X: pa.table(columns(X)),
    "arrow, nulls": nulls,
}


@each_value
@KINDS
@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_rows_changes_no_byte_and_no_score(data: Data, form: str) -> None:
    X, y = data(3_000)
    expected, rows = fitted(X, y), FORMS[form](X)
    model = fitted(rows, y)
    assert model_bytes(model.model_) == model_bytes(expected.model_)
    assert np.array_equal(model.decision_function(rows), expected.decision_function(X))


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, bool, object])
def test_whole_numbers_of_any_type_change_no_byte(kind: Any) -> None:
    X, y = tied(1_000)
    assert bytes_of(X.astype(kind), y) == bytes_of(X.astype(kind).astype(float), y)


@KINDS
def test_csv_file_changes_no_byte(data: Data, tmp_path: Path) -> None:
    X, y = data(3_000)
    pd.DataFrame({**columns(X), "label": y}).to_csv(tmp_path / "rows.csv", index=False)
    rows = read_csv(tmp_path / "rows.csv", target="label")
    model = fitted(rows.table, rows.labels)
    assert model_bytes(model.model_) == bytes_of(X, y)
    assert model.feature_names_in_.tolist() == list(NAMES)
    scores = fitted(pd.DataFrame(columns(X)), y).decision_function(pl.DataFrame(columns(X)))
    assert np.array_equal(model.decision_function(rows.table), scores)


@each_value
@KINDS
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_order_of_rows_changes_no_rule(data: Data, seed: int, weighted: bool) -> None:
    X, y = data(700)
    generator = np.random.default_rng(seed)
    weights = generator.uniform(0.1, 2, size=y.size) if weighted else np.ones(y.size)
    order = generator.permutation(y.size)
    assert_same_rules(fitted(X[order], y[order], weights[order]), fitted(X, y, weights))


def split(X: Rows, y: Labels, weights: Rows, shares: Rows) -> tuple[Rows, Labels, Rows]:
    shared = np.concatenate([weights * shares, weights * (1 - shares)])
    return np.vstack([X, X]), np.concatenate([y, y]), shared


@each_value
@KINDS
@pytest.mark.parametrize("rows", [40, 510, 600])
@pytest.mark.parametrize("weight", [1.0, 0.1, None])  # quantiles tie at 0.1, up to rounding
@pytest.mark.parametrize("share", [0.5, 1 / 3, None])
def test_sharing_weights_over_two_copies_changes_no_rule(
    data: Data, rows: int, weight: float | None, share: float | None
) -> None:
    X, y = data(rows)
    generator = np.random.default_rng(rows)
    weights = generator.uniform(0.1, 2, rows) if weight is None else np.full(rows, weight)
    shares = generator.uniform(0.1, 0.9, rows) if share is None else np.full(rows, share)
    assert_same_rules(fitted(*split(X, y, weights, shares)), fitted(X, y, weights))


@each_value
@KINDS
@pytest.mark.parametrize("factor", [2.0, 0.1, 1e-6, 1e9])
def test_unit_of_weights_changes_no_rule(data: Data, factor: float) -> None:
    X, y = data(700)
    weights = np.random.default_rng(0).integers(1, 4, size=y.size).astype(np.float64)
    assert_same_rules(fitted(X, y, weights * factor), fitted(X, y, weights))


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
    "chosen pairs": boosted("logit", NUMBERS, SCORE > 0, interactions=2),
    "many classes": boosted("logit", NUMBERS, CLASSES),
    "drawn rows": boosted("logit", NUMBERS, SCORE > 0, subsample=0.5),
    "validated": boosted("logit", NUMBERS, SCORE > 0, early_stopping=True),
    "regression": regression,
}


@one_in(3)
@pytest.mark.parametrize("numbers", THREADS)
@pytest.mark.parametrize("kind", FITS)
def test_threads_change_no_byte_of_trees(
    kind: str, numbers: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pacboost.learners.tree.MIN_CELLS_FOR_LARGE_TEAM", 0)
    monkeypatch.setattr("pacboost.kernels.team.cores", lambda: 16)
    assert len({model_bytes(FITS[kind](threads).model_) for threads in numbers}) == 1


@one_in(3)
@pytest.mark.parametrize("kind", FITS)
def test_teams_that_change_between_calls_change_no_byte(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pacboost.kernels.team.cores", lambda: 4)
    expected, largest, drawn = FITS[kind](1), team.largest_team, np.random.default_rng(0)
    some = lambda: int(drawn.integers(1, largest() + 1))  # noqa: E731
    monkeypatch.setattr(team, "largest_team", some)
    assert model_bytes(FITS[kind](4).model_) == model_bytes(expected.model_)
