"""``memory=`` is kept: the most memory that a fit takes in a process of its own.

The process may not map much more than that, either (RLIMIT_DATA), so that no peak goes unnoticed.
"""

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
ENOUGH = 2**33
FIT = """
import resource, sys
import pacboost
path, limit, most, classes, rows = sys.argv[1], *map(int, sys.argv[2:])
resource.setrlimit(resource.RLIMIT_DATA, (most, most))
model = pacboost.FilterBoostClassifier(
    n_estimators=8, random_state=0, memory=limit, sample_rows=rows or None, verbose=False
)
try:
    model.fit_source(path, "y", classes=list(range(classes)))
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


def fitted(path: Path, limit: int, most: int, classes: int, rows: int = 0) -> str:
    """Fit in a process that may not map more than so many bytes; give what it prints."""
    numbers = map(str, (limit, most, classes, rows))
    command = [sys.executable, "-W", "ignore", "-c", FIT, str(path), *numbers]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def with_many_levels(path: Path, X: Rows, y: Labels) -> Path:
    """Columns of whole numbers: two tell every row apart, the others have thousands of values."""
    X = np.rint(X * 5000).astype(np.float32)
    X[:, 2:4] = np.random.default_rng(1).permuted(np.arange(len(X))[:, None].repeat(2, 1), axis=0)
    return parquet(path, X, y)


CASES: dict[str, tuple[Callable[[Path, Rows, Labels], Path], int, int, int, int]] = {
    "long CSV": (csv, 500_000, 8, 2, 650),
    "wide CSV": (csv, 6_000, 1500, 2, 900),
    "long Parquet": (parquet, 4_000_000, 8, 2, 600),
    "wide Parquet": (parquet, 8_000, 3000, 2, 1000),
    "many classes": (parquet, 300_000, 20, 60, 800),
    "many levels": (with_many_levels, 300_000, 30, 2, 650),
}
"""How to write rows, how many rows, columns and classes, and how many megabytes are allowed."""


@pytest.mark.parametrize("name", CASES)
def test_memory_is_kept(name: str, tmp_path: Path) -> None:
    write, rows, columns, classes, megabytes = CASES[name]
    path = write(tmp_path / "rows", *made(rows, columns, classes))
    limit = megabytes * 1_000_000
    small = write(tmp_path / "few", *made(3000, columns, classes))
    fitted(small, ENOUGH, ENOUGH, classes, rows=1000)  # loads what is needed
    output = fitted(path, limit, limit + SPARE, classes)
    assert not output.startswith("refused"), output
    peak, refills = output.split()
    assert int(refills) > 0
    assert int(peak) <= limit, f"{int(peak) / 1e6:.0f} MB where {megabytes} are allowed"


REFUSED: dict[str, tuple[Callable[[Path, Rows, Labels], Path], int, int, int]] = {
    "CSV": (csv, 2000, 4, 2),
    "wide CSV": (csv, 2000, 1500, 2),
    "wide Parquet": (parquet, 2000, 6000, 2),
    "many classes": (parquet, 2000, 4, 1500),
}
"""How to write rows, and how many rows, columns and classes."""


@pytest.mark.parametrize("name", REFUSED)
def test_too_little_is_refused_before_the_fit(name: str, tmp_path: Path) -> None:
    write, rows, columns, classes = REFUSED[name]
    path = write(tmp_path / "rows", *made(rows, columns, classes))
    output = fitted(path, 440_000_000, ENOUGH, classes)
    assert output.startswith("refused memory is 440 MB")
    enough = int(output.split("Allow at least ")[1].split(" MB")[0].replace(",", "")) * 1_000_000
    assert enough > 440_000_000
    output = fitted(path, enough, enough + SPARE, classes, rows=1000)
    assert not output.startswith("refused"), output
    assert int(output.split()[0]) <= enough
