"""AdaBoostClassifier: what it learns, shows and promises."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from pacboost import AdaBoostClassifier
from pacboost.errors import DataError, NoEdgeWarning, ParameterError
from pacboost.models.file.format import model_bytes

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]


def noisy(rows: int = 300, seed: int = 0) -> tuple[Rows, Labels]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 4))
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.7 * generator.normal(size=rows) > 0).astype(np.int64)
    return X, y


def fitted(**options: Any) -> AdaBoostClassifier:
    return AdaBoostClassifier(**{"n_estimators": 25, **options}).fit(*noisy())


def rules(model: AdaBoostClassifier) -> list[tuple[int, float, int, int]]:
    return [(h.feature, h.threshold, h.above, h.missing) for h in model.estimators_]


def test_a_fit_shows_rule_error_and_vote_of_every_round() -> None:
    X, y = noisy()
    model = fitted()
    assert len(model.estimators_) == len(model.ledger_) == len(model.rules()) == 25
    errors = model.estimator_errors_
    np.testing.assert_allclose(model.votes_, 0.5 * np.log((1 - errors) / errors), atol=1e-11)
    assert np.array_equal(model.estimator_weights_, 2 * model.votes_)
    shares = np.zeros(4)
    for rule, vote in zip(model.estimators_, model.votes_, strict=True):
        shares[rule.feature] += vote
    assert model.feature_importances_.sum() == pytest.approx(1)
    np.testing.assert_allclose(model.feature_importances_, shares / shares.sum())
    staged = [1 - score for score in model.staged_score(X, y)]
    np.testing.assert_allclose([e.training_error for e in model.ledger_.rounds], staged, atol=1e-12)
    assert model.ledger_.columns()["validation"] == [None] * 25


def test_certificate_bounds_the_training_error() -> None:
    X, y = noisy()
    for model in (fitted(), fitted(learning_rate=0.3), fitted(max_vote=0.1), fitted(resample=True)):
        assert 1 - model.score(X, y) <= model.certificate_.value < 1
        assert model.certificate_.ledger_digest == model.ledger_.digest()


def test_probability_is_the_logistic_of_twice_the_score() -> None:
    X, _ = noisy()
    model = fitted()
    chances = model.predict_proba(X)
    np.testing.assert_allclose(chances[:, 1], 1 / (1 + np.exp(-2 * model.decision_function(X))))
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(chances))
    assert np.array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))


def test_score_tables_equal_the_sum_over_rounds() -> None:
    X, _ = noisy(seed=5)
    X[::7, 1] = np.nan
    model = fitted()
    *_, last = model.staged_decision_function(X)
    assert np.array_equal(model.decision_function(X), last)
    votes = zip(model.estimators_, model.votes_, strict=True)
    by_hand = sum(
        vote
        * np.where(
            np.isnan(X[:, h.feature]),
            h.missing,
            np.where(
                X[:, h.feature].astype(np.float32) > np.float32(h.threshold), h.above, -h.above
            ),
        )
        for h, vote in votes
    )
    assert np.array_equal(last, by_hand)


def test_stages_end_at_the_final_answers() -> None:
    X, y = noisy(seed=5)
    model = fitted()
    assert np.array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    assert np.array_equal(list(model.staged_predict_proba(X))[-1], model.predict_proba(X))
    assert list(model.staged_score(X, y))[-1] == pytest.approx(model.score(X, y))
    weights = np.random.default_rng(0).uniform(size=y.size)
    assert list(model.staged_score(X, y, weights))[-1] == pytest.approx(model.score(X, y, weights))
    stages = list(model.staged_decision_function(X))
    assert np.array_equal(stages[6], fitted(n_estimators=7).decision_function(X))


def test_missing_values_are_learned_from() -> None:
    X, y = noisy()
    X[y == 1, 3] = np.nan
    model = AdaBoostClassifier().fit(X, y)
    assert model.score(X, y) == 1
    assert model.rules()[0].endswith("x3 is missing → 1, else 0")


def test_value_missing_only_at_predict_time_goes_with_the_median() -> None:
    X, _ = noisy()
    model = fitted()
    gaps = X.copy()
    gaps[:, 0] = np.nan
    filled = X.copy()
    filled[:, 0] = np.median(X[:, 0])
    assert np.array_equal(model.predict(gaps), model.predict(filled))


def test_resampling_depends_on_the_seed_alone() -> None:
    one, same, other = (fitted(resample=True, random_state=seed) for seed in (1, 1, 2))
    assert model_bytes(one.model_) == model_bytes(same.model_)
    assert rules(one) != rules(other)
    few = fitted(resample=20, random_state=1)
    assert rules(few) != rules(one)
    assert few.estimator_errors_.mean() > fitted().estimator_errors_.mean()
    assert (few.estimator_errors_ < 0.5).all()
    X, y = noisy()  # the error is that of the full sample
    assert few.estimator_errors_[0] == pytest.approx(1 - next(few.staged_score(X, y)))


def test_function_learns_with_signs_and_weights() -> None:
    def centroid(X: Rows, y: NDArray[np.int8], weights: Rows) -> Any:
        assert set(np.unique(y)) == {-1, 1}
        assert weights.sum() == pytest.approx(1)
        direction = (weights * y) @ X
        offset = float(np.median(X @ direction))
        return lambda rows: rows @ direction - offset

    X, y = noisy()
    model = AdaBoostClassifier(centroid, 10).fit(X, np.where(y > 0, "yes", "no"))
    assert model.score(X, np.where(y > 0, "yes", "no")) > 0.75
    assert all(callable(rule) for rule in model.estimators_)
    assert "centroid" in model.ledger_.rounds[0].rule
    assert 1 - model.score(X, np.where(y > 0, "yes", "no")) <= model.certificate_.value


def test_agrees_with_scikit_learn_on_stumps() -> None:
    X, y = noisy(400, seed=4)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    ours = AdaBoostClassifier(tree, 20, random_state=0).fit(X, y)
    theirs = SklearnAdaBoost(tree, n_estimators=20, random_state=0).fit(X, y)
    assert len(ours.ledger_) == 20
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-6)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-6)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.filterwarnings("ignore::pacboost.errors.RareClassWarning")
def test_two_classes_of_which_one_is_held_back_predict_the_other() -> None:
    X, y = noisy()
    weights = (y == 0).astype(float)
    with pytest.raises(DataError, match="class 1 weigh 0"):
        AdaBoostClassifier().fit(X, y, sample_weight=weights)
    constant = 0
    for row in np.flatnonzero(y == 1)[:30]:
        weights[y == 1] = 0
        weights[row] = 1  # class 1 has but this row, which may be held back
        model = AdaBoostClassifier(early_stopping=True, validation_fraction=0.5, random_state=0)
        model.fit(X, y, sample_weight=weights)
        assert model.predict_proba(X).shape == (300, 2)
        if len(model.ledger_) == 1 and model.ledger_.learner == "function":
            assert (model.predict(X) == 0).all()
            constant += 1
    assert constant > 0


def test_exclusive_or_has_no_edge_and_still_predicts() -> None:
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    with pytest.warns(NoEdgeWarning, match="vote is empty"):
        model = AdaBoostClassifier().fit(X, [0, 1, 1, 0])
    assert model.estimators_ == []
    assert model.predict(X).tolist() == [0] * 4  # a tie goes to the first class
    assert np.array_equal(model.predict_proba(X), np.full((4, 2), 0.5))
    assert model.certificate_.vacuous
    assert model.feature_importances_.tolist() == [0, 0]
    assert list(model.staged_predict(X)) == []
    deeper = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), random_state=0)
    assert deeper.fit(X, [0, 1, 1, 0]).score(X, [0, 1, 1, 0]) == 1


def test_rule_without_mistakes_stands_alone() -> None:
    X, _ = noisy()
    y = (X[:, 2] > 0.3).astype(int)
    model = AdaBoostClassifier(max_bins=300).fit(X, y)
    assert len(model.ledger_) == 1
    assert model.score(X, y) == 1
    assert model.estimator_errors_.tolist() == [0]
    assert np.isfinite(model.votes_).all()
    assert "stands alone" in model.ledger_.stopped


def test_rule_without_mistakes_that_comes_late_stands_alone() -> None:
    depths = iter([1, 1, 1, 30])

    def deeper(X: Rows, y: Labels, weights: Rows) -> Any:
        return DecisionTreeClassifier(max_depth=next(depths)).fit(X, y, sample_weight=weights)

    X, y = noisy()
    model = AdaBoostClassifier(deeper).fit(X, y)
    assert len(model.ledger_) == 1
    assert model.ledger_.rounds[0].number == 1
    assert model.score(X, y) == 1
    assert "stands alone" in model.ledger_.stopped


def test_a_draw_of_one_class_gives_a_constant_rule() -> None:
    X, _ = noisy()
    y = (np.arange(len(X)) < 20).astype(int)
    for learner, resample in ((LogisticRegression(), 5), (KNeighborsClassifier(5), False)):
        labels = y if resample else (np.arange(len(X)) < 1).astype(int)
        model = AdaBoostClassifier(learner, n_estimators=4, resample=resample, random_state=2)
        model.fit(X, labels)
        again = pickle.loads(pickle.dumps(model))
        assert (again.predict(X) == model.predict(X)).all()


def test_a_metric_that_is_not_a_number_is_named() -> None:
    X, y = noisy()

    def broken(signs: np.ndarray, scores: np.ndarray) -> float:
        return math.nan

    model = AdaBoostClassifier(early_stopping=True, eval_metric=broken, random_state=0)
    with pytest.raises(ParameterError, match="nan in round 1"):
        model.fit(X, y)
