"""StrongClassifier: what it chooses, when it stops, what it says, and what it hands on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import pacboost
from pacboost import BoostClassifier, FilterBoostClassifier, TextBoostClassifier
from pacboost.bounds.holdout import clopper_pearson
from pacboost.errors import NotCertified, ParameterError
from pacboost.estimators.strong.candidates import WatchedRounds
from pacboost.estimators.strong.classifier import StrongClassifier
from pacboost.models.file.format import model_bytes
from pacboost.theory.finite_worlds import BooleanConcept
from pacboost.theory.worlds import Halfspaces
from tests.worlds import noisy

X, Y = noisy(600, 4, seed=3, noise=0.1)
TEXTS = ["I lost my card", "my card was stolen", "top up my phone", "how do I top up"] * 25
INTENTS = ["card", "card", "top-up", "top-up"] * 25


def test_the_certificate_counts_mistakes_on_rows_set_apart() -> None:
    model = StrongClassifier(n_estimators=10, random_state=0).fit(X, Y)
    assert model.parts_ == {"learn": 432, "watch": 48, "certify": 120}
    inputs = model.certificate_.inputs
    assert inputs["n"] == 120
    assert inputs["models"] == 1
    assert model.certificate_.value == clopper_pearson(int(inputs["k"]), 120, 0.05)
    assert model.sentence_ == model.verdict_.sentence
    assert model.sentence_.startswith("At most ")


def test_rows_that_watched_are_learned_from_in_the_end() -> None:
    model = StrongClassifier(n_estimators=10, random_state=0).fit(X, Y)
    assert model.ledger_.rows == 480
    assert "before boosting on all rows" in model.ledger_.stopped


def test_columns_are_boosted_as_trees() -> None:
    model = StrongClassifier(n_estimators=5).fit(X, Y)
    assert isinstance(model.estimator_, BoostClassifier)
    assert "trees" in model.choice_


def test_texts_are_boosted_as_lists_of_words() -> None:
    model = StrongClassifier(n_estimators=20, random_state=0).fit(TEXTS, INTENTS, copies="draws")
    assert isinstance(model.estimator_, TextBoostClassifier)
    assert model.choice_ == "lists of words by LogitBoost, because rows are texts"
    assert model.predict(["they took my card", "top up please"]).tolist() == ["card", "top-up"]
    assert model.certificate_.size == 20


def test_several_labels_are_met_by_adaboost() -> None:
    labels = np.column_stack([Y > 0, X[:, 1] > 0, X[:, 2] > 0]).astype(int)
    model = StrongClassifier(n_estimators=10).fit(X, labels)
    assert model.ledger_.booster == "adaboost"
    assert model.predict(X).shape == labels.shape


def test_a_world_is_drawn_from() -> None:
    model = StrongClassifier(0.3, n_estimators=10, random_state=0).fit(Halfspaces((3.0, 2.0)))
    assert isinstance(model.estimator_, FilterBoostClassifier)
    assert model.certificate_.size == 10_000
    assert model.verdict_.reached
    assert "drawn from a source" in model.choice_
    assert model.predict(np.array([[2.0, 2.0]])).tolist() == [1]


def test_it_stops_as_soon_as_epsilon_is_certified() -> None:
    model = StrongClassifier(0.45, random_state=0).fit(X, Y)
    assert model.verdict_.reached
    assert model.ledger_.stopped == "the certificate reached 0.45"
    assert len(model.ledger_) < 20
    assert model.certificate_.inputs["models"] == 2
    assert model.ledger_.rows == 432


def test_a_look_that_fails_is_followed_by_one_more_at_half_of_delta(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Watching rows that are too hopeful suggest a look after the first round."""
    monkeypatch.setattr(WatchedRounds, "worth_a_look", _hopeful)
    model = StrongClassifier(0.05, n_estimators=30, random_state=0).fit(X, Y)
    assert not model.verdict_.reached
    inputs = model.certificate_.inputs
    assert inputs["models"] == 2
    assert model.certificate_.value == clopper_pearson(int(inputs["k"]), 120, 0.025)
    assert len(model.ledger_) > 1


def _hopeful(watched: WatchedRounds, _: object) -> bool:
    watched.enough = True
    return True


def test_without_a_sign_of_epsilon_there_is_one_look_with_all_of_delta() -> None:
    model = StrongClassifier(0.01, n_estimators=10, random_state=0).fit(X, Y)
    assert not model.verdict_.reached
    assert model.certificate_.inputs["models"] == 1


def test_noise_is_named_where_nothing_more_can_be_learned() -> None:
    noise = np.random.default_rng(0).integers(2, size=600)
    model = StrongClassifier(0.2, n_estimators=60, random_state=0).fit(X, noise)
    assert not model.verdict_.reached
    assert "the weak learner's edge" in model.sentence_
    assert model.evidence_.edge_vanished
    assert model.evidence_.expected_error > 0.2


