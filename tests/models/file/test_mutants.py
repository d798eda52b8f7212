"""Whatever is done to a model file: it is refused in words, or it is a model that answers."""

from pathlib import Path
from random import Random

import pytest

from tests.grids import one_in
from tests.models.file.judging import judged, within_bounds
from tests.models.file.mutants import GREEDY, WAYS, sealed
from tests.models.kinds import DECISIONS, KINDS, saved

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # votes of 1e150 may overflow
    # a file whose names were dropped or added is another model, of rows without or with names
    pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names:UserWarning"),
]


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


@one_in(3)
@pytest.mark.parametrize("kind", [*KINDS, *DECISIONS])
def test_mutants_are_refused_or_answer(kind: str, tmp_path: Path) -> None:
    count = 2_000 // len(KINDS)
    assert put_to_the_test(tmp_path / "mutant", kind, count, seed=1) > count / 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, *DECISIONS])
def test_a_hundred_thousand_mutants(kind: str, tmp_path: Path) -> None:
    count = 100_000 // len(KINDS) + 1
    assert put_to_the_test(tmp_path / "mutant", kind, count, seed=2) > count / 2
