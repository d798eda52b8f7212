"""Checkpoints of boosting by filtering: everything a run needs to go on, between two refills.

A run that goes on from one draws the very rows that it would have drawn, so it ends with the same
model. The file is a zip of NumPy arrays, one of them JSON text; nothing in it can run. It is
written beside the old one and put in its place when it is whole and on disk.
"""

from __future__ import annotations

import json
import os
import zipfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.ledgers.ledger import Round
from pacboost.ledgers.refill import Refill
from pacboost.models.rules import from_plain, to_plain
from pacboost.samples.bins import Bins

FORMAT = "pacboost checkpoint"
VERSION = 1

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A run of filtering between two refills."""

    settings: dict[str, Any]
    """What the run was told, and which source it reads: another run cannot go on from here."""
    position: dict[str, Any]
    """Where the oracle is."""
    rows: tuple[int, int]
    """The most rows of a sample, and how many the first one has: memory may allow others now."""
    bins: Bins
    outputs: int
    rules: list[Hypothesis]
    votes: list[float]
    rounds: list[Round]
    refills: list[Refill]
    cells: bool
    mass: float
    arrays: Arrays
    """Rows set apart, and what is known of each row of an array."""

    def save(self, path: str | Path) -> None:
        """Write the file whole or not at all."""
        path = Path(path)
        content = {
            "format": FORMAT,
            "version": VERSION,
            "settings": self.settings,
            "position": self.position,
            "rows": list(self.rows),
            "middle": self.bins.middle.tolist(),
            "levels": self.bins.levels.tolist(),
            "outputs": self.outputs,
            "rules": [to_plain(rule) for rule in self.rules],
            "votes": self.votes,
            "rounds": [asdict(entry) for entry in self.rounds],
            "refills": [asdict(entry) for entry in self.refills],
            "cells": self.cells,
            "mass": self.mass,
        }
        text = json.dumps(content, allow_nan=False).encode()
        thresholds = {f"thresholds_{j}": t for j, t in enumerate(self.bins.thresholds)}
        text_array: Arrays = {"content": np.frombuffer(text, np.uint8)}
        arrays: Any = {**text_array, **thresholds, **self.arrays}
        part = _part(path)
        try:
            with part.open("wb") as file:
                np.savez(file, allow_pickle=False, **arrays)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except OSError as problem:
            raise FileError(
                f"{path}: the checkpoint cannot be written ({problem.strerror or problem}); an "
                "earlier one, if there is any, is as it was"
            ) from problem
        finally:
            with suppress(OSError):
                part.unlink()


def _part(path: Path) -> Path:
    """Where a file grows: always the same place, so that a run that was killed leaves no litter."""
    return path.with_name(f".{path.name}.part")


def delete(path: Path) -> None:
    """Delete a checkpoint that is no longer needed, and what a killed run may have left of one."""
    for file in (path, _part(path)):
        with suppress(OSError):
            file.unlink()


def load(path: str | Path) -> Checkpoint:
    """Read what ``save`` wrote."""
    path = Path(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            arrays: Arrays = {name: found[name] for name in found.files}
        content = json.loads(arrays.pop("content").tobytes())
        if content["format"] != FORMAT or content["version"] != VERSION:
            raise ValueError(f"version {content['version']}, not {VERSION}")
        return _checkpoint(content, arrays)
    except OSError as problem:
        raise FileError(f"{path}: cannot be read ({problem.strerror or problem})") from problem
    except (
        AttributeError, LookupError, ArithmeticError, TypeError, ValueError, EOFError,
        zipfile.BadZipFile,
    ) as problem:  # fmt: skip
        raise FileError(
            f"{path}: is no checkpoint that this pacboost can read ({problem}). Delete it to start "
            "afresh, or name another file"
        ) from problem


def _checkpoint(content: dict[str, Any], arrays: Arrays) -> Checkpoint:
    count = len(content["middle"])
    if count != sum(name.startswith("thresholds_") for name in arrays):
        raise ValueError(f"the bins are not of {count} features")
    if not len(content["rules"]) == len(content["votes"]) == len(content["rounds"]):
        raise ValueError("rules, votes and rounds are not as many")
    thresholds = tuple(arrays.pop(f"thresholds_{j}") for j in range(count))
    bins = Bins(
        thresholds,
        np.array(content["middle"], dtype=np.int64),
        np.array(content["levels"], dtype=np.int64),
    )
    outputs = content["outputs"]
    return Checkpoint(
        settings=content["settings"],
        position=content["position"],
        rows=(int(content["rows"][0]), int(content["rows"][1])),
        bins=bins,
        outputs=outputs,
        rules=[from_plain(rule, count, bins, outputs) for rule in content["rules"]],
        votes=content["votes"],
        rounds=[Round(**entry) for entry in content["rounds"]],
        refills=[Refill(**entry) for entry in content["refills"]],
        cells=content["cells"],
        mass=content["mass"],
        arrays=arrays,
    )
