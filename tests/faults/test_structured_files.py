"""Files whose numbers no fit has left, with right checksums: refused, or all that follows works."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost.errors import FileError, PacboostError
from pacboost.models.file import container
from tests.faults.structured import mutated
from tests.models.kinds import FOLDER, KINDS, answers


def uses(model: Any, path: Path, kind: str) -> list[Callable[[], object]]:
    """What people do with a model file."""
    folder = path.parent

    def saved() -> object:
        model.save(folder / "again.pacb")
        return pacboost.load(folder / "again.pacb")

    return [
        lambda: answers(model, kind),
        lambda: str(pacboost.verify(path)),
        lambda: model.feature_importances_,
        lambda: list(model.rules()) if hasattr(model, "rules") else None,
        lambda: model.report(folder / "page.html") if hasattr(model, "report") else None,
        lambda: pacboost.export(model, folder / "model.py"),
        lambda: pacboost.export(model, folder / "model.c"),
        model._repr_html_,
        saved,
    ]


def works_or_is_refused(path: Path, kind: str) -> bool:
    """Use a file in all ways; tell whether it was loaded. Only errors of pacboost are allowed."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with suppress(FileError):
            str(pacboost.inspect(path))
        try:
            model = pacboost.load(path)
        except FileError:
            return False
        for use in uses(model, path, kind):
            with suppress(PacboostError):
                use()
    return True


def tried(folder: Path, kind: str, count: int, seed: int) -> int:
    """Try so many changed files; count those that were loaded."""
    source = FOLDER / f"{kind}.pacb"
    what = container.kind_of(source)
    known = container.read(source, what).document
    loaded = 0
    for number in range(count):
        content = mutated(known, Random(f"{seed} {kind} {number}"))
        path = folder / "changed.pacb"
        try:
            container.write(path, what, content)
        except (FileError, AttributeError, ValueError):  # what no file can hold
            continue
        loaded += works_or_is_refused(path, kind)
    return loaded


@pytest.mark.parametrize("kind", KINDS)
def test_files_with_other_numbers_are_refused_or_work(kind: str, tmp_path: Path) -> None:
    assert tried(tmp_path, kind, 8, seed=1) < 8


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_files_with_other_numbers(kind: str, tmp_path: Path) -> None:
    assert tried(tmp_path, kind, 1_000, seed=2) < 1_000


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
    source = FOLDER / f"{kind}.pacb"
    what = container.kind_of(source)
    content = container.read(source, what).document
    change(content)
    container.write(tmp_path / "changed.pacb", what, content)
    with pytest.raises(FileError, match="is damaged"):
        pacboost.load(tmp_path / "changed.pacb")
