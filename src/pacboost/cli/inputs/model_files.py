"""Model files on the command line: which of two files is the model, and reading it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pacboost.errors import FileError

SUFFIXES = (".pacb", ".json")


def model_first(first: Path, second: Path) -> tuple[Path, Path]:
    """Give the model and the data, in whichever order they were named.

    >>> [path.name for path in model_first(Path("rows.csv"), Path("m.pacb"))]
    ['m.pacb', 'rows.csv']
    """
    swapped = second.suffix in SUFFIXES and first.suffix not in SUFFIXES
    return (second, first) if swapped else (first, second)


def load(path: Path) -> Any:
    """Read a model; the compiler is loaded with it."""
    from pacboost.cli.output import working
    from pacboost.estimators.files import load

    with working(f"loading {path.name}"):
        return load(path)


def check_output(output: Path | None, *inputs: Path) -> None:
    """Check before the work whether the output can be written."""
    if output is None:
        return
    folder = output.absolute().parent
    if not folder.is_dir():
        raise FileError(f"{output}: its folder does not exist; create it first")
    if not os.access(folder, os.W_OK):
        raise FileError(f"{output}: its folder cannot be written to; name another one")
    if output.is_dir():
        raise FileError(f"{output}: is a folder; name a file in it")
    if output.exists() and not output.is_file():
        raise FileError(f"{output}: is a device or a pipe; name a file")
    if output.exists() and any(one.exists() and one.samefile(output) for one in inputs):
        raise FileError(f"{output}: is also an input and would be overwritten; name another file")
