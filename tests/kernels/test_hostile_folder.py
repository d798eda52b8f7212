"""A working directory that holds ``numba.py`` and ``numpy.py``: nothing of it is run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
HOSTILE = "from pathlib import Path\nPath(__file__).with_suffix('.ran').touch()\n"
FIT = """
import sys
sys.stderr.isatty = lambda: True
from pacboost import BoostClassifier
rows = [[k, k % 3] for k in range(60)]
BoostClassifier(n_estimators=3, n_jobs=2).fit(rows, [k % 2 for k, _ in rows])
"""
COMMAND = "from pacboost.cli.main import main; main()"


@pytest.mark.parametrize(
    "call",
    [["-c", FIT], ["-c", COMMAND, "doctor"], ["-c", COMMAND, "fit", "data.csv", "--target", "y"]],
    ids=["fit", "doctor", "pacboost fit"],
)  # fmt: skip
def test_nothing_of_the_working_directory_is_run(tmp_path: Path, call: list[str]) -> None:
    """``-P`` keeps the folder out of the path of this process, as a console script does."""
    for name in ("numba", "numpy", "pacboost", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(HOSTILE, encoding="utf-8")
    rows = "".join(f"{k},{k % 3},{k % 2}\n" for k in range(60))
    (tmp_path / "data.csv").write_text(f"a,b,y\n{rows}", encoding="utf-8")
    # an empty entry of PYTHONPATH would be the working directory
    path = os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH", "")]))
    subprocess.run(
        [sys.executable, "-P", *call], cwd=tmp_path, env={**os.environ, "PYTHONPATH": path},
        check=True, capture_output=True,
    )  # fmt: skip
    assert not list(tmp_path.glob("*.ran"))


def test_no_process_is_started_with_the_working_directory_in_its_path() -> None:
    starts = re.compile(r"\bsubprocess\b|\bsys\.executable\b|\bos\.(exec|spawn|system|popen)")
    for file in SOURCE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert not starts.search(text) or '"-P"' in text or '"-I"' in text, file
