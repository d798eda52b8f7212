"""Forests take several labels a row, and say how often any of them is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import pacboost
from pacboost import ExtraTreesClassifier, RandomForestClassifier, verify
from pacboost.errors import DataError, FileError, ParameterError
from pacboost.models.file import format as model_file
from pacboost.models.model import ForestModel
from pacboost.questions import verify as verifying


def several(rows: int = 500, seed: int = 0, noise: float = 0.05) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 4))
    y = np.stack([X[:, 0] > 0, X[:, 1] > 0.5, X[:, 0] + X[:, 2] > 1], axis=1)
    return X, (y ^ (generator.random(y.shape) < noise)).astype(int)


X, Y = several()
NEW_X, NEW_Y = several(4000, 1)


def wrong(model: Any) -> float:
    return float(np.mean((model.predict(NEW_X) != NEW_Y).any(axis=1)))


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_all_labels_are_learned_at_once(kind: Any) -> None:
    model = kind(60, random_state=0).fit(X, Y)
    assert model.several_labels_
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict(NEW_X).shape == model.predict_proba(NEW_X).shape == (4000, 3)
    assert wrong(model) < 0.3
    chances = model.predict_proba(NEW_X)
    assert chances.min() >= 0
    assert chances.max() <= 1 + 1e-9
    assert np.mean((chances > 0.5) == NEW_Y) > 0.85
    same = kind(60, random_state=0).fit(X, sparse.csr_array(Y))
    assert np.array_equal(model.predict_proba(X), same.predict_proba(X))


@pytest.mark.parametrize("way", ["holdout", "oob"])
def test_certificates_count_rows_with_any_wrong_label(way: str, tmp_path: Path) -> None:
    model = RandomForestClassifier(60, certify=way, random_state=0).fit(*several(2000))
    assert wrong(model) <= model.certificate_.value < 1
    model.save(tmp_path / "m.pacb")
    assert all(check.holds for check in verify(tmp_path / "m.pacb"))
    if way == "holdout":
        assert model.certificate_.size == 400
        said = verifying.sentence(tmp_path / "m.pacb")
        assert "A row is wrong if any of its 3 labels is." in said
        assert "Always saying no label would be" in said or "Always saying '" in said


def test_the_held_out_count_is_that_of_rows_with_a_wrong_label() -> None:
    model = RandomForestClassifier(40, certify="holdout", random_state=0).fit(X, Y)
    held = pacboost.certify(model, NEW_X, NEW_Y)
    assert held.inputs["k"] == round(wrong(model) * 4000)
    with pytest.raises(DataError, match="one column for each label is needed"):
        pacboost.certify(model, NEW_X, NEW_Y[:, 0])


def test_estimates_out_of_bag_are_of_labels() -> None:
    model = RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, Y)
    assert model.oob_decision_function_.shape == (500, 3)
    assert abs(1 - model.oob_score_ - wrong(model)) < 0.1


def test_files_keep_the_sets_of_labels(tmp_path: Path) -> None:
    model = RandomForestClassifier(20, random_state=0).fit(X, Y)
    model.save(tmp_path / "m.pacb")
    again = pacboost.load(tmp_path / "m.pacb")
    assert again.several_labels_
    assert np.array_equal(again.predict(NEW_X), model.predict(NEW_X))
    assert np.array_equal(again.predict_proba(NEW_X), model.predict_proba(NEW_X))
    with pytest.raises(ParameterError, match="several labels a row, and an export of a forest"):
        pacboost.export(model, tmp_path / "m.py")
    page = model.report(tmp_path / "r.html", NEW_X[:200], NEW_Y[:200]).read_text()
    assert "Traceback" not in page
    kept = model.model_
    broken = ForestModel(kept.kind, np.array(["01", "1", "x"]), kept.forest, kept.names, labels=2)
    model_file.save(broken, tmp_path / "b.pacb")
    with pytest.raises(FileError, match="no sets of as many labels"):
        pacboost.load(tmp_path / "b.pacb")


def test_going_on_and_other_labels() -> None:
    model = RandomForestClassifier(10, warm_start=True, random_state=0).fit(X, Y)
    model.set_params(n_estimators=20).fit(X, Y)
    once = RandomForestClassifier(20, random_state=0).fit(X, Y)
    assert np.array_equal(model.predict_proba(X), once.predict_proba(X))
    one = RandomForestClassifier(10, random_state=0).fit(X, Y)
    one.fit(X, Y[:, 0])
    assert not one.several_labels_
    assert one.predict(X).shape == (500,)
    weighted = RandomForestClassifier(10, class_weight="balanced", random_state=0).fit(X, Y)
    assert wrong(weighted) < 0.4
    with pytest.raises(DataError, match="one label a row"):
        once.permutation_importances(X, Y)
