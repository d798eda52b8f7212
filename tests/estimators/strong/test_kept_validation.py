"""The errors on validation rows are kept with the model, in its file and in its report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pacboost
from pacboost.ledgers.validation import ValidationCurve


def test_the_validation_curve_is_kept_and_drawn(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=500) > 0
    model = pacboost.StrongClassifier(random_state=0, n_estimators=20).fit(X, y)
    curve = model.model_.validation
    assert curve is not None
    assert curve.rows == model.parts_["watch"]
    assert len(curve.errors) <= 20
    model.save(tmp_path / "m.pacb")
    again = pacboost.load(tmp_path / "m.pacb")
    assert again.model_.validation.errors.tolist() == curve.errors.tolist()
    assert all(check.holds for check in pacboost.verify(tmp_path / "m.pacb"))
    page = again.report(tmp_path / "m.html").read_text(encoding="utf-8")
    assert "Validation error by round" in page
    assert f"error on {curve.rows} validation rows" in page


@pytest.mark.parametrize(
    "wrong", [{"rows": 0}, {"errors": np.array([1.5])}, {"errors": [0.5]}, {"errors": np.empty(0)}]
)
def test_impossible_curves_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"has to be|have to"):
        ValidationCurve.from_dict({"rows": 5, "errors": np.array([0.5]), **wrong})
