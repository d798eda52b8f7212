"""Files that share rows: a copy of a certifying row lies in another file, and is learned from.

Labels are coins, so every claim below 1/2 is false. Trees with a leaf for nearly every row learn
their rows by heart, so each copy that is learned from makes a certifying row right.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy import sparse

from pacboost import FilterBoostClassifier, StrongClassifier
from pacboost.bounds.wording import NEW_EXAMPLES
from pacboost.errors import NotCertified
from pacboost.samples import content_sample
from pacboost.samples.content_sample import ContentSample
from pacboost.samples.known_rows import KnownRows
from pacboost.sources.oracles.held import HeldArray, HeldSparse
from tests.bounds.coverage import check_coverage, check_rejected

Rows = NDArray[np.intp]
Write = Callable[[Path, NDArray[np.float64], NDArray[np.int64]], None]

ROWS, RUNS, DELTA = 600, 8, 0.1
EVERY = np.arange(ROWS)
SHARED: dict[str, tuple[Rows, Rows]] = {
    "nothing": (EVERY[:300], EVERY[300:]),
    "a tenth": (EVERY, EVERY[:60]),
    "a third": (EVERY[:400], EVERY[200:]),
    "everything, in another order": (EVERY, EVERY[::-1]),
}


def to_csv(path: Path, X: NDArray[np.float64], y: NDArray[np.int64]) -> None:
    np.savetxt(
        path.with_suffix(".csv"), np.column_stack([X, y]), fmt="%.9g,%.9g,%.9g,%d",
        header="a,b,c,y", comments="", delimiter=",",
    )  # fmt: skip


def to_parquet(path: Path, X: NDArray[np.float64], y: NDArray[np.int64]) -> None:
    columns = dict(zip("abc", X.T, strict=True))
    pq.write_table(pa.table({**columns, "y": y}), path.with_suffix(".parquet"), row_group_size=100)


def by_heart(seed: int) -> FilterBoostClassifier:
    return FilterBoostClassifier(
        max_leaves=60, min_leaf_rows=1, shrinkage=1.0, n_rounds=6, sample_rows=ROWS,
        delta=DELTA, random_state=seed, n_jobs=1,
    )  # fmt: skip


def claim(model: Any) -> float:
    """The smallest number that is claimed about new examples; 1 where nothing is."""
    try:
        found = [model.certificate_, getattr(model, "stop_certificate_", None)]
    except NotCertified:
        return 1.0
    values = [own.value for own in found if own is not None and own.of_what == NEW_EXAMPLES]
    return float(min(values))


def coins(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    return generator.normal(size=(ROWS, 3)), generator.integers(2, size=ROWS)


@pytest.mark.parametrize("shared", SHARED)
@pytest.mark.parametrize("write", [to_csv, pytest.param(to_parquet, marks=pytest.mark.slow)])
def test_files_that_share_rows(shared: str, write: Write, tmp_path: Path) -> None:
    false = certified = 0
    for seed in range(RUNS):
        X, y = coins(seed)
        for name, rows in zip("pq", SHARED[shared], strict=True):
            write(tmp_path / name, X[rows], y[rows])
        found = claim(by_heart(seed).fit_source(tmp_path, "y"))
        false, certified = false + (found < 0.5), certified + (found < 1)
    assert certified == (RUNS if shared in {"nothing", "a tenth"} else 0)
    check_coverage(f"files that share {shared}", false, RUNS, DELTA)


def test_copies_that_are_not_recognised_make_false_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ContentSample, "copies", lambda _: "")
    monkeypatch.setattr(KnownRows, "note", lambda *_: None)
    false = 0
    for seed in range(RUNS):
        X, y = coins(seed)
        for name, rows in zip("pq", SHARED["a third"], strict=True):
            to_csv(tmp_path / name, X[rows], y[rows])
        false += claim(by_heart(seed).fit_source(tmp_path, "y")) < 0.5
    check_rejected("files that share a third, not recognised", false, RUNS, DELTA)


@pytest.mark.parametrize("shared", ["a tenth", "a third", "everything, in another order"])
def test_arrays_given_as_a_source(shared: str) -> None:
    false = 0
    rows = np.concatenate(SHARED[shared])
    for seed in range(RUNS):
        X, y = coins(seed)
        false += claim(by_heart(seed).fit_source((X[rows], y[rows]))) < 0.5
    check_coverage(f"an array that holds {shared} twice", false, RUNS, DELTA)


def test_parquet_files_that_share_rows(tmp_path: Path) -> None:
    test_files_that_share_rows("a third", to_parquet, tmp_path)


@pytest.mark.parametrize("shared", ["a third", "everything, in another order"])
def test_strong_classifiers(shared: str, tmp_path: Path) -> None:
    for seed in range(3):
        X, y = coins(seed)
        for name, rows in zip("pq", SHARED[shared], strict=True):
            to_csv(tmp_path / name, X[rows], y[rows])
        model = StrongClassifier(epsilon=0.2, n_rounds=4, random_state=seed, n_jobs=1)
        model.fit_source(tmp_path, "y")
        assert model.estimator_.model_.certificate is None


@pytest.mark.parametrize("kind", ["dense", "sparse", "discrete"])
@pytest.mark.parametrize("copied", [True, False])
def test_large_sources_are_sampled_by_content(
    kind: str, copied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content_sample, "CHOSEN", 2500)
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(10_000, 6))
    rows = {"dense": rows, "sparse": rows * (rows > 0.5), "discrete": np.rint(2 * rows)}[kind]
    other = rows[generator.permutation(10_000)[:3000]] if copied else np.empty((0, 6))
    sample = ContentSample(10_000 + len(other))
    for block in (*np.split(rows, 10), other):
        labels = np.zeros(len(block))
        held = HeldArray(block, labels)
        if kind == "sparse":
            held = HeldSparse(sparse.csr_array(block), labels)  # type: ignore[assignment]
        sample.keep(held.table(np.flatnonzero(sample.choose(held))))
    assert ("come exactly 2 times" in sample.copies()) == copied


def test_rows_that_come_often_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_sample, "CHOSEN", 100)
    rows = np.random.default_rng(0).random((5000, 2))
    rows[:, 0] = np.rint(4 * rows[:, 0])
    rows[:, 1] = np.rint(4 * rows[:, 1])
    held = HeldArray(rows, np.zeros(len(rows)))
    sample = ContentSample(1000)
    for _ in range(4):
        sample.keep(held.table(np.flatnonzero(sample.choose(held))))
        assert sample.n_rows <= 4 * 100
