"""Going on from an earlier fit: only where the record stays true."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from pacboost import AdaBoostClassifier
from pacboost.errors import ParameterError
from pacboost.hypotheses.stump import StumpRule
from pacboost.ledgers.ledger import Round
from pacboost.models.file.format import model_bytes
from tests.worlds import noisy

# Ctrl-C loses no finished round.

Rows = NDArray[np.float64]


def interrupted_rows() -> tuple[Rows, NDArray[np.int64]]:
    generator = np.random.default_rng(3)
    X = generator.normal(size=(250, 3))
    y = (X[:, 0] - X[:, 2] + generator.normal(size=250) > 0).astype(np.int64)
    return X, y


def interrupt_in_round_four(entry: Round) -> None:
    if entry.number == 4:
        raise KeyboardInterrupt


class MedianLearner:
    """The better of stumps at the medians; in its n-th call it is interrupted."""

    def __init__(self, interrupted_in: int = 0) -> None:
        self.calls = 0
        self.interrupted_in = interrupted_in

    def __call__(self, X: Rows, y: NDArray[np.int8], weights: Rows) -> StumpRule:
        self.calls += 1
        if self.calls == self.interrupted_in:
            raise KeyboardInterrupt
        edges = [float((weights * y * np.sign(X[:, j] - self.at(X, j))).sum()) for j in range(3)]
        best = int(np.argmax(np.abs(edges)))
        above = 1 if edges[best] > 0 else -1
        return StumpRule(best, self.at(X, best), 0, above, above)

    @staticmethod
    def at(X: Rows, j: int) -> float:
        return float(np.float32(np.median(X[:, j])))


def interrupted(model: AdaBoostClassifier, **options: Any) -> KeyboardInterrupt:
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(*interrupted_rows(), **options)
    return caught.value


def by_callback(**options: Any) -> AdaBoostClassifier:
    return AdaBoostClassifier(n_estimators=12, callbacks=[interrupt_in_round_four], **options)


def by_learner(**options: Any) -> AdaBoostClassifier:
    return AdaBoostClassifier(MedianLearner(interrupted_in=4), n_estimators=12, **options)


BOTH = pytest.mark.parametrize(("make", "kept"), [(by_callback, 4), (by_learner, 3)])
Make = Callable[..., AdaBoostClassifier]


@BOTH
def test_the_rounds_done_are_kept_certified_and_used(make: Make, kept: int) -> None:
    X, y = interrupted_rows()
    model = make()
    (note,) = interrupted(model).__notes__
    assert f"the {kept} rounds done" in note
    assert "warm_start=True" in note
    assert [entry.number for entry in model.ledger_.rounds] == list(range(1, kept + 1))
    assert model.ledger_.stopped == "interrupted"
    whole = AdaBoostClassifier(None if make is by_callback else MedianLearner(), n_estimators=kept)
    assert np.array_equal(model.decision_function(X), whole.fit(X, y).decision_function(X))
    assert len(model.estimators_) == model.votes_.size == kept
    assert model.certificate_.inputs["rounds"] == kept
    assert 1 - model.score(X, y) <= model.certificate_.value < 1


@BOTH
def test_goes_on_to_where_it_would_have_ended(make: Make, kept: int) -> None:
    X, y = interrupted_rows()
    model = make(warm_start=True)
    interrupted(model)
    assert len(model.ledger_) == kept
    model.set_params(callbacks=None).fit(X, y)
    learner = None if make is by_callback else MedianLearner()
    whole = AdaBoostClassifier(learner, n_estimators=12).fit(X, y)
    assert len(model.ledger_) == 12
    assert model_bytes(model.model_) == model_bytes(whole.model_)


def test_goes_on_with_weights_rate_and_resampling_as_it_would_have() -> None:
    X, y = interrupted_rows()
    weights = np.random.default_rng(1).uniform(0.1, 3, size=y.size)
    options: dict[str, Any] = {"learning_rate": 0.4, "resample": True, "random_state": 5}
    model = by_callback(warm_start=True, **options)
    interrupted(model, sample_weight=weights)
    model.set_params(callbacks=None).fit(X, y, sample_weight=weights)
    whole = AdaBoostClassifier(n_estimators=12, **options).fit(X, y, sample_weight=weights)
    assert model_bytes(model.model_) == model_bytes(whole.model_)


def test_interrupt_in_the_first_round_leaves_nothing_and_fit_works_again() -> None:
    X, y = interrupted_rows()
    model = AdaBoostClassifier(MedianLearner(interrupted_in=1), n_estimators=5, warm_start=True)
    assert not hasattr(interrupted(model), "__notes__")
    with pytest.raises(NotFittedError):
        model.predict(X)
    whole = AdaBoostClassifier(MedianLearner(), n_estimators=5).fit(X, y)
    assert model_bytes(model.fit(X, y).model_) == model_bytes(whole.model_)


def test_a_changed_learning_rate_withholds_the_textbook_forms() -> None:
    X, y = noisy(300, 3, seed=1)
    model = AdaBoostClassifier(n_estimators=10, learning_rate=0.1, warm_start=True).fit(X, y)
    model.set_params(n_estimators=12, learning_rate=1.0).fit(X, y)
    assert not model.ledger_.plain_votes
    assert model.ledger_.columns()["bound_edges"] == [None] * 12
    assert model.ledger_.rounds[-1].training_error <= model.certificate_.value


def test_another_learner_is_refused() -> None:
    X, y = noisy(300, 3, seed=1)
    tree = DecisionTreeClassifier(max_depth=3)
    model = AdaBoostClassifier(tree, n_estimators=5, warm_start=True).fit(X, y)
    with pytest.raises(
        ParameterError, match="SklearnLearner, these would be of adaboost with Stump"
    ):
        model.set_params(estimator=None, n_estimators=8).fit(X, y)


def test_other_bins_are_refused() -> None:
    X, y = noisy(300, 3, seed=1)
    model = AdaBoostClassifier(n_estimators=5, warm_start=True).fit(X, y)
    with pytest.raises(ParameterError, match="bins are not those of the last fit"):
        model.set_params(max_bins=8, n_estimators=8).fit(X, y)


def test_a_draw_of_one_class_gives_a_constant_rule() -> None:
    X, _ = noisy(300, 3, seed=2)
    y = (np.arange(300) < 20).astype(int)
    for learner, resample in ((LogisticRegression(), 5), (KNeighborsClassifier(5), False)):
        labels = y if resample else (np.arange(300) < 1).astype(int)
        model = AdaBoostClassifier(learner, n_estimators=4, resample=resample, random_state=2)
        model.fit(X, labels)
        again = pickle.loads(pickle.dumps(model))
        assert (again.predict(X) == model.predict(X)).all()


def test_a_metric_that_is_not_a_number_is_named() -> None:
    X, y = noisy(300, 3, seed=1)

    def broken(signs: np.ndarray, scores: np.ndarray) -> float:
        return math.nan

    model = AdaBoostClassifier(early_stopping=True, eval_metric=broken, random_state=0)
    with pytest.raises(ParameterError, match="broken gave nan in round 1"):
        model.fit(X, y)


def test_a_rule_without_mistakes_does_not_excuse_other_labels() -> None:
    """Its vote is so large that rounding would excuse anything; the training error does not."""
    generator = np.random.default_rng(0)
    X = generator.integers(0, 10, (300, 2)).astype(float)
    model = AdaBoostClassifier(n_estimators=1, warm_start=True, random_state=0)
    model.fit(X, (X[:, 0] > 4).astype(int))
    with pytest.raises(ParameterError, match="not trained on these rows, labels"):
        model.fit(X, generator.integers(0, 2, 300))


@pytest.mark.parametrize("before", [{}, {"certify": "holdout", "random_state": 1}])
def test_held_out_rows_may_not_have_been_learned_from(before: dict[str, Any]) -> None:
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(300, 3)), generator.integers(0, 2, 300)
    model = AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=1, random_state=0)
    model.set_params(**before).fit(X, y)
    model.set_params(warm_start=True, certify="holdout", random_state=0)
    with pytest.raises(ParameterError, match=r"the same rows learned from|spent all of delta"):
        model.fit(X, y)


def test_the_same_rows_held_out_may_be_held_out_again() -> None:
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(300, 3)), generator.integers(0, 2, 300)
    model = AdaBoostClassifier(
        n_estimators=3, random_state=0, certify="holdout", warm_start=True
    ).fit(X, y)
    model.set_params(n_estimators=6).fit(X, y)
    whole = AdaBoostClassifier(n_estimators=6, random_state=0, certify="holdout").fit(X, y)
    parts = [replace(m.model_, certificate=None, answering=None) for m in (model, whole)]
    assert model_bytes(parts[0]) == model_bytes(parts[1])
    inputs = model.certificate_.inputs, whole.certificate_.inputs
    assert inputs[0] == {**inputs[1], "look": 2}
