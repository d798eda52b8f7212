"""Partial dependence of trees: by the walk of single rows, and of stumps as their shapes say."""

from __future__ import annotations

import numpy as np
import pytest

from pacboost import BoostClassifier, BoostRegressor
from pacboost.errors import DataError
from pacboost.hypotheses.shapes import partial_dependence, shapes
from pacboost.hypotheses.tree import TreeRule
from pacboost.theory import MajorityOfBoosters

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
X[RNG.random(X.shape) < 0.05] = np.nan
Y = np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1]) + np.nan_to_num(X[:, 2]) > 0


def slow(rule: TreeRule, node: int, feature: int, value: float) -> np.ndarray:
    """Follow one value down a tree; both ways where another feature is asked for."""
    if node < 0:
        return np.asarray(rule.values[~node])
    splits = rule.feature.size
    left, right = int(rule.left[node]), int(rule.right[node])
    ways = [slow(rule, child, feature, value) for child in (left, right)]
    if rule.feature[node] == feature:
        threshold = rule.bins.thresholds[feature][rule.cut[node] :][:1]
        at_left = rule.missing_left[node] if np.isnan(value) else not (value > threshold).any()
        return ways[0] if at_left else ways[1]
    covers = [rule.cover[c if c >= 0 else splits + ~c] for c in (left, right)]
    return np.asarray((covers[0] * ways[0] + covers[1] * ways[1]) / sum(covers))


@pytest.mark.parametrize("classes", [2, 3])
def test_curves_are_averages_over_the_other_columns(classes: int) -> None:
    y = np.digitize(np.nan_to_num(X[:, 0]) + Y, [-0.5, 0.8]) if classes == 3 else Y
    model = BoostClassifier(n_estimators=8, max_leaves=6, random_state=0).fit(X, y).model_
    found = partial_dependence(model.vote, model.say(), range(4))
    assert {0, 1, 2} <= set(found.features)
    values = np.array([-1.5, -0.2, 0.0, 0.4, 2.0, np.nan])
    for feature, shape in found.features.items():
        wanted = np.array([
            sum(cast * slow(rule, 0 if rule.feature.size else -1, feature, value)
                for rule, cast in model.vote.trees)
            for value in values
        ])  # fmt: skip
        assert shape.at(values) + found.intercept == pytest.approx(wanted)


def test_curves_of_single_splits_are_their_shapes() -> None:
    model = BoostClassifier(n_estimators=20, max_leaves=2, random_state=0).fit(X, Y).model_
    exact, found = shapes(model.vote, model.say()), partial_dependence(model.vote, model.say(), [2])
    off = found.features[2].values - exact.features[2].values
    assert np.ptp(off) == pytest.approx(0, abs=1e-9)


def test_numbers_and_categories_have_curves_too() -> None:
    model = BoostRegressor(n_estimators=5, random_state=0).fit(X, np.nan_to_num(X[:, 0]) * 2).model_
    curve = partial_dependence(model.vote, model.say(), [0]).features[0]
    assert curve.values[0, 0] < 0 < curve.values[-1, 0]
    levels = [[name, k] for k, name in enumerate(["red", "blue", "green"] * 30)]
    labels = [name != "red" for name, _ in levels]
    model = BoostClassifier(n_estimators=5, max_leaves=4, min_leaf_rows=2, random_state=0)
    told = model.fit(np.array(levels, dtype=object), labels).model_
    shape = partial_dependence(told.vote, told.say(), [0]).features[0]
    by_level = dict(zip(shape.levels, shape.values[:, 0], strict=True))
    assert by_level["red"] < by_level["green"]


def test_votes_of_votes_are_refused() -> None:
    model = MajorityOfBoosters(n_estimators=3, random_state=0).fit(X, Y).model_
    with pytest.raises(DataError):
        partial_dependence(model.vote, model.say(), [0])
