"""Files of every kind: read, written again, summed up and verified."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pacboost
from pacboost.errors import FileError
from pacboost.estimators.forests.forests import (
    RandomForestClassifier,
)
from pacboost.hypotheses import forest as forests
from pacboost.loading import load
from pacboost.models.file import format as model_file
from pacboost.models.file.inspect import inspect
from pacboost.models.model import Model
from pacboost.questions.verify import verify
from tests.model_files import changed
from tests.models.kinds import KINDS, answers, comes_back, saved


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_read_and_written_is_the_same(kind: str, tmp_path: Path) -> None:
    model = KINDS[kind]()
    back = comes_back(model, tmp_path)
    assert type(back) is type(model) or kind == "filtered"
    assert answers(back, kind) == answers(model, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_summaries_say_what_the_model_says(kind: str) -> None:
    path = saved(kind)
    model, told = pacboost.load(path), inspect(path)
    assert told.features == model.n_features_in_
    assert list(told.classes) == list(getattr(model, "classes_", []))
    assert told.certificate == model.model_.certificate
    assert told.rounds == len(model.model_.vote if model.model_.forest else model.model_.ledger)
    assert told.size == path.stat().st_size
    assert told.sentence in str(told)
    assert json.loads(json.dumps(told.to_dict()))["sha256"] == told.sha256
    for part in ("predicts", "features", "written by", "SHA-256"):
        assert part in str(told)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_files_hold(kind: str) -> None:
    path = saved(kind)
    failing = {check.name for check in verify(path) if not check.holds}
    assert failing == (set() if inspect(path).certificate else {"bound"})


def test_looking_into_a_file_loads_no_large_library() -> None:
    code = (
        "import sys\nfrom pacboost.models.file.inspect import inspect\n"
        f"print(inspect({str(saved('trees'))!r}))\n"
        "print([name for name in ('sklearn', 'scipy') if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip().endswith("[]")
    assert "logit with tree" in said.stdout


# A forest comes back from its file as it was, and a damaged file is refused.


def fitted(kind: Any, classes: int = 3, rows: int = 150) -> tuple[Any, pd.DataFrame]:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": generator.normal(size=rows), "b": generator.choice(["x", "y", "z"], size=rows)}
    )
    frame.loc[::7, "a"] = np.nan
    y = generator.integers(classes, size=rows)
    return kind(9, random_state=0).fit(frame, y), frame


def test_equal_fits_write_equal_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        fitted(RandomForestClassifier)[0].save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_blocks_are_the_same_in_whatever_portions_trees_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, frame = fitted(RandomForestClassifier)
    whole = model.model_.vote
    monkeypatch.setattr(forests, "NODES_PER_BLOCK", 150)
    trees = [replace(tree, gains=np.ones(2)) for tree in whole.trees()]
    empty = replace(whole, blocks=(), importances=np.zeros(2))
    at_once = empty.grown(trees)
    portions = empty.grown(trees[:2]).grown(trees[2:3]).grown(trees[3:])
    assert len(at_once.blocks) > 1
    sizes = [block.nodes.size for block in at_once.blocks]
    assert sizes == [block.nodes.size for block in portions.blocks]
    table = model._open(frame)
    assert np.array_equal(at_once.sums(table), whole.sums(table))


def damaged(model: Model, **changes: Any) -> Model:
    block = replace(model.vote.blocks[0], **changes)
    return replace(model, vote=replace(model.vote, blocks=(block,)))


@pytest.mark.parametrize("classes", [2, 3])
def test_damaged_files_are_refused(classes: int, tmp_path: Path) -> None:
    model = fitted(RandomForestClassifier, classes)[0].model_
    block = model.vote.blocks[0]
    loop = block.nodes.copy()
    loop[0] &= ~forests.LOW  # the right child of the root is the root
    stray = block.nodes.copy()
    stray[0] |= np.uint64(5) << np.uint64(41)  # asks for a feature that is not there
    nothing = block.nodes.copy()
    nothing[-1] |= np.uint64(0x7F800000) if classes == 2 else np.uint64(2**20)
    for bad in (
        damaged(model, nodes=loop),
        damaged(model, nodes=stray),
        damaged(model, nodes=nothing),
        damaged(model, nodes=block.nodes[:-1]),
        damaged(model, firsts=block.firsts[::-1].copy()),
        damaged(model, nodes=block.nodes.astype(np.int64)),
    ):
        model_file.save(bad, tmp_path / "bad")
        with pytest.raises(FileError, match="bad"):
            load(tmp_path / "bad")


# Majorities in model files: read back as they were, refused if no fit could have written them.


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("three", lambda rule: rule["rules"].pop()),
        ("majority", lambda rule: rule.update(votes=rule["votes"][1:])),
        ("majority", lambda rule: rule["rules"][0]["feature"].fill(3)),
    ],
)
def test_members_that_no_fit_wrote_are_refused(kind: str, change: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.pacb"
    path.write_bytes(saved(kind).read_bytes())
    changed(path, lambda content: change(content["model"]["rules"][0]))
    with pytest.raises(FileError, match="is damaged"):
        load(path)
