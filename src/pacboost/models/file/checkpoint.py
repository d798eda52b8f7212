"""Checkpoints of boosting by filtering: the state of a run between two refills.

A run that continues from a checkpoint draws the same rows as one without a break, so it ends with
the same model. The file is laid out as a model file (models/file/container.py); it holds no code.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.ledgers.ledger import Refill, Round
from pacboost.models.file import container, parts
from pacboost.models.file.fields import Fields, columns, records
from pacboost.models.file.rules import from_plain, to_plain
from pacboost.samples.bins import Bins
from pacboost.sources.optional import remove_leftovers

KIND = "checkpoint"
# A stranger's vote of 1e300 would make the first weights of the continued run overflow.
MAX_VOTE = 1e6
MAX_ROWS = 2**40

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A run of filtering between two refills."""

    settings: dict[str, Any]
    """The parameters of the run and its source: only a run with the same ones can continue."""
    position: dict[str, Any]
    rows: tuple[int, int]
    """Largest number of rows of a sample, and the number of the first: memory may differ now."""
    bins: Bins
    outputs: int
    rules: list[Hypothesis]
    votes: list[float]
    rounds: list[Round]
    refills: list[Refill]
    cells: bool
    mass: float
    looks: int
    """Number of certificates that were read before; each further one pays for its look."""
    arrays: Arrays
    """Rows set apart, and further arrays with an entry for each row."""

    def save(self, path: str | Path) -> None:
        """Write the file whole or not at all."""
        content = {
            "settings": self.settings, "position": self.position, "rows": list(self.rows),
            "bins": parts.bins_written(self.bins), "outputs": self.outputs,
            "rules": to_plain(self.rules), "votes": self.votes,
            "rounds": columns(self.rounds, [field.name for field in fields(Round)]),
            "refills": columns(self.refills, [field.name for field in fields(Refill)]),
            "counts": [len(self.rounds), len(self.refills)], "cells": self.cells, "mass": self.mass,
            "looks": self.looks, "arrays": self.arrays,
        }  # fmt: skip
        container.write(Path(path), KIND, content)


def delete(path: Path) -> None:
    """Delete a checkpoint that is no longer needed, and the partial file of a killed run."""
    remove_leftovers(path)
    with suppress(OSError):
        path.unlink()


def load(path: str | Path) -> Checkpoint:
    """Read what ``save`` wrote."""
    path = Path(path)
    try:
        content = container.read(path, KIND)
        return _checkpoint(Fields(content.document, "content", content.room))
    except (ArithmeticError, LookupError, TypeError, ValueError) as problem:
        if isinstance(problem.__cause__, OSError):
            raise
        raise FileError(
            f"{path}: is no checkpoint that this pacboost can read ({problem}). Delete it to start "
            "afresh, or name another file"
        ) from problem


def _checkpoint(content: Fields) -> Checkpoint:
    bins = parts.bins_read(content.part("bins"))
    outputs = content.whole("outputs", 1, 2**20)
    rules = from_plain(content.parts("rules"), len(bins.thresholds), bins, outputs)
    votes, counts, rows = (content.get(name, list) for name in ("votes", "counts", "rows"))
    if not all(type(number) is int and number >= 0 for number in counts + rows):
        content.refuse("rows", "are not whole numbers")
    if len(rows) != 2 or len(counts) != 2 or not len(rules) == len(votes) == counts[0]:
        content.refuse("votes", "rules, votes and rounds are not equal in number")
    if not all(isinstance(vote, float) and abs(vote) <= MAX_VOTE for vote in votes):
        content.refuse("votes", "are not finite numbers")
    if not all(0 < number <= MAX_ROWS for number in rows):
        content.refuse("rows", "are none, or more than any run draws")
    checkpoint = Checkpoint(
        settings=content.get("settings", dict), position=content.get("position", dict),
        rows=(rows[0], rows[1]), bins=bins, outputs=outputs, rules=rules, votes=votes,
        rounds=records([content.part("rounds")], Round, counts[0]),
        refills=records([content.part("refills")], Refill, counts[1]),
        cells=content.get("cells", bool), mass=content.number("mass"),
        looks=content.whole("looks", 0, MAX_ROWS),
        arrays=content.get("arrays", dict),
    )  # fmt: skip
    if _holds_array([checkpoint.settings, checkpoint.position]):
        content.refuse("settings", "or the position hold an array")
    if not all(isinstance(array, np.ndarray) for array in checkpoint.arrays.values()):
        content.refuse("arrays", "are not arrays")
    parts.check_numbers("rounds", checkpoint.rounds)
    parts.check_numbers("refills", checkpoint.refills)
    content.end()
    return checkpoint


def _holds_array(value: object) -> bool:
    """Check whether a value contains an array; settings with one could not be compared."""
    if isinstance(value, dict):
        return any(map(_holds_array, value.values()))
    if isinstance(value, list):
        return any(map(_holds_array, value))
    return isinstance(value, np.ndarray)
