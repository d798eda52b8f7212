"""Ctrl-C loses no finished round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from pacboost import AdaBoostClassifier
from pacboost.hypotheses.stump import StumpRule
from pacboost.ledgers.ledger import Round
from pacboost.models.file.format import model_bytes

Rows = NDArray[np.float64]


def noisy() -> tuple[Rows, NDArray[np.int64]]:
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
        model.fit(*noisy(), **options)
    return caught.value


def by_callback(**options: Any) -> AdaBoostClassifier:
    return AdaBoostClassifier(n_estimators=12, callbacks=[interrupt_in_round_four], **options)


def by_learner(**options: Any) -> AdaBoostClassifier:
    return AdaBoostClassifier(MedianLearner(interrupted_in=4), n_estimators=12, **options)


BOTH = pytest.mark.parametrize(("make", "kept"), [(by_callback, 4), (by_learner, 3)])
Make = Callable[..., AdaBoostClassifier]


@BOTH
def test_the_rounds_done_are_kept_certified_and_used(make: Make, kept: int) -> None:
    X, y = noisy()
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
    X, y = noisy()
    model = make(warm_start=True)
    interrupted(model)
    assert len(model.ledger_) == kept
    model.set_params(callbacks=None).fit(X, y)
    learner = None if make is by_callback else MedianLearner()
    whole = AdaBoostClassifier(learner, n_estimators=12).fit(X, y)
    assert len(model.ledger_) == 12
    assert model_bytes(model.model_) == model_bytes(whole.model_)


def test_goes_on_with_weights_rate_and_resampling_as_it_would_have() -> None:
    X, y = noisy()
    weights = np.random.default_rng(1).uniform(0.1, 3, size=y.size)
    options: dict[str, Any] = {"learning_rate": 0.4, "resample": True, "random_state": 5}
    model = by_callback(warm_start=True, **options)
    interrupted(model, sample_weight=weights)
    model.set_params(callbacks=None).fit(X, y, sample_weight=weights)
    whole = AdaBoostClassifier(n_estimators=12, **options).fit(X, y, sample_weight=weights)
    assert model_bytes(model.model_) == model_bytes(whole.model_)


def test_interrupt_in_the_first_round_leaves_nothing_and_fit_works_again() -> None:
    X, y = noisy()
    model = AdaBoostClassifier(MedianLearner(interrupted_in=1), n_estimators=5, warm_start=True)
    assert not hasattr(interrupted(model), "__notes__")
    with pytest.raises(NotFittedError):
        model.predict(X)
    whole = AdaBoostClassifier(MedianLearner(), n_estimators=5).fit(X, y)
    assert model_bytes(model.fit(X, y).model_) == model_bytes(whole.model_)
