"""Whatever is done to a model file: it is refused in words, or it is a model that answers."""

import tracemalloc
from pathlib import Path
from random import Random

import pytest

from pacboost import inspect, load, verify
from pacboost.errors import DataError, FileError
from pacboost.models.file.document import MemoryBudget
from tests.models.file.mutants import GREEDY, WAYS, sealed
from tests.models.kinds import DECISIONS, KINDS, answers, rows, saved

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # votes of 1e150 may overflow
    # a file whose names were dropped or added is another model, of rows without or with names
    pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names:UserWarning"),
]


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


def put_to_the_test(path: Path, kind: str, count: int, seed: int) -> int:
    """Try files that were changed, two in three with the right SHA-256; count those refused."""
    random, refused = Random(f"{seed} {kind}"), 0
    original = saved(kind).read_bytes()
    path.write_bytes(original)
    assert not judged(path, kind)
    for number in range(count):
        change = WAYS[number % len(WAYS)]
        content = change(original, random)
        seal = number % 3 != 0
        path.write_bytes(sealed(content) if seal else content)
        given_up = (within_bounds if change in GREEDY else judged)(path, kind)
        assert seal or given_up or content == original, "read against its own SHA-256"
        refused += given_up
    return refused


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", [*KINDS, *DECISIONS])
def test_mutants_are_refused_or_answer(kind: str, tmp_path: Path) -> None:
    count = 2_000 // len(KINDS)
    assert put_to_the_test(tmp_path / "mutant", kind, count, seed=1) > count / 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, *DECISIONS])
def test_a_hundred_thousand_mutants(kind: str, tmp_path: Path) -> None:
    count = 100_000 // len(KINDS) + 1
    assert put_to_the_test(tmp_path / "mutant", kind, count, seed=2) > count / 2
