"""The model file: what goes in comes out, and what is not one is refused in words."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import pacboost
from pacboost import AdaBoostClassifier
from pacboost.errors import FileError
from pacboost.learners.tree import Tree
from pacboost.models.file import container
from pacboost.models.file import format as model_file
from pacboost.models.file.container import VERSION
from pacboost.models.file.format import model_bytes
from tests.grids import each_value
from tests.model_files import changed, opened

NAMES = ["alpha column", "beta column", "gamma column"]


def examples() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    generator = np.random.default_rng(11)
    X = generator.normal(size=(150, 3))
    y = (X[:, 0] + X[:, 1] + generator.normal(size=150) > 0).astype(np.int64)
    return X, y


def saved(folder: Path, **options: Any) -> tuple[AdaBoostClassifier, Path]:
    model = AdaBoostClassifier(**{"n_estimators": 8, **options}).fit(*examples())
    path = folder / "model.json"
    model.save(path)
    return model, path


def test_rule_that_asks_for_missing_values_survives(tmp_path: Path) -> None:
    X = np.array([[1.0], [1.0], [np.nan], [np.nan]])
    model = AdaBoostClassifier().fit(X, [0, 0, 1, 1])
    assert np.isinf(model.estimators_[0].threshold)
    model.save(tmp_path / "m.json")
    assert pacboost.load(tmp_path / "m.json").predict(X).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1], [2.0, 5.0]])
def test_labels_of_every_kind_come_back(tmp_path: Path, labels: list[Any]) -> None:
    X, y = examples()
    model = AdaBoostClassifier(n_estimators=4).fit(X, np.array(labels)[y])
    model.save(tmp_path / "m.json")
    back = pacboost.load(tmp_path / "m.json")
    assert back.classes_.tolist() == labels
    assert np.array_equal(back.predict(X), model.predict(X))


def test_names_come_back_and_are_checked(tmp_path: Path) -> None:
    X, y = examples()
    model = AdaBoostClassifier(n_estimators=4).fit(pd.DataFrame(X, columns=NAMES), y)
    model.save(tmp_path / "m.json")
    back = pacboost.load(tmp_path / "m.json")
    assert back.feature_names_in_.tolist() == NAMES
    assert back.rules() == model.rules()
    with pytest.raises(ValueError, match="same order"):
        back.predict(pd.DataFrame(X, columns=NAMES[::-1]))


def test_part_named_model_is_what_model_bytes_gives(tmp_path: Path) -> None:
    model, path = saved(tmp_path)
    assert path.read_bytes().startswith(b"pacboost model %d\n" % VERSION)
    core = {"model": opened(path)["model"]}
    assert b"".join(container.packed(core)) == model_bytes(model.model_)


def test_column_names_do_not_change_the_bytes() -> None:
    X, y = examples()
    named = AdaBoostClassifier(n_estimators=6).fit(pd.DataFrame(X, columns=NAMES), y)
    plain = AdaBoostClassifier(n_estimators=6).fit(X, y)
    assert model_bytes(named.model_) == model_bytes(plain.model_)


def test_another_version_is_refused_with_both_numbers(tmp_path: Path) -> None:
    _, path = saved(tmp_path)
    first, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(first.replace(b"%d" % VERSION, b"%d" % (VERSION + 1)) + b"\n" + rest)
    with pytest.raises(FileError, match=f"'{VERSION + 1}', .* version {VERSION}; .* Fit again"):
        pacboost.load(path)


@pytest.mark.parametrize("part", ["rules", "votes", "classes", "features", "bins", "ledger"])
def test_file_without_a_part_is_called_damaged(tmp_path: Path, part: str) -> None:
    _, path = saved(tmp_path)
    changed(path, lambda content: content["model"].pop(part))
    with pytest.raises(FileError, match=rf"is damaged \(content\.model\.{part}"):
        pacboost.load(path)


@each_value
@pytest.mark.parametrize("part", ["model", "about"])
@pytest.mark.parametrize("value", [None, [], "text", 3])
def test_a_part_of_another_kind_is_damage(tmp_path: Path, part: str, value: object) -> None:
    _, path = saved(tmp_path)
    with pytest.raises(FileError, match="is damaged"):
        pacboost.load(changed(path, lambda content: content.update({part: value})))


@pytest.mark.parametrize("label", ["yes\0", 2**63])
def test_labels_that_a_file_would_change_are_refused(tmp_path: Path, label: object) -> None:
    model, _ = saved(tmp_path)
    classes = np.array([label], dtype=object)
    with pytest.raises(FileError, match="cannot be saved"):
        model_file.save(replace(model.model_, classes=classes), tmp_path / "other")


def test_a_file_holds_what_rules_ask_for(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 2000))
    y = np.where(X[:, 7] + X[:, 3] + generator.normal(size=300) > 0, "yes", "no")
    path = tmp_path / "wide.pacb"
    model = pacboost.BoostClassifier("adaboost", Tree(max_leaves=3), 4, random_state=0).fit(X, y)
    model.save(path)
    assert path.stat().st_size < 2000 * 255 * 4 / 10
    loaded = pacboost.load(path)
    assert model_bytes(loaded.model_) == model_bytes(model.model_)
    assert (loaded.decision_function(X) == model.decision_function(X)).all()


def test_thresholds_that_a_rule_asks_for_have_to_be_there(tmp_path: Path) -> None:
    path = tmp_path / "m.pacb"
    X = np.random.default_rng(0).normal(size=(200, 3))
    pacboost.BoostClassifier(n_estimators=3, verbose=False).fit(X, X[:, 0] > 0).save(path)
    bins = opened(path)["model"]["bins"]
    assert bins["kept"].size
    none: dict[str, Any] = {"kept": bins["kept"][:0], "thresholds": bins["thresholds"][:0]}
    with pytest.raises(FileError, match="bins"):
        pacboost.load(changed(path, lambda content: content["model"]["bins"].update(none)))
