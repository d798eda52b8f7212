"""Learners of the user: functions and objects that a Python file defines."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import click


def defined_in(place: str) -> Any:
    """Return what ``file.py:name`` names; the code of the file is run.

    The module is known by the stem of its file, so that rules can be pickled.
    """
    file, _, name = place.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise click.UsageError(f"--learner {place}: there is no file {file}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise click.UsageError(f"--learner {place}: {file} is no Python file; its name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    try:
        spec.loader.exec_module(module)
    except Exception as problem:  # code of a user may raise anything
        raise click.UsageError(
            f"--learner {place}: {file} raised {type(problem).__name__}: {problem}"
        ) from problem
    if not hasattr(module, name):
        public = ", ".join(each for each in vars(module) if not each.startswith("_"))
        raise click.UsageError(f"--learner {place}: {file} defines no {name}; it has {public}")
    return getattr(module, name)
