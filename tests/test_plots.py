"""Pictures of fitted models (plots.py): each draws what the model's own numbers say."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError

from pacboost import (
    AdaBoostClassifier,
    BoostClassifier,
    BoostRegressor,
    RandomForestClassifier,
    plots,
)
from pacboost.errors import PacboostError


@cache
def rows(three: bool = False) -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True) if three else load_breast_cancer(return_X_y=True)
    return X[::3], y[::3]


@cache
def fitted(kind: str) -> Any:
    X, y = rows(kind == "three")
    if kind == "numbers":
        return BoostRegressor(n_estimators=5, early_stopping=False, random_state=0).fit(
            X[:, 1:], X[:, 0]
        )
    if kind == "forest":
        return RandomForestClassifier(5, random_state=0).fit(X, y)
    learner = "tree" if kind == "trees" else "stump"
    return AdaBoostClassifier(learner=learner, n_estimators=8).fit(X, y)


def labels(axes: Any) -> dict[str, Any]:
    return {line.get_label().split(" (")[0]: line.get_ydata() for line in axes.get_lines()}


def test_rounds_hold_the_errors_of_the_stages() -> None:
    X, y = rows()
    model = fitted("stumps")
    lines = labels(plots.rounds(model, X[::2], y[::2]))
    assert np.allclose(lines["training error"], model.ledger_.columns()["training_error"])
    staged = [1 - score for score in model.staged_score(X[::2], y[::2])]
    assert np.allclose(lines["test error"], staged)
    assert "test error" not in labels(plots.rounds(model))


def test_rounds_of_a_regression_hold_the_loss() -> None:
    X, _ = rows()
    model = fitted("numbers")
    lines = labels(plots.rounds(model, X[:, 1:], X[:, 0]))
    assert np.allclose(lines["test loss"], lines["training loss"])
    with pytest.raises(PacboostError, match="X was given without y"):
        plots.rounds(model, X[:, 1:])


def test_margins_and_the_equaliser_end_at_the_model_s_margins() -> None:
    X, y = rows()
    model = fitted("stumps")
    margins = model.margins(X, y)
    (line, _) = plots.margins(model, X, y, rounds=[8]).get_lines()
    assert np.allclose(line.get_xdata()[1:-1], np.unique(margins))
    (curve, _) = plots.equaliser(model, X, y, rounds=[8]).get_lines()
    assert curve.get_ydata()[0] == pytest.approx((1 - margins.min()) / 2)
    with pytest.raises(PacboostError, match="has 8"):
        plots.margins(model, X, y, rounds=[9])
    with pytest.raises(PacboostError, match="two classes"):
        plots.equaliser(fitted("three"), *rows(three=True))


def test_hardest_rows_are_bars() -> None:
    bars = plots.hardest(fitted("stumps"), 5).patches
    hardest = fitted("stumps").ledger_.hardest(5)
    assert [bar.get_width() for bar in bars] == [row.margin for row in hardest]


def test_importances_are_shares_or_what_was_measured() -> None:
    X, y = rows()
    model, own = fitted("stumps"), Figure().subplots()
    axes: Any = plots.importances(model, ax=own, top=1)
    assert axes is own
    bar: Any = own.patches[0]
    assert bar.get_width() == pytest.approx(max(model.feature_importances_))
    measured = model.permutation_importances(X, y, repeats=1, random_state=0)
    assert plots.importances(model, measured).get_xlabel().startswith("error: worse by")
    assert len(plots.importances(fitted("forest"), top=4).patches) == 4


def test_features_have_panels() -> None:
    model, many = fitted("stumps"), fitted("three")
    assert len(plots.shapes(model)) == len(model.shapes().features)
    assert len(plots.shapes(many, for_class=2)) == len(many.shapes().features)
    with pytest.raises(PacboostError, match="for_class"):
        plots.shapes(model, for_class=1)
    trees = fitted("trees")
    largest = int(np.argmax(trees.feature_importances_))
    (panel,) = plots.partial_dependence(trees, features=[largest])
    assert panel.get_xlabel() == f"x{largest}"
    assert len(plots.partial_dependence(fitted("forest"), top=2, X=rows()[0])) == 2


@pytest.mark.parametrize("name", ["rounds", "importances", "shapes", "hardest"])
def test_only_fitted_models_are_drawn(name: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(plots, name)(BoostClassifier())
