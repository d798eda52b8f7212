"""Tree SHAP against its definition: every subset of features, every descent."""

import sys
from functools import cache
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost import AdaBoostClassifier, BoostClassifier, BoostRegressor, TextBoostClassifier
from pacboost.errors import DataError
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.kernels import threads
from pacboost.models.explain.attribution import shap_values
from pacboost.samples.bins import Bins
from pacboost.sources.arrays import ArrayTable
from tests.examples import examples
from tests.hypotheses.trees import random_rule

Codes = NDArray[np.uint8]
Doubles = NDArray[np.float64]

MISSING = 9


def some_bins(features: int) -> Bins:
    """A value from 0 to 8 is its own code."""
    thresholds = np.arange(MISSING - 1, dtype=np.float32) + np.float32(0.5)
    levels = np.where(np.arange(features) % 3 == 1, MISSING, 0)
    return Bins((thresholds,) * features, np.zeros(features, dtype=np.int64), levels)


def some_tree(
    generator: np.random.Generator, features: int, splits: int, outputs: int, empty: float = 0.0
) -> TreeRule:
    """Splits on numbers, levels and missing values."""
    return random_rule(generator, some_bins(features), splits, outputs=outputs, empty=empty)


def some_codes(generator: np.random.Generator, features: int, rows: int) -> Codes:
    return generator.integers(MISSING + 1, size=(features, rows)).astype(np.uint8)


def goes_left(tree: TreeRule, split: int, row: Codes) -> bool:
    code = int(row[tree.feature[split]])
    if tree.member[split] >= 0:
        return bool(tree.members[tree.member[split], code])
    if code == MISSING:
        return bool(tree.missing_left[split])
    return code <= int(tree.cut[split])


def descend(tree: TreeRule, child: int, row: Codes, known: frozenset[int]) -> Doubles:
    """The mean over descents that follow the row at known features and cover at others."""
    if child < 0:
        value: Doubles = tree.values[~child]
        return value
    sides = int(tree.left[child]), int(tree.right[child])
    if int(tree.feature[child]) in known:
        return descend(tree, sides[0 if goes_left(tree, child, row) else 1], row, known)
    cover = np.array([tree.cover[c if c >= 0 else tree.feature.size + ~c] for c in sides])
    parts = cover / cover.sum() if cover.sum() > 0 else np.array([0.5, 0.5])
    below = np.stack([descend(tree, side, row, known) for side in sides])
    mean: Doubles = parts @ below
    return mean


def game(tree: TreeRule, row: Codes, known: frozenset[int]) -> Doubles:
    return descend(tree, 0 if tree.feature.size else -1, row, known)


def by_definition(tree: TreeRule, codes: Codes) -> Doubles:
    """Shapley's formula."""
    features, rows = codes.shape
    shares = np.zeros((rows, features, tree.values.shape[1]))
    for i, row in enumerate(codes.T):
        for j in range(features):
            others = [g for g in range(features) if g != j]
            for size in range(features):
                weight = factorial(size) * factorial(features - size - 1) / factorial(features)
                for chosen in combinations(others, size):
                    known = frozenset(chosen)
                    gain = game(tree, row, known | {j}) - game(tree, row, known)
                    shares[i, j] += weight * gain
    return shares


@examples(60)
@given(
    seed=st.integers(0, 2**32),
    features=st.integers(1, 5),
    splits=st.integers(0, 14),
    outputs=st.integers(1, 3),
    empty=st.sampled_from([0.0, 0.0, 0.4, 1.0]),
)
def test_shares_equal_the_definition(
    seed: int, features: int, splits: int, outputs: int, empty: float
) -> None:
    generator = np.random.default_rng(seed)
    tree = some_tree(generator, features, splits, outputs, empty)
    codes = some_codes(generator, features, 3)
    shares, expected = shap_values([tree], [1.0], codes)
    np.testing.assert_allclose(shares, by_definition(tree, codes), atol=1e-11)
    np.testing.assert_allclose(expected, game(tree, codes[:, 0], frozenset()), atol=1e-11)


@examples(30)
@given(
    seed=st.integers(0, 2**32),
    trees=st.integers(0, 6),
    splits=st.sampled_from([1, 7, 60, 300]),
    outputs=st.integers(1, 4),
)
def test_shares_and_the_expected_score_add_up_to_the_score(
    seed: int, trees: int, splits: int, outputs: int
) -> None:
    generator = np.random.default_rng(seed)
    forest = [some_tree(generator, 20, splits, outputs, 0.1) for _ in range(trees)]
    votes = generator.normal(size=trees)
    codes = some_codes(generator, 20, 30)
    shares, expected = shap_values(forest, votes, codes)
    values = np.where(codes == MISSING, np.nan, codes).T
    scores = Vote(forest, votes, shares.shape[2]).scores(ArrayTable(values))
    total = shares.sum(axis=1) + expected
    np.testing.assert_allclose(total, scores.reshape(total.shape), atol=1e-10)


def test_a_long_chain_of_features_is_shared_evenly_where_they_play_alike() -> None:
    """An AND of 40 conditions with covers cut into halves: 40 equal shares of what is not known."""
    depth = 40
    numbers = np.arange(depth, dtype=np.int32)
    right = np.append(numbers[1:], np.int32(~depth)).astype(np.int32)
    halves = 0.5 ** np.arange(depth + 1)
    none = np.zeros(depth, dtype=np.int32)
    tree = TreeRule(
        some_bins(depth), numbers, none, none > 0, ~numbers, right, none - 1,
        np.zeros((0, 256), dtype=np.uint8), np.ones(depth),
        np.concatenate([halves[:-1], halves[1:], halves[-1:]]),
        np.append(np.zeros(depth), 1.0)[:, None],
    )  # fmt: skip
    shares, expected = shap_values([tree], [1.0], np.ones((depth, 1), dtype=np.uint8))
    assert expected[0] == pytest.approx(0.5**depth)
    np.testing.assert_allclose(shares[0, :, 0], (1 - 0.5**depth) / depth, rtol=1e-12)


def test_shares_do_not_depend_on_the_number_of_threads() -> None:
    generator = np.random.default_rng(5)
    forest = [some_tree(generator, 3, 5, 2) for _ in range(2)]
    codes = some_codes(generator, 3, 70_001)
    found = []
    for n_jobs in (1, 3):
        with threads.using(n_jobs):
            found.append(shap_values(forest, [1.0, 2.0], codes)[0])
    np.testing.assert_array_equal(found[0], found[1])


# SHAP values and trees in the forms of the shap package, with and without that package.

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


def test_levels_are_shown_by_name(without_shap: None) -> None:
    X, score = rows()
    frame = pd.DataFrame({"size": X[:, 2], "kind": np.where(score > 0, "a", "b")})
    frame.loc[0, "kind"] = None
    found = (
        BoostRegressor(n_estimators=4, random_state=0).fit(frame, score).shap_values(frame.iloc[:3])
    )
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
    refused = {
        r"\(kind\)": BoostRegressor(n_estimators=4, random_state=0).fit(frame, score),
        "StumpRule": AdaBoostClassifier(n_estimators=3).fit(np.nan_to_num(X), score > 0),
        "WordList": TextBoostClassifier(n_estimators=3).fit(["a b", "c d"] * 20, [0, 1] * 20),
        "constant": BoostRegressor(n_estimators=2, min_leaf_rows=200).fit(X, score),
    }
    for reason, model in refused.items():
        with pytest.raises(DataError, match=reason):
            model.shap_trees()
