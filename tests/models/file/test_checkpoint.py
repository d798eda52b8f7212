"""Checkpoints: whole or not at all, and back as they were."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pacboost.errors import FileError
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.ledgers.ledger import Refill, Round
from pacboost.models.file import checkpoint
from pacboost.models.file.checkpoint import Checkpoint
from pacboost.samples.bins import Bins
from pacboost.sources.optional import part_of
from tests.equal_bins import equal_bins
from tests.model_files import changed

BINS = Bins(
    (np.array([0.1, 0.7], dtype=np.float32), np.empty(0, dtype=np.float32)), np.array([1, 0])
)


def make(rounds: int = 2) -> Checkpoint:
    constant = TreeRule.constant(BINS, np.array([0.125]))
    rules = [StumpRule(0, float(np.float32(0.7)), 1, 1, -1), StumpRule.constant(1), constant]
    entry = Round(1, 0.3, 0.4, 0.25, 0.9, 0.3, 10.0, 2**52, [0.5], "a rule", 0.01)
    refill = Refill(0, 0, 100, 90, 50, 1.0, 0.5, 0.4, 0.6, 1.0, 1.0, 0.69, 0.01, 2.0, mistakes=90)
    return Checkpoint(
        settings={"booster": "'mada'", "seed": 3},
        position={"lap": 0, "row": 7},
        rows=(500, 125),
        bins=BINS,
        outputs=1,
        rules=(rules * rounds)[:rounds],
        votes=[0.25] * rounds,
        rounds=[dataclasses.replace(entry, number=t + 1) for t in range(rounds)],
        refills=[refill],
        cells=False,
        mass=0.1 + 0.2,
        looks=2,
        arrays={"kinds": np.arange(9, dtype=np.uint8)},
    )


def test_round_trip(tmp_path: Path) -> None:
    made = make(3)
    made.save(tmp_path / "run")
    back = checkpoint.load(tmp_path / "run")
    for field in dataclasses.fields(Checkpoint):
        if field.name not in ("bins", "arrays", "rules"):
            assert getattr(back, field.name) == getattr(made, field.name), field.name
    assert equal_bins(back.bins, BINS)
    assert back.bins.middle.tolist() == BINS.middle.tolist()
    assert back.rules[:2] == made.rules[:2]
    assert back.rules[2].values.tolist() == [[0.125]]
    assert getattr(back.rules[2], "bins", None) is back.bins
    np.testing.assert_array_equal(back.arrays["kinds"], made.arrays["kinds"])
    assert back.arrays["kinds"].dtype == np.uint8


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], stdout=subprocess.PIPE, check=True
    )
    own = part_of(tmp_path / "run")
    part = own.rename(own.with_name(own.name.replace(f".{os.getpid()}-", f".{int(ended.stdout)}-")))
    make().save(tmp_path / "run")
    part.write_bytes(b"half a file")
    checkpoint.delete(tmp_path / "run")
    assert not list(tmp_path.iterdir())
    checkpoint.delete(tmp_path / "run")


@pytest.mark.parametrize(
    "wrong",
    [
        {"bins": None},
        {"rules": [{"kind": "stumps"}]},
        {"rules": []},
        {"rounds": {}},
        {"refills": {"number": [0]}},
        {"rows": []},
        {"rows": [1, "many"]},
        {"counts": [2, 10**9]},
        {"votes": [1, 2]},
        {"arrays": {"kinds": [1]}},
        {"settings": "none"},
        {"outputs": None},
        {"looks": -1},
    ],
)
def test_files_that_no_run_wrote_are_refused(wrong: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "run"
    make().save(path)
    if wrong.get("outputs", 0) is None:
        make(3).save(path)
    changed(path, lambda content: content.update(wrong), "checkpoint")
    with pytest.raises(FileError, match="is no checkpoint"):
        checkpoint.load(path)


@pytest.mark.parametrize("size", [0, 1, 50, 400])
def test_files_cut_short_are_refused(size: int, tmp_path: Path) -> None:
    path = tmp_path / "run"
    make().save(path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(FileError, match="no checkpoint"):
        checkpoint.load(path)


def test_nothing_in_a_file_can_run(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with path.open("wb") as file:
        np.savez(file, content=np.array([{"a": print}], dtype=object))
    with pytest.raises(FileError, match="no checkpoint"):
        checkpoint.load(path)
    path.write_bytes(b"cos\nsystem\n(S'exit 1'\ntR.")
    with pytest.raises(FileError, match="no checkpoint"):
        checkpoint.load(path)
