"""What a notebook shows: the certificate beside the parameters, records as tables, all escaped."""

from __future__ import annotations

import numpy as np
import pytest

import pacboost
from pacboost.estimators.boosting.boost import BoostClassifier


def fitted(names: tuple[str, str] = ("no", "yes")) -> BoostClassifier:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 3))
    y = np.array(names)[(X[:, 0] > 0).astype(int)]
    model = BoostClassifier("adaboost", "stump", n_estimators=12, certify="holdout", random_state=0)
    model.fit(X, y)
    assert isinstance(model, BoostClassifier)
    return model


def test_an_estimator_shows_what_it_certifies() -> None:
    model = fitted()
    shown = model._repr_mimebundle_()["text/html"]
    assert "BoostClassifier" in shown
    assert model.certificate_.claim in shown
    assert "is wrong on" not in BoostClassifier()._repr_mimebundle_()["text/html"]


def test_a_ledger_shows_how_it_began_and_ended() -> None:
    ledger = fitted().ledger_
    shown = ledger._repr_html_()
    assert f"{len(ledger)} rounds of adaboost" in shown
    assert shown.count("<tr>") == 1 + min(len(ledger), 10)
    assert f"{ledger.rounds[-1].edge:.4f}" in shown
    assert ledger.stopped in shown


def test_a_certificate_and_a_comparison() -> None:
    X = np.random.default_rng(1).normal(size=(80, 2))
    compared = pacboost.compare(["adaboost", "logit"], "stump", X, X[:, 0] > 0, n_rounds=3)
    shown = compared._repr_html_()
    assert shown.startswith("<pre>")
    assert "adaboost" in shown
    assert "<table>" in fitted().certificate_._repr_html_()


@pytest.mark.parametrize("made", [lambda m: m.answering_, lambda m: m.ledger_])
def test_strangers_words_are_escaped(made: object) -> None:
    model = fitted(("<script>alert(1)</script>", "b"))
    assert callable(made)
    assert "<script>alert" not in made(model)._repr_html_()
