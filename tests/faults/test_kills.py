"""kill -9 at any moment: a file is the old one or the new one, and fits can go on."""

from __future__ import annotations

import os
import signal
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import pacboost
from pacboost.cli.main import main
from tests.models.kinds import saved

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed after fork")

Write = Callable[[Any, Path], object]


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


def predictions(model: Path, output: Path, folder: Path) -> None:
    rows = folder / "rows.csv"
    if not rows.exists():
        X = np.random.default_rng(0).normal(size=(300, 3))
        np.savetxt(rows, X, delimiter=",", header="a,b,c", comments="")
    done = CliRunner().invoke(main, ["predict", str(model), str(rows), "--output", str(output)])
    assert done.exit_code == 0, done.output


WRITERS: dict[str, tuple[str, Write]] = {
    "save": ("model.pacb", lambda model, path: model.save(path)),
    "report": ("page.html", lambda model, path: model.report(path)),
    "export": ("model.py", pacboost.export),
    "export C": ("model.c", pacboost.export),
}


def outlives_kills(folder: Path, name: str, kills: int, seed: int) -> None:
    """Write two models by turns and kill; the file has to be that of one of them."""
    file, write = WRITERS[name]
    models = [pacboost.load(saved(kind)) for kind in ("stumps", "regressor")]
    whole = []
    for model in models:
        write(model, folder / file)
        whole.append((folder / file).read_bytes())
    random = Random(seed)

    def by_turns() -> None:
        for model in models:
            write(model, folder / file)

    for _ in range(kills):
        killed(by_turns, random.uniform(0.01, 0.15))
        assert (folder / file).read_bytes() in whole


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_the_old_one_or_the_new_one(name: str, tmp_path: Path) -> None:
    outlives_kills(tmp_path, name, 3, seed=1)


def predictions_outlive_kills(folder: Path, kills: int, seed: int) -> None:
    output = folder / "answers.csv"
    models = [saved(kind) for kind in ("stumps", "regressor")]
    whole = []
    for model in models:
        predictions(model, output, folder)
        whole.append(output.read_bytes())
    random = Random(seed)

    def by_turns() -> None:
        for model in models:
            predictions(model, output, folder)

    for _ in range(kills):
        killed(by_turns, random.uniform(0.02, 0.2))
        assert output.read_bytes() in whole


def test_predictions_are_the_old_ones_or_the_new_ones(tmp_path: Path) -> None:
    predictions_outlive_kills(tmp_path, 3, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_fifty_kills(name: str, tmp_path: Path) -> None:
    outlives_kills(tmp_path, name, 50, seed=3)


@pytest.mark.slow
def test_predictions_outlive_fifty_kills(tmp_path: Path) -> None:
    predictions_outlive_kills(tmp_path, 50, seed=4)
