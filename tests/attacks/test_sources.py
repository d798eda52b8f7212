"""Sources that are sorted: rows that come first say nothing about rows that come last.

The world: x decides in which block of the file a row lies, and each block has its own error. A
classifier that is learned and certified on the first blocks looks better, or worse, than it is.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from pacboost import FilterBoostClassifier, StrongClassifier
from pacboost.bounds.certificate import Certificate
from pacboost.estimators.filtering import sizes
from pacboost.ledgers.ledger import Refill
from pacboost.sources.oracles import lines
from pacboost.training.filtering import candidates
from tests.bounds.coverage import check_coverage
from tests.runs import several_runs

Floats = NDArray[np.float64]
Write = Callable[[Path, Floats, NDArray[np.int64]], tuple[Any, ...]]

ROWS, BLOCK = 6000, 1500
NOISE = np.array([0.0, 0.5])
"""Rows with x below 1/2 are clear; the labels of the others are tosses of a coin."""


def world(rows: int, seed: int) -> tuple[Floats, NDArray[np.int64]]:
    """Draw rows sorted by the feature that tells how noisy their labels are."""
    generator = np.random.default_rng(seed)
    X = np.column_stack([np.sort(generator.random(rows)), generator.random(rows)])
    y = (X[:, 1] > 0.5).astype(np.int64)
    tossed = generator.random(rows) < 0.5
    noisy = NOISE[(X[:, 0] > 0.5).astype(int)] > 0
    return X, np.where(noisy & tossed, 1 - y, y)


def risk(model: Any) -> float:
    """The true error, up to the fineness of a grid."""
    grid = (np.arange(60) + 0.5) / 60
    X = np.column_stack([np.repeat(grid, 60), np.tile(grid, 60)])
    truth = (X[:, 1] > 0.5).astype(np.int64)
    wrong = np.asarray(model.predict(X) != truth)
    return float(np.where(X[:, 0] > 0.5, 0.5, wrong).mean())


def to_parquet(folder: Path, X: Floats, y: NDArray[np.int64]) -> tuple[Any, ...]:
    path = folder / "rows.parquet"
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": y})
    pq.write_table(table, path, row_group_size=BLOCK)
    return path, "y"


def to_csv(folder: Path, X: Floats, y: NDArray[np.int64]) -> tuple[Any, ...]:
    path = folder / "rows.csv"
    table = np.column_stack([X, y])
    np.savetxt(path, table, fmt="%.6f,%.6f,%d", header="a,b,y", comments="", delimiter=",")
    return path, "y"


def to_svmlight(folder: Path, X: Floats, y: NDArray[np.int64]) -> tuple[Any, ...]:
    path = folder / "rows.svm"
    rows = zip(y.tolist(), X.tolist(), strict=True)
    path.write_text("".join(f"{label} 1:{a:.6f} 2:{b:.6f}\n" for label, (a, b) in rows))
    return (path,)


def to_array(folder: Path, X: Floats, y: NDArray[np.int64]) -> tuple[Any, ...]:
    return ((X, y),)


pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")

KINDS: dict[str, Write] = {
    "parquet": to_parquet,
    "csv": to_csv,
    "svmlight": to_svmlight,
    "array": to_array,
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make small files as many blocks as large ones are."""
    monkeypatch.setattr(lines, "BLOCK_BYTES", BLOCK * 20)
    monkeypatch.setattr(lines, "BLOCK_BYTES", BLOCK * 20)
    monkeypatch.setattr(candidates, "MAX_ROWS_PER_OFFER", 256)
    monkeypatch.setattr(candidates, "MIN_ROWS_PER_OFFER", 64)
    monkeypatch.setattr(sizes, "ROWS", 150)
    monkeypatch.setattr(sizes, "ROWS_FOR_BINS", 200)


def small(seed: int, **told: Any) -> FilterBoostClassifier:
    return FilterBoostClassifier(
        **{"booster": "mada", "n_estimators": 4, "sample_rows": 150, "n_certify": 150, **told},
        learner="stump", random_state=seed, n_jobs=1,
    )  # fmt: skip


def drawn_anew(event: object) -> bool:
    """Stop once a vote of some rounds was tested on draws."""
    return isinstance(event, Refill) and event.rounds > 0


def violated(certificate: Certificate | None, model: Any) -> bool:
    """Whether a claim about new examples is false."""
    if certificate is None or "of new examples" not in certificate.claim:
        return False
    return certificate.value < risk(model)


@several_runs(8, 20)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_set_apart_of_a_sorted_source(kind: str, tmp_path: Path, runs: int) -> None:
    wrong, certified, delta = 0, 0, 0.05
    for seed in range(runs):
        source = KINDS[kind](tmp_path, *world(ROWS, seed))
        model = small(seed, delta=delta).fit_source(*source)
        certificate = model.model_.certificate
        certified += certificate is not None
        wrong += violated(certificate, model)
    assert certified == runs
    check_coverage(f"rows set apart of sorted {kind}", wrong, runs, delta)


@several_runs(20, 60)
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_stop_certificates_of_a_sorted_source(kind: str, tmp_path: Path, runs: int) -> None:
    wrong, stopped = 0, 0
    for seed in range(runs):
        source = KINDS[kind](tmp_path, *world(ROWS, seed))
        model = small(
            seed, booster="projection", n_certify=0, sample_rows=40, callbacks=[drawn_anew]
        )
        model.fit_source(*source)
        stop = model.stop_certificate_
        stopped += stop is not None
        wrong += violated(stop, model)
    assert stopped
    check_coverage(f"stop certificate of sorted {kind}", wrong, runs, 0.025)


@several_runs(15, 60)
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_strong_classifiers_of_a_sorted_source(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: int
) -> None:
    monkeypatch.setitem(globals(), "BLOCK", ROWS // 2)
    monkeypatch.setattr(lines, "BLOCK_BYTES", ROWS * 10)
    wrong, delta = 0, 0.05
    for seed in range(runs):
        source = KINDS[kind](tmp_path, *world(ROWS, seed))
        model = StrongClassifier(
            epsilon=0.2, delta=delta, n_estimators=4, random_state=seed, n_jobs=1
        )
        model.fit_source(*source)
        wrong += violated(model.model_.certificate, model)
    check_coverage(f"StrongClassifier on sorted {kind}", wrong, runs, delta)
