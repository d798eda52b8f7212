"""``memory=`` is kept: the most memory that a fit takes in a process of its own.

The process may not map much more than that, either (RLIMIT_DATA), so that no peak goes unnoticed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

Rows = NDArray[np.float32]
Labels = NDArray[np.int64]

pytestmark = pytest.mark.slow

SPARE = 300_000_000
"""What threads and libraries map but do not use."""
FIT = """
import resource, sys
import pacboost
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_DATA, (limit + int(sys.argv[3]),) * 2)
model = pacboost.FilterBoostClassifier(n_rounds=8, random_state=0, memory=limit, verbose=False)
try:
    model.fit_source(sys.argv[1], "y", classes=eval(sys.argv[4]))
    status = open("/proc/self/status").read()  # ru_maxrss counts the parent too
    print(1024 * int(status.partition("VmHWM:")[2].split()[0]), len(model.ledger_.refills))
except pacboost.PacboostError as problem:
    print("refused", problem)
"""


def made(rows: int, columns: int, classes: int) -> tuple[Rows, Labels]:
    """Rows whose classes depend on two features, with noise."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, columns)).astype(np.float32)
    score = X[:, 0] + X[:, 1] + 0.4 * generator.normal(size=rows)
    edges = np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1])
    return X, np.digitize(score, edges).astype(np.int64)


def csv(path: Path, X: Rows, y: Labels) -> Path:
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).round(4)
    path = path.with_suffix(".csv")
    frame.assign(y=y).to_csv(path, index=False)
    return path


def parquet(path: Path, X: Rows, y: Labels) -> Path:
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    path = path.with_suffix(".parquet")
    frame.assign(y=y).to_parquet(path, row_group_size=max(500, 2_000_000 // X.shape[1]))
    return path


CASES: dict[str, tuple[Callable[[Path, Rows, Labels], Path], int, int, int, int]] = {
    "long CSV": (csv, 500_000, 8, 2, 650),
    "wide CSV": (csv, 6_000, 1500, 2, 900),
    "long Parquet": (parquet, 4_000_000, 8, 2, 600),
    "wide Parquet": (parquet, 20_000, 3000, 2, 900),
    "many classes": (parquet, 300_000, 20, 60, 800),
}
"""How to write rows, how many rows, columns and classes, and how many megabytes are allowed."""


@pytest.mark.parametrize("name", CASES)
def test_memory_is_kept(name: str, tmp_path: Path) -> None:
    write, rows, columns, classes, megabytes = CASES[name]
    path = write(tmp_path / "rows", *made(rows, columns, classes))
    limit = megabytes * 1_000_000
    known = str(list(range(classes)))
    command = [sys.executable, "-W", "ignore", "-c", FIT, str(path), str(limit), str(SPARE), known]
    small = write(tmp_path / "few", *made(5000, columns, classes))
    subprocess.run([*command[:5], str(small), str(4 * limit), str(SPARE), known], check=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert not done.stdout.startswith("refused"), done.stdout
    peak, refills = done.stdout.split()
    assert int(refills) > 0
    assert int(peak) <= limit, f"{int(peak) / 1e6:.0f} MB where {megabytes} are allowed"


def test_too_little_is_refused_before_the_fit(tmp_path: Path) -> None:
    path = csv(tmp_path / "rows", *made(2000, 4, 2))
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        FIT,
        str(path),
        "300000000",
        str(2**33),
        "None",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("refused memory is 300 MB")
    assert "Allow at least" in done.stdout
