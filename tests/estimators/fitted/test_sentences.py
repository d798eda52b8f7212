"""Every estimator that certifies says in a sentence what it certifies, in the same words."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import pacboost
from pacboost.bounds import estimates
from pacboost.questions import verify

generator = np.random.default_rng(0)
X = generator.normal(size=(400, 3))
Y = X[:, 0] + generator.normal(size=400) > 0

CERTIFYING = [
    pacboost.BoostClassifier("adaboost", "stump", n_estimators=9, certify="holdout"),
    pacboost.AdaBoostClassifier(n_estimators=9, certify="holdout"),
    pacboost.RandomForestClassifier(40, certify="oob"),
    pacboost.ExtraTreesClassifier(40, certify="holdout"),
    pacboost.BaggingClassifier(n_estimators=40, certify="oob"),
    pacboost.BaggingClassifier(n_estimators=9, certify="holdout"),
]


@pytest.mark.parametrize("model", CERTIFYING)
def test_the_sentence_is_that_of_the_certificate(model: Any, tmp_path: Path) -> None:
    with pytest.raises((AttributeError, NotFittedError)):
        model.sentence_  # noqa: B018
    model.set_params(random_state=0).fit(X, Y)
    inner = getattr(model, "model_", None)
    counted = None if inner is None else inner.held_out
    assert model.sentence_ == estimates.in_words(model.certificate_, counted, ["False", "True"])
    if inner is not None:
        model.save(tmp_path / "m.pacb")
        assert pacboost.load(tmp_path / "m.pacb").sentence_ == model.sentence_
        assert verify.sentence(tmp_path / "m.pacb") == model.sentence_


@pytest.mark.parametrize("model", CERTIFYING)
def test_without_a_certificate_the_next_call_is_named(model: Any) -> None:
    model.set_params(certify=None, random_state=0).fit(X, Y)
    assert "pacboost.certify(model, X_new, y_new)" in model.sentence_
