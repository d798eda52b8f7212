"""A working directory that holds ``numpy.py`` and others: nothing of it is run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pacboost.cli.main import COMMANDS
from tests.kernels.hostile_folders import (
    CALLS,
    ON_A_CLUSTER,
    SOURCE,
    console_script,
    hostile_folder,
)

FIT = """
import sys
sys.stderr.isatty = lambda: True
from pacboost import BoostClassifier
rows = [[k, k % 3] for k in range(60)]
BoostClassifier(n_estimators=3, n_jobs=2).fit(rows, [k % 2 for k, _ in rows])
"""
COMMANDS_OF_ONE_PROCESS = """
import os, shlex, sys
from pacboost.cli.main import main
for line in sys.argv[1:]:
    try:
        main(shlex.split(line))
    except SystemExit as end:
        if end.code not in ([2] if line.startswith("lab") else [None, 0, 1, 3]):
            raise
    assert not {"", ".", os.getcwd()} & set(sys.path), line
"""
PROCESSES = {
    "all": COMMANDS_OF_ONE_PROCESS + FIT,
    **dict.fromkeys(CALLS, COMMANDS_OF_ONE_PROCESS),
    "estimator": FIT,
}


def test_every_command_is_called() -> None:
    assert {line.split()[0] for lines in CALLS.values() for line in lines} == {*COMMANDS}


@pytest.mark.parametrize(
    "name",
    [name if name == "all" else pytest.param(name, marks=pytest.mark.slow) for name in PROCESSES],
)
def test_nothing_of_the_working_directory_is_run(tmp_path: Path, name: str) -> None:
    """``-P`` keeps the folder out of the path of this process, as a console script does."""
    modules = ("nanobind", "numpy", "pacboost", "sitecustomize", "pyarrow", "sklearn", "rich")
    hostile_folder(tmp_path, modules)
    # an empty entry of PYTHONPATH would be the working directory
    path = os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH", "")]))
    lines = sum(CALLS.values(), ()) if name == "all" else CALLS.get(name, ())
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROCESSES[name], *lines],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.glob("*.ran"))


def test_workers_of_a_cluster_run_nothing_of_the_working_directory(tmp_path: Path) -> None:
    """They are started by ``python -c``, which looks there first unless it is told not to."""
    hostile_folder(tmp_path / "work", ("multiprocessing", "numpy", "distributed"))
    done = subprocess.run(
        [*console_script(tmp_path), *ON_A_CLUSTER.split()], cwd=tmp_path / "work", check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True,
    )  # fmt: skip
    assert "2 workers" in done.stderr  # they read Parquet files only
    assert not list(tmp_path.rglob("*.ran"))


def test_no_process_is_started_with_the_working_directory_in_its_path() -> None:
    starts = re.compile(r"\bsubprocess\b|\bsys\.executable\b|\bos\.(exec|spawn|system|popen)")
    for file in SOURCE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert not starts.search(text) or '"-P"' in text or '"-I"' in text, file
