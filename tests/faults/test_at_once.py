"""Fits at the same time: threads, forked and spawned processes, and joblib; and changing files."""

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed

from pacboost.errors import FileError
from pacboost.sources.oracles import arrow, csv_lines, svmlight
from tests.faults.at_once import X, votes, y
from tests.grids import each_value

ORACLES: dict[str, Callable[[Path], Any]] = {
    "csv": lambda path: csv_lines.CsvOracle(path, "t"),
    "svmlight": svmlight.SvmlightOracle,
    "parquet": lambda path: arrow.ParquetOracle(path, "t"),
}


@pytest.fixture(scope="module")
def alone() -> list[float]:
    return votes(0)


def test_threads_that_fit_at_once(alone: list[float]) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert all(result == alone for result in pool.map(votes, range(8)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("start", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_processes_fit_after_their_parent_has(start: str, alone: list[float]) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(start)) as pool:
        assert all(result == alone for result in pool.map(votes, range(2)))


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_joblib_fits(backend: str, alone: list[float]) -> None:
    result = Parallel(n_jobs=2, backend=backend)(delayed(votes)(seed) for seed in range(3))
    assert all(each == alone for each in result)


def changed(path: Path, change: str) -> None:
    """Change a file as another program would."""
    content = path.read_bytes()
    if change == "cut off":
        path.write_bytes(content[: len(content) // 3])
    elif change == "written again":
        head, *lines = content.splitlines(keepends=True)
        path.write_bytes(head + b"".join(lines[::-1]))
        os.utime(path, ns=(1, 1))
    else:
        path.unlink()


@each_value
@pytest.mark.parametrize("change", ["cut off", "written again", "gone"])
@pytest.mark.parametrize("kind", ["csv", "svmlight", "parquet"])
def test_a_source_that_changes_during_the_fit_is_named(
    kind: str, change: str, tmp_path: Path
) -> None:
    path = tmp_path / f"rows.{kind}"
    if kind == "csv":
        rows = np.column_stack([X, y])
        np.savetxt(path, rows, "%.4f", delimiter=",", header="a,b,c,d,t", comments="")
    elif kind == "svmlight":
        lines = [
            f"{int(label)} 1:{row[0]:.3f} 2:{row[1]:.3f}" for row, label in zip(X, y, strict=True)
        ]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        frame = pd.DataFrame(X, columns=list("abcd")).assign(t=y.astype(int))
        frame.to_parquet(path, row_group_size=100)
    oracle = ORACLES[kind](path)
    changed(path, change)
    with pytest.raises(FileError, match=f"rows.{kind}.*(changed|cannot be read)"):
        oracle.draw(1)
