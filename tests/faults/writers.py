"""What writes a file, for tests that kill the writer or fill its disk."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

import pacboost
from pacboost.cli.main import main

Write = Callable[[Any, Path], object]

WRITERS: dict[str, tuple[str, Write]] = {
    "save": ("model.pacb", lambda model, path: model.save(path)),
    "report": ("page.html", lambda model, path: model.report(path)),
    "export": ("model.py", pacboost.export),
    "export C": ("model.c", pacboost.export),
}


def predictions(model: Path, output: Path, folder: Path) -> None:
    rows = folder / "rows.csv"
    if not rows.exists():
        X = np.random.default_rng(0).normal(size=(300, 3))
        np.savetxt(rows, X, delimiter=",", header="a,b,c", comments="")
    done = CliRunner().invoke(main, ["predict", str(model), str(rows), "--output", str(output)])
    assert done.exit_code == 0, done.output
