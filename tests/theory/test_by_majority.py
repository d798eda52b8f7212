"""BoostByMajority, and other boosters with a promised edge, as users meet them."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from pacboost.boosters.filtering import Measure
from pacboost.boosters.majority import Majority
from pacboost.errors import NoEdgeWarning, ParameterError
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.filtering.filter_boost import FilterBoostClassifier
from pacboost.theory.majorities import BoostByMajority
from tests.worlds import noisy


def test_rounds_and_potentials_are_known_from_the_promise() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = BoostByMajority(edge=0.4, epsilon=0.1).fit(X, y)
    table = model.potentials_
    assert model.rounds_ == 9
    assert table.shape == (10, 10)
    assert table[0, 0] <= 0.1
    assert table[9].tolist() == [1.0] * 5 + [0.0] * 5
    for i in range(9):
        assert np.isnan(table[i, i + 1 :]).all()
        by_rule = 0.7 * table[i + 1, 1 : i + 2] + 0.3 * table[i + 1, : i + 1]
        assert table[i, : i + 1] == pytest.approx(by_rule)
    assert model.ledger_.rounds[-1].training_error <= 0.1
    assert model.certificate_.value <= 0.1 + 1e-6


def test_a_promise_that_the_learner_breaks() -> None:
    X, signs = noisy(500, 4, seed=1, noise=0.3)
    model = BoostByMajority(edge=0.6, epsilon=0.05, learner="stump")
    with pytest.warns(NoEdgeWarning, match="promise less") as heard:
        model.fit(X, signs)
    measured = model.ledger_.rounds[-1].edge
    assert heard[0].filename == __file__
    assert f"{measured:.4g}, less than the promised 0.6" in model.ledger_.stopped
    assert model.certificate_.value >= model.ledger_.rounds[-1].training_error


def test_the_same_as_by_the_name_of_the_rules() -> None:
    X, signs = noisy(300, 3, seed=1)
    mine = BoostByMajority(edge=0.1, epsilon=0.2, learner="stump", random_state=0).fit(X, signs)
    booster = Majority(0.1, 0.2)
    theirs = BoostClassifier(booster, "stump", random_state=0).fit(X, signs)
    assert len(theirs.ledger_) <= booster.rounds
    assert mine.votes_.tolist() == theirs.votes_.tolist()
    assert np.array_equal(mine.decision_function(X), theirs.decision_function(X))


def test_a_broken_promise_is_told_by_the_name_of_the_rules_too() -> None:
    model = BoostClassifier("majority", "stump", random_state=0)
    with pytest.warns(NoEdgeWarning, match="less than the promised 0.1") as heard:
        model.fit(*noisy(2000, 3, seed=1, noise=0.49))
    assert len(heard) == 1


def test_a_booster_given_as_an_object_stops_at_its_epsilon() -> None:
    X = np.random.default_rng(0).normal(size=(20_000, 3))
    model = FilterBoostClassifier(Measure(edge=0.2, epsilon=0.1), random_state=0)
    assert len(model.fit(X, X[:, 0] > 0).model_.ledger.rounds) < 100


def test_black_boxes_have_the_edge_too() -> None:
    X, signs = noisy(400, 3, seed=1)
    black = BoostByMajority(edge=0.1, epsilon=0.2, learner=DecisionTreeClassifier(max_depth=2))
    assert black.fit(X, signs).score(X, signs) > 0.7


def test_several_classes_early_stopping_and_holdout() -> None:
    generator = np.random.default_rng(3)
    X = generator.normal(size=(600, 4))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    model = BoostByMajority(0.2, 0.02, early_stopping=5, certify="holdout", random_state=1)
    model.fit(X, y)
    assert model.score(X, y) > 0.9
    assert all(entry.validation is not None for entry in model.ledger_.rounds)
    assert model.certificate_.delta == 0.05


def test_a_table_that_is_too_large_is_not_made() -> None:
    model = BoostByMajority(edge=0.01, n_estimators=1).fit(*noisy(50, 2, seed=0))
    assert model.rounds_ > 20_000
    with pytest.raises(ParameterError, match=r"has \d,\d+ MB"):
        model.potentials_  # noqa: B018 - asking for it is what is tested