def test_more_certified_examples_are_asked_for_where_they_would_do() -> None:
    concept = BooleanConcept(4, lambda bits: bits[:, 0] > 0)
    rows, labels = concept.draw(100, 0)
    model = StrongClassifier(0.05, random_state=0).fit(rows, labels)
    assert model.certificate_.inputs["k"] == 0
    assert model.verdict_.more_certified == 59 - 20
    assert "about 39 more certified examples would do" in model.sentence_


@pytest.mark.parametrize("rows", [2, 5, 39])
def test_tiny_data_is_fitted_all_the_same_and_says_what_is_missing(rows: int) -> None:
    values = np.arange(float(rows))[:, None]
    labels = values[:, 0] >= rows / 2
    model = StrongClassifier(random_state=0).fit(values, labels)
    assert model.score(values, labels) == 1
    assert model.parts_["certify"] == 0
    assert model.certificate_.delta == 0  # it speaks of training rows
    assert f"{rows} rows are too few to set any apart" in model.sentence_
    assert "59 certified examples" in model.sentence_


def test_proper_where_one_rule_decides() -> None:
    concept = BooleanConcept(4, lambda bits: bits[:, 0] > 0)
    assert StrongClassifier(n_estimators=10, random_state=0).fit(*concept.draw(200, 0)).proper_
    assert not StrongClassifier(n_estimators=10, random_state=0).fit(X, Y).proper_


def test_the_same_seed_gives_the_same_bytes_for_any_threads() -> None:
    models = [StrongClassifier(n_estimators=20, random_state=4, n_jobs=n).fit(X, Y) for n in (1, 2)]
    first, second = (model_bytes(model.model_) for model in models)
    assert first == second


def test_save_and_load_give_the_estimator_and_the_certificate_back(tmp_path: Path) -> None:
    model = StrongClassifier(0.3, n_estimators=10, random_state=0).fit(X, Y)
    path = tmp_path / "m.pacb"
    model.save(path)
    back = pacboost.load(path)
    assert isinstance(back, BoostClassifier)
    assert back.certificate_ == model.certificate_
    assert np.array_equal(back.decision_function(X), model.decision_function(X))
    assert all(check.holds for check in pacboost.verify(path))


def test_what_the_estimator_can_do_is_passed_on() -> None:
    model = StrongClassifier(n_estimators=5, random_state=0).fit(X, Y)
    assert model.rules() == model.estimator_.rules()
    assert model.feature_importances_.shape == (4,)
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = model.no_such_thing
    with pytest.raises(
        AttributeError, match="'StrongClassifier' object has no attribute 'n_iter_'"
    ):
        _ = model.n_iter_


def test_no_row_of_the_fit_may_certify_it_again() -> None:
    model = StrongClassifier(n_estimators=5, random_state=0).fit(X, Y)
    with pytest.raises(NotCertified, match="rows the model was trained on"):
        pacboost.certify(model, X, Y)
    fresh = noisy(400, 4, seed=4, noise=0.1)
    assert pacboost.certify(model, *fresh).size == 400


def test_many_classes_are_learned() -> None:
    digits, labels = load_digits(return_X_y=True)
    model = StrongClassifier(0.2, n_estimators=40, random_state=0).fit(digits, labels)
    assert model.verdict_.reached
    assert model.predict_proba(digits).shape == (1797, 10)


def test_a_label_that_only_certifying_rows_have_is_a_mistake() -> None:
    seed = int(np.random.RandomState(0).randint(2**31))
    apart = int(np.random.default_rng(seed).permutation(200)[0])
    labels = np.where(X[:200, 0] > 0, "a", "b")
    labels[apart] = "rare"
    model = StrongClassifier(n_estimators=5, random_state=0).fit(X[:200], labels)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.certificate_.inputs["k"] >= 1


def test_a_failed_fit_leaves_the_last_one() -> None:
    model = StrongClassifier(n_estimators=5, random_state=0).fit(X, Y)
    before = model.sentence_
    with pytest.raises(ValueError, match="X has 600 rows but y has 3"):
        model.fit(X, Y[:3])
    assert model.sentence_ == before


def test_another_fit_forgets_the_last_one() -> None:
    model = StrongClassifier(n_estimators=5, random_state=0).fit(X, Y)
    model.fit(TEXTS, INTENTS)
    assert not hasattr(model, "levels_")
    assert model.predict(["my card"]).tolist() == ["card"]


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"epsilon": 0}, "epsilon is 0"),
        ({"epsilon": 1.5}, "epsilon is 1.5"),
        ({"delta": 1}, "delta is 1"),
        ({"n_estimators": 0}, "n_estimators is 0"),
        ({"text_columns": "said"}, "text_columns is 'said'"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, object], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        StrongClassifier(**parameters).fit(X, Y)  # type: ignore[arg-type]
