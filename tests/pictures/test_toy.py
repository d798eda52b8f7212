"""The toy example and decision regions are drawn with the numbers of the run."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from pacboost.errors import DataError, ParameterError
from pacboost.sources.toy import lecture_points
from pacboost.theory import pictures

pytest.importorskip("matplotlib")


def test_toy_shows_three_rounds_and_the_vote() -> None:
    axes = pictures.toy()
    titles = [place.get_title() for place in axes]
    assert titles == [
        "round 1: ε = 0.300, α = 0.42",
        "round 2: ε = 0.214, α = 0.65",
        "round 3: ε = 0.136, α = 0.92",
        "the vote: 0.42 + 0.65 + 0.92",
    ]
    areas = np.concatenate([points.get_sizes() for points in axes[1].collections[1:]])
    assert areas.max() / areas.min() == pytest.approx(7 / 3)


def test_the_rules_of_rounds_are_drawn_and_not_the_vote_so_far() -> None:
    shown = pictures.toy()[1].collections[0].get_array()
    assert set(np.unique(np.asarray(shown).reshape(200, 200), axis=0).shape) == {1, 200}


def test_toy_takes_rows() -> None:
    X, y = load_iris(return_X_y=True)
    assert len(pictures.toy(X[:, 2:], y > 1, rounds=5)) == 6
    with pytest.raises(DataError, match="come together"):
        pictures.toy(X)


def test_regions_of_any_classifier() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    axes = pictures.regions(model, X, y, features=(2, 3), resolution=50)
    assert axes.get_xlabel() == "petal length (cm)"
    assert len(axes.get_legend().get_texts()) == 3


def test_what_regions_refuse() -> None:
    X, y = lecture_points()
    model = LogisticRegression().fit(X, y)
    with pytest.raises(DataError, match="two features or more"):
        pictures.regions(model, X[:, :1])
    with pytest.raises(DataError, match="missing or infinite"):
        pictures.regions(model, np.where(X > 8, np.nan, X))
    with pytest.raises(DataError, match="weights have shape"):
        pictures.regions(model, X, y, weights=[1.0])
    with pytest.raises(ParameterError, match="two different columns"):
        pictures.regions(model, X, features=(0, 2))
