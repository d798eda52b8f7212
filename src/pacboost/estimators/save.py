"""From an estimator to a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pacboost.errors import FileError


def save(model: Any, path: str | Path, *, remember_rows: bool = True) -> None:
    """Write a fitted model to a file that ``pacboost.load`` reads; the name may end in .pacb.

    The file holds data only, no code, and is written whole or not at all. It keeps a sketch of the
    training rows, salted hashes of some of them, by which ``certify`` refuses them later;
    ``remember_rows=False`` leaves it out.
    """
    if not hasattr(model, "save"):
        raise FileError(
            f"{path}: is not written, for {type(model).__name__} has no model file; votes of "
            "stumps, trees and lists of words have one, and forests. Pickle it, if you trust who "
            "reads it"
        )
    model.save(path, remember_rows=remember_rows)
