"""SHAP values and trees in the forms of the shap package, with and without that package."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pacboost import AdaBoostClassifier, BoostClassifier, BoostRegressor, TextBoostClassifier
from pacboost.errors import DataError

KINDS = ("regression", "two", "many", "adaboost")


def rows() -> tuple[Any, Any]:
    """Numbers, some of them missing, that do not fit into 32 bits."""
    generator = np.random.default_rng(3)
    X = generator.normal(size=(300, 4))
    score = X[:, 0] * X[:, 1] + X[:, 2]
    X[generator.random(X.shape) < 0.1] = np.nan
    return X, score


@cache
def fitted(kind: str) -> Any:
    X, score = rows()
    options: Any = {"n_estimators": 6, "min_leaf_rows": 3, "random_state": 0}
    if kind == "regression":
        return BoostRegressor(**options).fit(X, score)
    if kind == "adaboost":
        return BoostClassifier("adaboost", **options).fit(X, score > 0)
    return BoostClassifier(**options).fit(
        X, score > 0 if kind == "two" else np.digitize(score, [-1, 1])
    )


def scores(kind: str, X: Any) -> Any:
    model = fitted(kind)
    return model.predict(X) if kind == "regression" else model.decision_function(X)


def walked(model: dict[str, Any], row: Any) -> Any:
    """Evaluate the dictionary by its definition."""
    total = np.atleast_1d(model["base_offset"]).astype(np.float64)
    for tree in model["trees"]:
        node = 0
        while tree["children_left"][node] >= 0:
            value = row[tree["features"][node]]
            left = tree["children_left" if value <= tree["thresholds"][node] else "children_right"]
            node = (tree["children_default"] if np.isnan(value) else left)[node]
        total = total + tree["values"][node]
    return total


@pytest.fixture
def without_shap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shap", None)


@pytest.mark.parametrize("kind", KINDS)
def test_walking_the_dictionary_gives_the_score(kind: str) -> None:
    X, _ = rows()
    model = fitted(kind).shap_trees()
    edges = X[:60].copy()
    for tree in model["trees"][:3]:  # rows on thresholds, and one double above them
        for node in np.flatnonzero(tree["children_left"] >= 0)[:4]:
            at = tree["thresholds"][node]
            if np.isfinite(at):
                edges[node, tree["features"][node]] = at
                edges[node + 20, tree["features"][node]] = np.nextafter(at, np.inf)
    found = np.array([walked(model, row) for row in edges])
    np.testing.assert_allclose(found, scores(kind, edges).reshape(found.shape), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_and_means_of_the_dictionary_add_up(kind: str, without_shap: None) -> None:
    model = fitted(kind).shap_trees()
    assert set(model) == {
        "internal_dtype", "input_dtype", "objective", "tree_output", "base_offset", "trees",
    }  # fmt: skip
    expected = np.atleast_1d(model["base_offset"]).astype(np.float64)
    for tree in model["trees"]:
        weight, inner = tree["node_sample_weight"], tree["children_left"] >= 0
        left, right = tree["children_left"][inner], tree["children_right"][inner]
        assert (weight > 0).all()
        np.testing.assert_allclose(weight[left] + weight[right], weight[inner])
        leaves = ~inner
        mean = np.average(tree["values"][leaves], axis=0, weights=weight[leaves])
        np.testing.assert_allclose(mean, tree["values"][0], atol=1e-9)
        expected = expected + mean
    base = fitted(kind).shap_values(rows()[0][:1]).base_values[0]
    np.testing.assert_allclose(expected, np.atleast_1d(base), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_values_have_the_attributes_of_an_explanation(kind: str, without_shap: None) -> None:
    X, _ = rows()
    found = fitted(kind).shap_values(X[:9])
    assert type(found).__name__ == "ShapValues"
    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.base_values, scores(kind, X[:9]), atol=1e-9
    )
    np.testing.assert_array_equal(found.data, X[:9])
    assert found.feature_names == ["x0", "x1", "x2", "x3"]
    assert found.output_names == (["0", "1", "2"] if kind == "many" else None)
    assert len(found) == 9
    np.testing.assert_array_equal(found[2:4].values, found.values[2:4])
    assert found[0].base_values.shape == found.base_values.shape[1:]
    assert repr(found).startswith("ShapValues(shape=(9, 4")


def test_levels_are_shown_by_name(without_shap: None) -> None:
    X, score = rows()
    frame = pd.DataFrame({"size": X[:, 2], "kind": np.where(score > 0, "a", "b")})
    frame.loc[0, "kind"] = None
    found = BoostRegressor(n_estimators=4).fit(frame, score).shap_values(frame.iloc[:3])
    assert found.display_data[:, 1].tolist() == [None, *frame["kind"].iloc[1:3]]
    assert found[1:].display_data.shape == (2, 2)
    assert found.data.dtype == np.float64


@pytest.mark.filterwarnings("ignore")  # shap's own
@pytest.mark.parametrize("kind", KINDS)
def test_shap_itself_finds_the_same(kind: str) -> None:
    shap = pytest.importorskip("shap", reason="the package shap is not installed")
    X, _ = rows()
    own = fitted(kind).shap_values(X[:40])
    assert isinstance(own, shap.Explanation)
    explainer = shap.TreeExplainer(fitted(kind).shap_trees())
    found = explainer(X[:40])
    np.testing.assert_allclose(found.values, own.values, atol=1e-9)
    np.testing.assert_allclose(found.base_values, own.base_values, atol=1e-9)
    np.testing.assert_allclose(explainer.model.predict(X[:40]), scores(kind, X[:40]), atol=1e-9)


def test_what_has_no_such_form_is_refused_with_a_reason() -> None:
    X, score = rows()
    frame = pd.DataFrame({"size": X[:, 0], "kind": np.where(score > 0, "a", "b")})
    trees = BoostRegressor(n_estimators=4).fit(frame, score)
    with pytest.raises(DataError, match=r"sets of levels \(kind\).*shap_values\(X\) explains"):
        trees.shap_trees()
    stumps = AdaBoostClassifier(n_estimators=3).fit(np.nan_to_num(X), score > 0)
    with pytest.raises(DataError, match="StumpRule rules, and shap's dictionary has trees"):
        stumps.shap_trees()
    texts = TextBoostClassifier(n_estimators=3).fit(["a b", "c d"] * 20, [0, 1] * 20)
    with pytest.raises(DataError, match="shap's dictionary has trees on numbers only"):
        texts.shap_trees()
    constant = BoostRegressor(n_estimators=2, min_leaf_rows=200).fit(X, score)
    with pytest.raises(DataError, match="a constant only"):
        constant.shap_trees()
