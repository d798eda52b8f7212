"""A working directory that holds ``numba.py`` and ``numpy.py``: nothing of it is run."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from pacboost.cli.main import COMMANDS

SOURCE = Path(__file__).parents[2] / "src"
HOSTILE = "from pathlib import Path\nPath(__file__).with_suffix('.ran').touch()\n"
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
FIT_A_MODEL = "fit data.csv --target y --learner stump --rounds 3 --output m.pacb"
CALLS = {
    "alone": (
        "fit data.csv --target b --loss squared_error --rounds 3 --output n.pacb",
        "intervals n.pacb new.csv --target b --output i.pacb",
        "doctor", "guide", "plan holdout --epsilon 0.1 --delta 0.1", "demo --theory",
    ),
    "rows": ("diagnose data.csv --target y", "compare data.csv --target y --rounds 3"),
    "model": (
        FIT_A_MODEL, "verify m.pacb", "inspect m.pacb", "export m.pacb --output m.c",
        "report m.pacb", "predict m.pacb new.csv", "ask m.pacb a=1", "lab absent.csv --target y",
    ),
    "new rows": (
        FIT_A_MODEL, "certify m.pacb new.csv --target y",
        "watch m.pacb new.csv --target y --error 0.4",
        "threshold m.pacb new.csv --target y --recall 0.5 --output t.pacb",
        "sets m.pacb new.csv --target y --output s.pacb",
    ),
}  # fmt: skip
PROCESSES = {
    "all": COMMANDS_OF_ONE_PROCESS + FIT,
    **dict.fromkeys(CALLS, COMMANDS_OF_ONE_PROCESS),
    "estimator": FIT,
}


COMMAND = """
import sys
from pacboost.cli.main import main
if __name__ == "__main__":
    main(sys.argv[1:])
"""
ON_A_CLUSTER = "fit data.csv --target y --rounds 2 --cluster local:2 --output k.pacb"


def console_script(folder: Path) -> list[str]:
    """Write the command as pip does: Python puts its folder into the path, not the current one."""
    script = folder / "bin" / "pacboost"
    script.parent.mkdir()
    script.write_text(COMMAND, encoding="utf-8")
    return [sys.executable, "-W", "ignore", str(script)]


def hostile_folder(folder: Path, modules: Iterable[str], random: Random | None = None) -> None:
    """Write rows beside modules that leave a mark; ``random`` makes packages of some of them."""
    folder.mkdir(exist_ok=True)
    for name in modules:
        module = folder / f"{name}.py"
        if random is not None and random.random() < 0.3:
            module = folder / name / "__init__.py"
            module.parent.mkdir()
        module.write_text(HOSTILE, encoding="utf-8")
    for file, first in (("data", 0), ("new", 1000)):
        rows = "".join(f"{k},{k % 3 + k / 1e4},{k % 2}\n" for k in range(first, first + 120))
        (folder / f"{file}.csv").write_text(f"a,b,y\n{rows}", encoding="utf-8")


def test_every_command_is_called() -> None:
    assert {line.split()[0] for lines in CALLS.values() for line in lines} == {*COMMANDS}


@pytest.mark.parametrize(
    "name",
    [name if name == "all" else pytest.param(name, marks=pytest.mark.slow) for name in PROCESSES],
)
def test_nothing_of_the_working_directory_is_run(tmp_path: Path, name: str) -> None:
    """``-P`` keeps the folder out of the path of this process, as a console script does."""
    modules = ("numba", "numpy", "pacboost", "sitecustomize", "pyarrow", "sklearn", "rich")
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
