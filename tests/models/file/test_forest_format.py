"""A forest comes back from its file as it was, and a damaged file is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pacboost.errors import FileError, NotCertified, ParameterError
from pacboost.estimators.files import load
from pacboost.estimators.forests.forests import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from pacboost.hypotheses import forest as forests
from pacboost.models.file import format as model_file
from pacboost.models.model import ForestModel

KINDS = (RandomForestClassifier, ExtraTreesClassifier, RandomForestRegressor, ExtraTreesRegressor)


def fitted(kind: Any, classes: int = 3, rows: int = 150) -> tuple[Any, pd.DataFrame]:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": generator.normal(size=rows), "b": generator.choice(["x", "y", "z"], size=rows)}
    )
    frame.loc[::7, "a"] = np.nan
    y = generator.integers(classes, size=rows)
    return kind(9, random_state=0).fit(frame, y), frame


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [2, 3])
def test_saved_forest_comes_back(kind: Any, classes: int, tmp_path: Path) -> None:
    model, frame = fitted(kind, classes)
    model.save(tmp_path / "forest")
    back = load(tmp_path / "forest")
    assert type(back) is kind
    assert np.array_equal(back.predict(frame), model.predict(frame))
    assert model_file.model_bytes(back.model_) == model_file.model_bytes(model.model_)
    assert list(back.feature_names_in_) == ["a", "b"]
    assert np.array_equal(back.feature_importances_, model.feature_importances_)
    with pytest.raises(ParameterError, match="read from a file"):
        back.set_params(warm_start=True).fit(frame, np.zeros(len(frame)))
    with pytest.raises(NotCertified):
        _ = back.certificate_


def test_certificate_is_kept(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(1000, 2))
    model = RandomForestClassifier(20, certify="oob", random_state=0).fit(X, X[:, 0] > 0)
    model.save(tmp_path / "forest")
    assert load(tmp_path / "forest").certificate_ == model.certificate_


def test_equal_fits_write_equal_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        fitted(RandomForestClassifier)[0].save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_blocks_are_the_same_in_whatever_portions_trees_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, frame = fitted(RandomForestClassifier)
    whole = model.model_.forest
    monkeypatch.setattr(forests, "NODES_IN_A_BLOCK", 150)
    trees = [replace(tree, gains=np.ones(2)) for tree in whole.trees()]
    empty = replace(whole, blocks=(), importances=np.zeros(2))
    at_once = empty.grown(trees)
    portions = empty.grown(trees[:2]).grown(trees[2:3]).grown(trees[3:])
    assert len(at_once.blocks) > 1
    sizes = [block.nodes.size for block in at_once.blocks]
    assert sizes == [block.nodes.size for block in portions.blocks]
    table = model._open(frame)
    assert np.array_equal(at_once.sums(table), whole.sums(table))


def damaged(model: ForestModel, **changes: Any) -> ForestModel:
    block = replace(model.forest.blocks[0], **changes)
    return replace(model, forest=replace(model.forest, blocks=(block,)))


@pytest.mark.parametrize("classes", [2, 3])
def test_damaged_files_are_refused(classes: int, tmp_path: Path) -> None:
    model = fitted(RandomForestClassifier, classes)[0].model_
    block = model.forest.blocks[0]
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


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("{}")
    with pytest.raises(FileError, match="is not a pacboost model file"):
        load(path)
    with pytest.raises(FileError, match="cannot be read"):
        load(tmp_path / "absent")
    with pytest.raises(FileError, match="cannot be written"):
        fitted(RandomForestClassifier)[0].save(tmp_path / "no" / "folder")
