"""Curves of single features: forests have them as boosted trees do, in plots and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from pacboost.errors import DataError, ParameterError

FEW: dict[str, Any] = {"n_estimators": 12, "random_state": 0}


@pytest.fixture(scope="module", name="X")
def rows_of_three() -> Any:
    generator = np.random.default_rng(0)
    return np.column_stack([generator.integers(4, size=240), generator.normal(size=(240, 2))])


def test_a_curve_is_the_mean_prediction_with_the_feature_set(X: Any) -> None:
    y = (X[:, 0] + X[:, 1] > 1.5).astype(int)
    model = RandomForestClassifier(**FEW).fit(X, y)
    rows = X[:40]
    found = model.partial_dependence(X=rows)
    assert found.intercept == pytest.approx(model.predict_proba(rows)[:, 1].mean())
    for value in range(4):
        changed = rows.copy()
        changed[:, 0] = value
        expected = model.predict_proba(changed)[:, 1].mean() - found.intercept[0]
        assert found[0].at(np.array([float(value)]))[0, 0] == pytest.approx(expected)
    unknown = rows.copy()
    unknown[:, 0] = np.nan
    expected = model.predict_proba(unknown)[:, 1].mean() - found.intercept[0]
    assert found[0].missing == pytest.approx(expected)


def test_numbers_and_many_classes_have_curves(X: Any) -> None:
    numbers = RandomForestRegressor(**FEW).fit(X, 3 * X[:, 1]).partial_dependence()
    assert np.ptp(numbers[1].values) > 5 * np.ptp(numbers.features[0].values)
    classes = ExtraTreesClassifier(**FEW).fit(X, X[:, 0]).partial_dependence([0])
    assert list(classes.features) == [0]
    assert classes[0].values.shape == (4, 4)
    np.testing.assert_allclose(classes[0].values.sum(axis=1), 0, atol=1e-6)
    assert (classes[0].values.argmax(axis=1) == np.arange(4)).all()


def test_categories_have_a_value_for_each_level() -> None:
    pd = pytest.importorskip("pandas")
    generator = np.random.default_rng(1)
    frame = pd.DataFrame({"kind": generator.choice(["a", "b", "c"], 200)})
    frame["size"] = generator.normal(size=200)
    model = RandomForestClassifier(**FEW).fit(frame, frame["kind"] == "b")
    found = model.partial_dependence("kind", X=frame)
    assert repr(found) == "Shapes(features=['kind'], answers=['True'])"
    shape = found["kind"]
    assert repr(shape).startswith("Shape(name='kind', steps=3, span=0.")
    assert shape.levels == ("a", "b", "c")
    assert shape.values[:, 0].argmax() == 1


def test_reports_and_plots_draw_them(X: Any, tmp_path: Path) -> None:
    y = (X[:, 0] + X[:, 1] > 1.5).astype(int)
    model = RandomForestClassifier(**FEW).fit(X, y)
    model.save(tmp_path / "f.pacb")
    page = pacboost.load(tmp_path / "f.pacb").report(tmp_path / "f.html")
    text = page.read_text(encoding="utf-8")
    assert "Column by column" in text
    assert "A forest keeps no rows" in text
    text = model.report(tmp_path / "g.html", X, y).read_text(encoding="utf-8")
    assert "rows given for this report (partial dependence" in text
    pytest.importorskip("matplotlib").use("Agg")
    assert len(pacboost.plots.partial_dependence(model, X, [0, 1])) == 2
    with pytest.raises(ParameterError, match="features"):
        model.partial_dependence("size")


def test_sets_of_labels_have_none(X: Any, tmp_path: Path) -> None:
    model = RandomForestClassifier(**FEW).fit(X, np.column_stack([X[:, 0] > 1, X[:, 1] > 0]))
    with pytest.raises(DataError, match="several labels"):
        model.partial_dependence()
    assert "Column by column" not in model.report(tmp_path / "l.html").read_text(encoding="utf-8")
