"""Files whose numbers no fit has left, with right checksums: refused, or all that follows works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pacboost
from pacboost.errors import FileError
from pacboost.models.file import container
from tests.faults.mutations import REFUSED, USED, tried
from tests.models.kinds import KINDS, saved


def loaded(folder: Path, kind: str, count: int, seed: int) -> int:
    """Try so many changed files; count those that were loaded."""
    return sum(tried(kind, number, seed, folder) == USED for number in range(count))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", KINDS)
def test_files_with_other_numbers_are_refused_or_work(kind: str, tmp_path: Path) -> None:
    assert loaded(tmp_path, kind, 8, seed=1) < 8


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_files_with_other_numbers(kind: str, tmp_path: Path) -> None:
    assert loaded(tmp_path, kind, 1_000, seed=2) < 1_000


FOUND: list[tuple[str, int, object]] = [
    ("labelled_words", 7, "0"),
    ("array", 21, "5"),
    ("words", 825, "device-1"),
    ("letters", 3491, "device-1"),
]
"""Files that once led to an error of another library.

Votes too large for an exported file; a checkpoint of samples without rows; words that are empty or
end in a blank.
"""


@pytest.mark.parametrize(("kind", "number", "seed"), FOUND)
def test_files_that_once_failed(kind: str, number: int, seed: object, tmp_path: Path) -> None:
    assert tried(kind, number, seed, tmp_path) in {REFUSED, USED}


Change = Callable[[dict[str, Any]], object]


def round_with(name: str, value: float) -> Change:
    """Change a number in the record of the first round."""

    def change(content: dict[str, Any]) -> None:
        rounds = content["model"]["ledger"]["rounds"]
        rounds[name][0] = value

    return change


IMPOSSIBLE: dict[str, tuple[str, Change]] = {
    "a normaliser of 0": ("stumps", round_with("normaliser", 0.0)),
    "a negative normaliser": ("trees", round_with("normaliser", -1.0)),
    "no weight at all": ("stumps", round_with("weight", 0)),
    "an error above 1": ("stumps", round_with("training_error", 1.5)),
    "an edge above 1": ("stumps", round_with("edge", -1.5)),
    "numbers near the largest float": ("stumps", round_with("effective_size", 1.7e308)),
    "a negative number of rows": ("stumps", lambda c: c["model"]["ledger"].update(rows=-5)),
    "no count of mistakes": ("forest", lambda c: c["certificate"]["inputs"].pop("k")),
    "a delta of 2": ("forest", lambda c: c["certificate"].update(delta=2.0)),
    "no classes": ("three", lambda c: c["model"].update(classes=[])),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_no_fit_could_have_written_is_refused(name: str, tmp_path: Path) -> None:
    kind, change = IMPOSSIBLE[name]
    source = saved(kind)
    what = container.kind_of(source)
    content = container.read(source, what).document
    change(content)
    container.write(tmp_path / "changed.pacb", what, content)
    with pytest.raises(FileError, match="is damaged"):
        pacboost.load(tmp_path / "changed.pacb")
