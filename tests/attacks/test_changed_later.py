"""A certificate is about the model and the parameters that were there when it was made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pacboost
from pacboost import AdaBoostClassifier, BoostRegressor
from pacboost.errors import NotCertified, ParameterError

CLASSIFIERS = [
    AdaBoostClassifier(n_estimators=10, random_state=0),
    LogisticRegression(),
    make_pipeline(StandardScaler(), LogisticRegression()),
]


def rows(seed: int, number: int = 400) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(number, 3))
    return X, (X[:, 0] + generator.normal(size=number) > 0).astype(int)


@pytest.mark.parametrize(
    "wish", [{"recall": 0.9}, {"precision": 0.6}, {"cost": (1.0, 1.0)}, {"target_error": 0.3}]
)
def test_another_threshold_has_no_certificate(wish: dict[str, Any]) -> None:
    model = AdaBoostClassifier(n_estimators=10, random_state=0).fit(*rows(0))
    chosen = pacboost.choose_threshold(model, *rows(1), **wish)
    found = chosen.certificate_.claim
    before = chosen.threshold
    chosen.set_params(threshold=0.999)
    for name in ("certificate_", "sentence_", "curve_"):
        with pytest.raises(NotCertified, match=r"threshold=0\.999"):
            getattr(chosen, name)
    assert chosen.set_params(threshold=before).certificate_.claim == found


def test_another_class_has_no_certificate() -> None:
    model = AdaBoostClassifier(n_estimators=10, random_state=0).fit(*rows(0))
    chosen = pacboost.choose_threshold(model, *rows(1), recall=0.9)
    with pytest.raises(NotCertified):
        _ = chosen.set_params(positive=0).certificate_


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_thresholds_and_sets_keep_the_classifier_that_they_were_certified_for(model: Any) -> None:
    model.fit(*rows(0))
    new, _ = rows(2)
    chosen = pacboost.choose_threshold(model, *rows(1), recall=0.9)
    covering = pacboost.sets(model, *rows(1), coverage=0.9)
    said, held = chosen.predict(new), covering.predict_set(new)
    other, labels = rows(3)
    model.fit(other[:, ::-1], 1 - labels)
    assert (chosen.predict(new) == said).all()
    assert (covering.predict_set(new) == held).all()


@pytest.mark.parametrize("kind", [lambda: BoostRegressor(n_rounds=10), LinearRegression])
def test_intervals_keep_the_models_that_they_were_certified_for(kind: Callable[[], Any]) -> None:
    X, _ = rows(0)
    fresh, new = rows(1)[0], rows(2)[0]
    one, other, scale = (kind().fit(X, X[:, 0] + shift) for shift in (0.0, 1.0, 2.0))
    found = [
        pacboost.intervals(one, fresh, fresh[:, 0]),
        pacboost.intervals(one, fresh, fresh[:, 0], scale=scale),
        pacboost.intervals((one, other), fresh, fresh[:, 0]),
    ]
    before = [own.predict_interval(new) for own in found]
    for model in (one, other, scale):
        model.fit(X, 100 * X[:, 1])
    assert all(
        (own.predict_interval(new) == ends).all() for own, ends in zip(found, before, strict=True)
    )


def test_a_program_with_another_threshold_has_no_certificate(tmp_path: Path) -> None:
    model = AdaBoostClassifier(n_estimators=10, random_state=0).fit(*rows(0))
    chosen = pacboost.choose_threshold(model, *rows(1), recall=0.9)
    written = []
    for threshold in (chosen.threshold, 0.6):
        pacboost.export(chosen.set_params(threshold=threshold), tmp_path / "program.py")
        written.append((tmp_path / "program.py").read_text())
    assert ["finds at least" in text for text in written] == [True, False]


def test_a_monitor_does_not_mix_the_mistakes_of_two_models() -> None:
    model = AdaBoostClassifier(n_estimators=10, certify="holdout", random_state=0).fit(*rows(0))
    monitor = pacboost.Monitor(model).update(*rows(1))
    model.certify_answers(*rows(4))  # changes nothing that is watched
    monitor.update(*rows(2))
    model.fit(*rows(3))
    with pytest.raises(ParameterError, match="begin a new monitor"):
        monitor.update(*rows(2))
    assert monitor.status().rows == 800
