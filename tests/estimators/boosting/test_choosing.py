"""The recipe of BoostClassifier: what the user set, else the settings."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from pacboost import BoostClassifier, BoostRegressor, StrongClassifier
from pacboost.boosters.logit import Logit
from pacboost.errors import ParameterError
from pacboost.models.file.format import model_bytes
from tests.estimators.boosting.worlds import line, noisy_product
from tests.grids import each_value, one_in


def tables() -> dict[str, tuple[Any, Any]]:
    generator = np.random.default_rng(7)
    return {
        "60 rows": noisy_product(60),
        "150 rows": noisy_product(150, noise=2.0),
        "three classes": noisy_product(110, 3),
        "five classes": noisy_product(120, 5),
        "5,200 rows": noisy_product(5_200),
        "22,000 rows": line(22_000),
        "categories": (
            pd.DataFrame({"a": generator.choice(list("xyz"), 110), "b": np.arange(110) % 7}),
            generator.integers(0, 2, 110),
        ),
    }


@one_in(2)
@pytest.mark.parametrize("name", tables())
def test_setting_a_parameter_to_its_automatic_value_changes_nothing(name: str) -> None:
    """Every parameter with the smallest table, some at a time, and each with one of the others."""
    X, y = tables()[name]
    model = BoostClassifier(random_state=0).fit(X, y)
    automatic = {key: value for key, value in model.settings_.items() if key != "max_depth"}
    usual = {"booster": "logit", "learner": "tree", "early_stopping": "auto", "calibrate": "auto"}
    others = {"callbacks": [lambda entry: None], "warm_start": True, "eval_metric": "log_loss"}
    settings = list((automatic | usual | others).items())
    place = list(tables()).index(name)
    parts = [place - 1] if place else range(len(tables()) - 1)
    for some in (dict(settings[part :: len(tables()) - 1]) for part in parts):
        again = BoostClassifier(random_state=0, **some).fit(X, y)
        assert model_bytes(again.model_) == model_bytes(model.model_), some
        assert again.settings_ == model.settings_
    everything = BoostClassifier(random_state=0, **automatic).fit(X, y, np.ones(len(y)))
    assert model_bytes(everything.model_) == model_bytes(model.model_)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_estimators", 40), ("max_leaves", 8), ("early_stopping", False), ("max_depth", 3)],
)
def test_setting_one_parameter_leaves_the_others_automatic(name: str, value: Any) -> None:
    X, y = noisy_product(400)
    usual = BoostClassifier(random_state=0).fit(X, y)
    model = BoostClassifier(random_state=0, **{name: value}).fit(X, y)
    changed = {key for key in usual.settings_ if usual.settings_[key] != model.settings_[key]}
    assert changed == ({"n_estimators"} if name == "early_stopping" else {name})
    assert model.model_.calibration is not None
    assert model.ledger_.rows == 400


def test_a_booster_object_and_other_losses_have_no_trial() -> None:
    X, y = noisy_product(200)
    for booster in (Logit(learning_rate=0.1, prior=True), "gentle"):
        model = BoostClassifier(booster, n_estimators=7, random_state=0).fit(X, y)
        assert (len(model.ledger_), model.model_.calibration) == (7, None)
        assert (model.settings_["subsample"], model.settings_["max_features"]) == (1.0, 1.0)


def test_few_rows_and_rows_with_weights_are_sampled_and_tried_like_others() -> None:
    X, y = noisy_product(150)
    for model in (
        BoostClassifier().fit(X[:99], y[:99]),
        BoostClassifier().fit(X, y, np.arange(1.0, 151.0)),
        BoostClassifier(class_weight="balanced").fit(X[y + X[:, 0] > 0], y[y + X[:, 0] > 0]),
    ):
        assert (model.settings_["subsample"], model.settings_["max_features"]) == (0.8, 0.5)
        assert model.model_.calibration is not None


@each_value
@pytest.mark.parametrize("kind", [BoostClassifier, BoostRegressor, StrongClassifier])
@pytest.mark.parametrize("wrong", ["good", 3, None])
def test_there_are_three_qualities(kind: Any, wrong: Any) -> None:
    with pytest.raises(ParameterError, match="'fast', 'auto', 'best'"):
        kind(quality=wrong).fit(*noisy_product(60))
