"""pacboost.save: what has a file is written, what has none is refused in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pacboost import AdaBoostClassifier, BaggingClassifier
from pacboost.errors import FileError
from pacboost.estimators.files import load, save
from tests.worlds import noisy


def test_saved_and_loaded(tmp_path: Path) -> None:
    X, y = noisy(200, 3, seed=0)
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    save(model, tmp_path / "model.pacb")
    assert np.array_equal(load(tmp_path / "model.pacb").predict(X), model.predict(X))


def test_what_has_no_file_is_refused(tmp_path: Path) -> None:
    model = BaggingClassifier(n_estimators=2).fit(*noisy(100, 3, seed=0))
    with pytest.raises(FileError, match=r"BaggingClassifier has no model file.* Pickle it"):
        save(model, tmp_path / "model.pacb")
    assert not list(tmp_path.iterdir())
