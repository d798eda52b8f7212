"""Without pyarrow arrays, frames and text files are read as with it; others name an extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from pacboost.errors import InputWarning
from pacboost.sources.data_file import DataFile
from pacboost.sources.file_rows import read_csv

MESSY = """when;paid;size;amount;y
03.02.2024;yes;S;"1,5";early
04.12.2024;no;n/a;"2,25";late
28.02.2024;;M;"1000,75";
29.02.2024;yes;S;;late
"""

PROGRAM = """
import sys
sys.modules["pyarrow"] = None  # every import of it fails
import numpy as np, pandas as pd, pytest
from pathlib import Path
import pacboost
from pacboost.errors import PacboostError
from pacboost.sources.file_rows import blocks, read_csv
from pacboost.sources.data_file import DataFile

rng = np.random.default_rng(0)
X, y = rng.normal(size=(400, 3)), rng.integers(2, size=400)
y[:300] = X[:300, 0] > 0
frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(size=np.where(y, "large", "small"))
for rows in (X, frame):
    model = pacboost.BoostClassifier(max_iter=5).fit(rows[:200], y[:200])
    model.save("model.pacb")
    assert (pacboost.load("model.pacb").predict(rows) == model.predict(rows)).all()
    print(pacboost.certify(model, rows[200:], y[200:]).size)
read = read_csv("messy.csv", "y", categories=True)
for j, name in enumerate(read.table.names):
    print(name, read.table.column(j).tolist())
print(read.labels.tolist())
for name in ("rows.parquet", "rows.feather"):
    with pytest.raises(PacboostError, match=r"pacboost\\[files\\]"):
        list(blocks(DataFile(Path(name))))
"""


def test_arrays_frames_and_text_files_need_no_pyarrow(tmp_path: Path) -> None:
    (tmp_path / "messy.csv").write_text(MESSY, encoding="utf-8")
    table = pd.DataFrame({"a": [1.0], "y": ["yes"]})
    table.to_parquet(tmp_path / "rows.parquet")
    table.to_feather(tmp_path / "rows.feather")
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    with pytest.warns(InputWarning, match="1 of 4 rows"):
        read = read_csv(DataFile(tmp_path / "messy.csv"), "y", categories=True)
    cells = [f"{n} {read.table.column(j).tolist()}" for j, n in enumerate(read.table.names)]
    assert run.stdout.splitlines() == ["200", "200", *cells, str(read.labels.tolist())]
