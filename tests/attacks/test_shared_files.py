"""Files that share rows: a copy of a certifying row lies in another file, and is learned from.

Labels are coins, so every claim below 1/2 is false. Trees with a leaf for nearly every row learn
their rows by heart, so each copy that is learned from makes a certifying row right. Rows with a
fine column are examples once, however often they come; draws from few values count as they fall.
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
from pacboost.samples.equal_rows import DISTINCT, SEPARATE, UNLESS
from scipy import sparse

from pacboost import FilterBoostClassifier, StrongClassifier
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.wording import NEW_EXAMPLES
from pacboost.errors import NotCertified, ParameterError
from pacboost.samples import content_sample
from pacboost.samples.content_sample import ContentSample, EqualRowsOfSource
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.held import Held
from pacboost.training.filtering import arrivals
from tests.bounds.coverage import check_coverage, check_rejected

Rows = NDArray[np.intp]
Write = Callable[[Path, NDArray[np.float64], NDArray[np.int64]], None]

ROWS, RUNS, DELTA = 600, 4, 0.1
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
        max_leaves=60, min_leaf_rows=1, learning_rate=1.0, n_estimators=6, sample_rows=ROWS,
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
    assert certified == RUNS
    check_coverage(f"files that share {shared}", false, RUNS, DELTA)


def test_copies_that_are_not_recognised_make_false_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ContentSample, "judge", lambda *_: EqualRowsOfSource())
    false = 0
    for seed in range(2 * RUNS):
        X, y = coins(seed)
        for name, rows in zip("pq", SHARED["a third"], strict=True):
            to_csv(tmp_path / name, X[rows], y[rows])
        false += claim(by_heart(seed).fit_source(tmp_path, "y")) < 0.5
    check_rejected("files that share a third, not recognised", false, 2 * RUNS, DELTA)


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
    X, y = coins(0)
    for name, rows in zip("pq", SHARED[shared], strict=True):
        to_csv(tmp_path / name, X[rows], y[rows])
    model = StrongClassifier(epsilon=0.2, n_estimators=4, random_state=0, n_jobs=1)
    certificate = model.fit_source(tmp_path, "y").estimator_.model_.certificate
    assert certificate.value > 0.5
    assert certificate.sample.startswith("distinct rows")


def visits(seed: int, patients: int = 100) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw patients who come one to eleven times, each time with the same values and label."""
    generator = np.random.default_rng(seed)
    X, y = generator.normal(size=(patients, 3)), generator.integers(2, size=patients)
    times = 1 + generator.binomial(10, 0.5, size=patients)
    rows = generator.permutation(np.repeat(np.arange(patients), times))
    return X[rows], y[rows]


