"""Weights steer what is learned; rows that certify are counted without them, and this is said."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pacboost
from pacboost.errors import DataError, ParameterError
from pacboost.estimators.inputs.parameters import draw_seed
from pacboost.fit.roles import CERTIFY, RolesAsk, divide, draw
from pacboost.samples.same_example import Examples

WITHOUT = "counted without weights"


def rare(rows: int = 600, seed: int = 0) -> tuple[Any, Any]:
    """One row of eight is of class 1, and these are hard to find."""
    generator = np.random.default_rng(seed)
    y = (generator.random(rows) < 0.125).astype(int)
    X = generator.normal(size=(rows, 3))
    X[:, 0] += 1.2 * y
    return X, y


X, Y = rare()
WEIGHTS = np.where(Y == 1, 7.0, 1.0)


def recall(model: Any) -> float:
    new, labels = rare(2000, 1)
    return float(np.mean(model.predict(new)[labels == 1] == 1))


def holding_out() -> list[Any]:
    return [
        pacboost.AdaBoostClassifier(certify="holdout", random_state=0),
        pacboost.BoostClassifier(n_estimators=20, certify="holdout", random_state=0),
        pacboost.RandomForestClassifier(30, min_samples_leaf=10, certify="holdout", random_state=0),
        pacboost.StrongClassifier(n_estimators=20, random_state=0),
    ]


@pytest.mark.parametrize("number", range(4))
def test_weights_steer_learning_and_the_certificate_says_it_counts_without(
    number: int, tmp_path: Path
) -> None:
    plain = holding_out()[number].fit(X, Y)
    assert WITHOUT not in plain.certificate_.claim
    for model, given in ((holding_out()[number], WEIGHTS), (holding_out()[number], None)):
        if given is None:
            if isinstance(model, pacboost.AdaBoostClassifier):
                continue  # like scikit-learn's, it has no class weights
            model.set_params(class_weight="balanced")
        model.fit(X, Y, sample_weight=given)
        assert recall(model) > recall(plain) + 0.2
        assert model.certificate_.claim.endswith(f"of new examples, {WITHOUT}.")
        assert model.certificate_.size == plain.certificate_.size == 120
        model.save(tmp_path / "m.pacb")
        assert all(check.holds for check in pacboost.verify(tmp_path / "m.pacb"))
        again = pacboost.load(tmp_path / "m.pacb")
        assert again.certificate_.claim == model.certificate_.claim


@pytest.mark.parametrize("number", range(4))
def test_equal_weights_are_no_weights(number: int) -> None:
    plain = holding_out()[number].fit(X, Y)
    same = holding_out()[number].fit(X, Y, sample_weight=np.full(len(Y), 3.0))
    assert same.predict_proba(X).tobytes() == plain.predict_proba(X).tobytes()
    assert WITHOUT not in same.certificate_.claim


def test_the_bound_counts_every_held_out_row_once() -> None:
    model = pacboost.AdaBoostClassifier(certify="holdout", random_state=0).fit(X, Y, WEIGHTS)
    seed = draw_seed(0)
    _, held = draw(600, "holdout", 0.2, seed + CERTIFY)
    assert model.certificate_.inputs["k"] == model.mistakes(X[held], Y[held]).sum()


def test_certificates_by_rows_learned_from_refuse_weights() -> None:
    more: Any
    for more, given in (({}, WEIGHTS), ({"class_weight": "balanced"}, None)):
        with pytest.raises(ParameterError, match="certify='holdout'"):
            pacboost.RandomForestClassifier(certify="oob", **more).fit(X, Y, sample_weight=given)


def test_which_rows_certify_does_not_depend_on_weights() -> None:
    few = WEIGHTS * (np.arange(600) % 3 > 0)
    plain = pacboost.StrongClassifier(n_estimators=5, random_state=0).fit(X, Y)
    model = pacboost.StrongClassifier(n_estimators=5, random_state=0).fit(X, Y, few)
    assert model.parts_ == plain.parts_
    assert model.certificate_.size == plain.certificate_.size
    assert {entry.row % 3 for entry in model.ledger_.hard} == {1, 2}


def test_weights_of_certifying_rows_are_of_no_account() -> None:
    """Neither their size nor, where weights are balanced, their labels reach the model."""
    first = pacboost.StrongClassifier(n_estimators=5, class_weight="balanced", random_state=0).fit(
        X, Y
    )
    certify = divide(Examples(600, None), RolesAsk(draw_seed(0))).certify
    weights, labels = WEIGHTS.copy(), Y.copy()
    weights[certify], labels[certify] = 1e9, 1 - labels[certify]
    second = pacboost.StrongClassifier(n_estimators=5, class_weight="balanced", random_state=0).fit(
        X, labels
    )
    assert np.array_equal(first.decision_function(X), second.decision_function(X))
    assert first.certificate_.value < second.certificate_.value
    third = pacboost.StrongClassifier(n_estimators=5, random_state=0).fit(X, Y, WEIGHTS)
    fourth = pacboost.StrongClassifier(n_estimators=5, random_state=0).fit(X, Y, weights)
    assert np.array_equal(third.decision_function(X), fourth.decision_function(X))
    assert third.certificate_.inputs == fourth.certificate_.inputs


def test_weights_may_be_a_named_column_and_are_no_feature() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(w=WEIGHTS, y=Y)
    model = pacboost.StrongClassifier(n_estimators=5, random_state=0).fit(frame, "y", "w")
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    other = pacboost.StrongClassifier(n_estimators=5, random_state=0).fit(X, Y, WEIGHTS)
    assert np.array_equal(model.decision_function(frame), other.decision_function(X))
    with pytest.raises(DataError, match="sample_weight names 'v'"):
        pacboost.StrongClassifier().fit(frame, "y", "v")


def test_bad_weights_are_refused() -> None:
    with pytest.raises(DataError, match=r"600 rows .*sample_weight has 3"):
        pacboost.StrongClassifier().fit(X, Y, [1, 2, 3])
    with pytest.raises(ParameterError, match=r"sample_weight .*in memory"):
        pacboost.StrongClassifier().fit(lambda: None, sample_weight=WEIGHTS)
    with pytest.raises(ParameterError, match=r"class_weight .*in memory"):
        pacboost.StrongClassifier(class_weight="balanced").fit(lambda: None)
