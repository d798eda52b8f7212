"""Processes that are killed while they write, and what has to be left."""

import os
import signal
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from pacboost import FilterBoostClassifier
from pacboost.sources.oracles.csv_lines import CsvOracle
from tests.estimators.filter_sources import noisy, write_parquet
from tests.faults.writers import Write


def killed(work: Callable[[], object], seconds: float) -> None:
    """Do something again and again in another process, and kill it after some time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of fork beside threads
        child = os.fork()
    if child == 0:
        try:
            while True:
                work()
        finally:
            os._exit(1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the work failed before it was killed"


def outlives_kills(path: Path, write: Write, models: list[Any], kills: int, seed: int) -> None:
    """Write two models by turns and kill; the file has to be that of one of them."""
    complete = []
    for model in models:
        write(model, path)
        complete.append(path.read_bytes())
    random = Random(seed)

    def by_turns() -> None:
        for model in models:
            write(model, path)

    for _ in range(kills):
        killed(by_turns, random.uniform(0.01, 0.2))
        assert path.read_bytes() in complete


ROWS = 6000
SOURCES = ("array", "csv", "parquet")
Fit = Callable[[FilterBoostClassifier], FilterBoostClassifier]


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


def fits_outlive_kills(source: str, folder: Path, kills: int, seed: int) -> int:
    """Kill fits; give how many of those that followed went on from a checkpoint."""
    fit, random, path = fit_from(source, folder), Random(f"{source} {seed}"), folder / "run.pac"
    fit(new(None))  # everything is loaded then
    started = time.perf_counter()
    alone, went_on = fit(new(None)).ledger_, 0
    seconds = time.perf_counter() - started
    for _ in range(kills):
        killed(lambda: fit(new(path)), random.uniform(0.05, 1.1) * seconds)
        if path.exists():
            went_on += 1
            if random.random() < 0.5:
                continue  # the next one goes on from there, and is killed as well
        ledger = fit(new(path)).ledger_
        assert ledger.vote_digest == alone.vote_digest
        assert len(ledger) == len(alone)
        assert not list(folder.glob("*.pac*"))
    assert fit(new(path)).ledger_.vote_digest == alone.vote_digest
    return went_on
