"""A model counts the importances of its columns, and its probabilities belong to its scores."""

from typing import Any

import numpy as np
import pytest
from sklearn import metrics as reference
from sklearn.linear_model import LogisticRegression

from pacboost import AdaBoostClassifier, BoostClassifier, BoostRegressor
from pacboost.errors import ParameterError
from tests.estimators.boosting.worlds import product_of_columns
from tests.grids import each_value

QUICK: dict[str, Any] = {
    "n_estimators": 60,
    "learning_rate": 0.5,
    "early_stopping": 3,
    "random_state": 0,
}
TABLE = np.random.default_rng(0).normal(size=(500, 4))
ANSWERS = TABLE[:, 0] + 0.3 * TABLE[:, 1]
MODELS: list[Any] = [
    BoostClassifier(n_estimators=6, random_state=0),
    BoostRegressor(n_estimators=6, random_state=0),
    AdaBoostClassifier(n_estimators=6),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_importances_are_counted_by_hand(model: Any) -> None:
    model.fit(TABLE, ANSWERS if isinstance(model, BoostRegressor) else ANSWERS > 0)
    np.testing.assert_array_equal(model.importances(), model.feature_importances_)
    counts, covers = np.zeros(4), np.zeros(4)
    for rule in model.estimators_:
        if isinstance(model, AdaBoostClassifier):
            counts[rule.feature] += 1
            covers[rule.feature] += 1
            continue
        for split, feature in enumerate(rule.feature):
            counts[feature] += 1
            covers[feature] += rule.cover[split] / rule.cover[0]
    np.testing.assert_allclose(model.importances("count"), counts / counts.sum())
    np.testing.assert_allclose(model.importances(by="cover"), covers / covers.sum())
    with pytest.raises(ParameterError, match=r"by is 'split'.*'gain'"):
        model.importances("split")


def test_black_boxes_have_no_splits() -> None:
    model = AdaBoostClassifier(LogisticRegression(), n_estimators=2).fit(TABLE, ANSWERS > 0.5)
    assert model.apply(TABLE).shape == (500, len(model.ledger_))
    with pytest.raises(AttributeError, match="list the features"):
        model.importances("count")


@each_value
@pytest.mark.parametrize("booster", ["adaboost", "gentle", "mada", "logit"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_log_loss_is_that_of_the_probabilities(booster: str, classes: int) -> None:
    X, y = product_of_columns(classes)
    X_val, y_val = product_of_columns(classes, rows=90, seed=1)
    model = BoostClassifier(booster, eval_metric="log_loss", **QUICK)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    wanted = reference.log_loss(y_val, model.predict_proba(X_val))
    assert model.ledger_.rounds[-1].validation == pytest.approx(wanted)
    shuffled = model.permutation_importances(X_val, y_val, repeats=1, metric="log_loss")
    assert shuffled.base == pytest.approx(wanted)