@pytest.mark.parametrize("how", ["array", "array and edge", "csv", "parquet", "many rows"])
def test_patients_with_several_visits(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen before: claims of .04 to .18 where the error is one half, in every run."""
    if how == "many rows":  # as if there were too many to look at all of them
        monkeypatch.setattr(content_sample, "CHOSEN", 300)
        monkeypatch.setattr(arrivals, "CHOSEN", 300)
    false = 0
    for seed in range(RUNS):
        X, y = visits(seed, 300)
        model = by_heart(seed)
        if how in {"csv", "parquet"}:
            (to_csv if how == "csv" else to_parquet)(tmp_path / "p", X, y)
            model.fit_source(tmp_path, "y")
        else:
            edge = {"edge": 0.2} if how == "array and edge" else {}
            model.set_params(**edge).fit(X, y)
        certificate = model.certificate_
        assert certificate.sample.startswith("distinct rows")
        assert DISTINCT in certificate.assumptions
        assert certificate.size < 80
        false += claim(model) < 0.5
    check_coverage(f"visits of patients, {how}", false, RUNS, DELTA)


@pytest.mark.parametrize("how", ["array", "csv", "many rows"])
def test_draws_from_few_values_count_as_they_fall(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "many rows":
        monkeypatch.setattr(content_sample, "CHOSEN", 300)
        monkeypatch.setattr(arrivals, "CHOSEN", 300)
    false = 0
    for seed in range(RUNS):
        generator = np.random.default_rng(seed)
        X, y = generator.integers(4, size=(1000, 3)).astype(float), generator.integers(2, size=1000)
        if how == "csv":
            to_csv(tmp_path / "p", X, y)
        source = (tmp_path, "y") if how == "csv" else ((X, y),)
        model = by_heart(seed).fit_source(*source)
        certificate = model.certificate_
        k, n = (int(certificate.inputs[name]) for name in "kn")
        assert SEPARATE in certificate.assumptions
        assert abs(n - 100) <= 40
        assert certificate.value == clopper_pearson(k, n, DELTA)
        assert set(certificate.inputs) == {"k", "n", "delta", "models"}
        false += claim(model) < 0.5
        if seed == 0:
            distinct = by_heart(seed).fit_source(*source, copies="distinct").certificate_
            assert DISTINCT in distinct.assumptions
            assert distinct.size < 20
    check_coverage(f"draws from few values, {how}", false, RUNS, DELTA)


@pytest.mark.parametrize("how", ["array", "csv", "many rows"])
def test_a_heavy_value_is_no_copy(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Amounts are 0 in six of ten rows, whose labels are coins; the others are clear."""
    if how == "many rows":
        monkeypatch.setattr(content_sample, "CHOSEN", 600)
        monkeypatch.setattr(arrivals, "CHOSEN", 600)
    false = 0
    for seed in range(RUNS):
        generator = np.random.default_rng(seed)
        X = generator.integers(2, size=(2000, 3)).astype(float)
        heavy = generator.random(2000) < 0.6
        X[:, 0] = np.where(heavy, 0.0, generator.random(2000))
        y = np.where(heavy, generator.integers(2, size=2000), X[:, 0] > 0.5).astype(np.int64)
        if how == "csv":
            to_csv(tmp_path / "p", X, y)
        model = by_heart(seed).fit_source(*((tmp_path, "y") if how == "csv" else ((X, y),)))
        false += claim(model) < 0.3
        X, y = np.concatenate([X, X[~heavy][:300]]), np.concatenate([y, y[~heavy][:300]])
        if how == "csv":
            to_csv(tmp_path / "p", X, y)
        model = by_heart(seed).fit_source(*((tmp_path, "y") if how == "csv" else ((X, y),)))
        false += claim(model) < 0.3
        assert any(UNLESS in own for own in model.certificate_.assumptions)
    check_coverage(f"a heavy value, {how}", false, 2 * RUNS, DELTA)


def test_a_column_is_judged_by_all_rows_of_its_values() -> None:
    """A value of ten rows comes once among rows chosen by content, and looks fine there."""
    generator = np.random.default_rng(0)
    X = generator.integers([15_000, 2, 2, 2], size=(200_000, 4)).astype(np.float64)
    oracle = ArrayOracle(X, np.zeros(len(X)))
    left, verdict = arrivals.without_copies(oracle, "auto")
    assert (verdict.repeated, verdict.distinct, verdict.problem) == (True, False, "")
    assert left is oracle
    sample = ContentSample(len(X))
    sample.keep(ArrayTable(X))
    assert sample.judge().fine  # the twin, by the rows alone


def test_sources_that_were_copied_as_a_whole(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    X, y = generator.integers(3, size=(400, 3)).astype(float), generator.integers(2, size=400)
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    divided = by_heart(0).fit(X, y).certificate_
    assert divided.size == 40
    to_csv(tmp_path / "p", X, y)
    with pytest.raises(NotCertified, match="copies"):
        _ = by_heart(0).fit_source(tmp_path, "y").certificate_


def test_what_copies_may_be() -> None:
    X, y = coins(0)
    with pytest.raises(ParameterError, match="copies is 'once'; it may be 'auto'"):
        by_heart(0).fit(X, y, copies="once")
    with pytest.raises(ParameterError, match="copies is 'once'"):
        StrongClassifier().fit_source((X, y), copies="once")
    one, other = (by_heart(0).fit(X, y, copies=copies) for copies in ("auto", "draws"))
    assert one.model_.ledger.vote_digest == other.model_.ledger.vote_digest


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
        held = Held(block, labels)
        if kind == "sparse":
            held = Held(sparse.csr_array(block), labels)
        sample.keep(held.table(np.flatnonzero(sample.choose(held))))
    verdict = sample.judge()
    assert verdict.repeated == (copied or kind != "dense")
    assert verdict.distinct == (kind == "sparse" or (copied and kind == "dense"))
    assert ("come exactly 2 times" in verdict.problem) == (copied and kind == "discrete")


def test_rows_that_come_often_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_sample, "CHOSEN", 100)
    rows = np.random.default_rng(0).random((5000, 2))
    rows[:, 0] = np.rint(4 * rows[:, 0])
    rows[:, 1] = np.rint(4 * rows[:, 1])
    held = Held(rows, np.zeros(len(rows)))
    sample = ContentSample(1000)
    for _ in range(4):
        sample.keep(held.table(np.flatnonzero(sample.choose(held))))
        assert sample.n_rows <= 4 * 100
