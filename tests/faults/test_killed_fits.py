"""kill -9 during fits with a checkpoint: the next call goes on, and ends with the same model."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest

from pacboost import FilterBoostClassifier
from pacboost.sources.oracles.csv import CsvOracle
from tests.estimators.filter_sources import noisy, write_parquet
from tests.faults.mutations import small_refills
from tests.faults.test_kills import killed

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed after fork")

ROWS = 6000
SOURCES = ("array", "csv", "parquet")
Fit = Callable[[FilterBoostClassifier], FilterBoostClassifier]


@pytest.fixture(autouse=True)
def often() -> Iterator[None]:
    with small_refills():
        yield


def fit_from(source: str, folder: Path) -> Fit:
    """Return a function that fits from an array, or from a file of the same rows."""
    X, y = noisy(ROWS)
    if source == "array":
        return lambda model: model.fit(X, y)
    if source == "parquet":
        files = write_parquet(folder / "rows", X, y, files=2, group=500)
        return lambda model: model.fit_source(files, "y")
    path = folder / "rows.csv"
    rows = np.column_stack([X, y])
    np.savetxt(path, rows, "%.9g", delimiter=",", header="a,b,c,d,y", comments="")
    return lambda model: model.fit_source(CsvOracle(path, "y"))


def new(path: Path | None) -> FilterBoostClassifier:
    return FilterBoostClassifier(
        n_estimators=60, sample_rows=500, random_state=0, checkpoint=path, n_jobs=1, verbose=False
    )


def outlives_kills(source: str, folder: Path, kills: int, seed: int) -> int:
    """Kill fits; give how many of those that followed went on from a checkpoint."""
    fit, random, path = fit_from(source, folder), Random(f"{source} {seed}"), folder / "run.pac"
    fit(new(None))  # everything is compiled and loaded then
    started = time.perf_counter()
    alone, went_on = fit(new(None)).ledger_, 0
    seconds = time.perf_counter() - started
    for _ in range(kills):
        killed(lambda: fit(new(path)), random.uniform(0.05, 1.1) * seconds)
        if path.exists():
            went_on += 1
            if random.random() < 0.5:
                continue  # the next one goes on from there, and is killed as well
        found = fit(new(path)).ledger_
        assert found.vote_digest == alone.vote_digest
        assert len(found) == len(alone)
        assert not list(folder.glob("*.pac*"))
    assert fit(new(path)).ledger_.vote_digest == alone.vote_digest
    return went_on


@pytest.mark.parametrize("source", SOURCES)
def test_a_killed_fit_goes_on_to_the_same_model(source: str, tmp_path: Path) -> None:
    outlives_kills(source, tmp_path, 1, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
def test_fits_outlive_seventy_kills(source: str, tmp_path: Path) -> None:
    assert outlives_kills(source, tmp_path, 70, seed=2) > 0
