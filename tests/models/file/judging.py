"""What a model file that somebody changed has to do: be refused in words, or answer."""

import tracemalloc
from pathlib import Path

from pacboost import inspect, load, verify
from pacboost.errors import DataError, FileError
from pacboost.models.file.document import MemoryBudget
from tests.models.kinds import KINDS, answers, rows

OTHER_ROWS = ("feature names should match", "rows and columns are needed")
"""How scikit-learn refuses rows with other names, and texts where there is a table to read."""


def judged(path: Path, kind: str) -> bool:
    """Load a file; tell whether it was refused. One that is read must give answers."""
    refusal, model = "", None
    try:
        model = load(path)
    except FileError as problem:
        refusal = str(problem)
    if model is None:
        assert refusal.startswith(f"{path}: ")
        return True
    try:
        assert len(answers(model, kind)["predict"]) == len(rows(kind))
    except ValueError as problem:  # rows of the old kind are not those of the new model
        if not isinstance(problem, DataError) and not any(t in str(problem) for t in OTHER_ROWS):
            raise
    if kind in KINDS:
        assert model.feature_importances_.shape == (model.n_features_in_,)
    if hasattr(model, "rules"):
        assert all(isinstance(rule, str) for rule in model.rules())
    assert verify(path)
    assert str(inspect(path))
    return False


def within_bounds(path: Path, kind: str) -> bool:
    """Judge a file, and measure what it takes in memory."""
    tracemalloc.start()
    try:
        refused = judged(path, kind)
        assert tracemalloc.get_traced_memory()[1] <= MemoryBudget.of(path.stat().st_size).left
    finally:
        tracemalloc.stop()
    return refused
