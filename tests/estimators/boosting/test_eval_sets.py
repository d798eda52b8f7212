"""Several validation sets: each has its curve, the first one stops, and none changes the model."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import log_loss, mean_squared_error

import pacboost
from pacboost import AdaBoostClassifier, BoostClassifier, BoostRegressor, TextBoostClassifier
from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.models.file.format import model_bytes

Numbers = NDArray[np.float64]


@cache
def world(rows: int = 900) -> tuple[Numbers, Numbers]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, 4))
    return X, 3 * np.sin(2 * X[:, 0]) + X[:, 1] + generator.normal(size=rows)


def sets(labels: Any) -> tuple[Any, Any, Any]:
    X, _ = world()
    return tuple((X[part], labels[part]) for part in (slice(400), slice(400, 600), slice(600, 900)))  # type: ignore[return-value]


def test_every_curve_is_the_metric_after_every_round() -> None:
    _, y = world()
    train, first, second = sets(y)
    model = BoostRegressor(n_estimators=12, early_stopping=False, random_state=0).fit(
        *train, eval_set=[first, second]
    )
    assert list(model.validation_curves_) == ["validation_0", "validation_1"]
    for (X, own), curve in zip((first, second), model.validation_curves_.values(), strict=True):
        expected = [mean_squared_error(own, stage) for stage in model.staged_predict(X)]
        np.testing.assert_allclose(curve, expected, rtol=1e-9)
    recorded = [entry.validation for entry in model.ledger_.rounds]
    assert recorded == model.validation_curves_["validation_0"]


@pytest.mark.parametrize("booster", ["logit", "adaboost", "total"])
def test_curves_of_classifiers(booster: str) -> None:
    _, y = world()
    train, first, second = sets(np.where(y > 1, "yes", "no"))
    learner = "stump" if booster == "total" else "tree"
    same: Any = {"n_estimators": 8, "early_stopping": False, "calibrate": None, "random_state": 0}
    model = BoostClassifier(booster, learner, **same)
    model.fit(*train, eval_set={"near": first, "far": second})
    assert list(model.validation_curves_) == ["near", "far"]
    far = model.validation_curves_["far"]
    assert far[-1] == pytest.approx(log_loss(second[1], model.predict_proba(second[0])), rel=1e-6)
    other = BoostClassifier(booster, learner, **same)
    other.fit(*train, X_val=second[0], y_val=second[1])
    assert other.validation_curves_ == {"validation_0": far}


def test_the_first_set_stops_and_the_others_change_nothing() -> None:
    _, y = world()
    train, first, second = sets(y)
    model = BoostRegressor(n_estimators=300, early_stopping=5, learning_rate=0.5, random_state=0)
    one = model.fit(*train, X_val=first[0], y_val=first[1])
    bytes_of_one, rounds = model_bytes(one.model_), len(one.ledger_)
    several = model.fit(*train, eval_set=[first, second])
    assert model_bytes(several.model_) == bytes_of_one
    curve = several.validation_curves_["validation_0"]
    assert int(np.argmin(curve)) + 1 == rounds < len(curve) == rounds + 5
    assert len(several.validation_curves_["validation_1"]) == len(curve)
    swapped = model.fit(*train, eval_set=[second, first])
    assert model_bytes(swapped.model_) != bytes_of_one


def test_going_on_measures_the_earlier_rounds_too() -> None:
    _, y = world()
    train, first, second = sets(y > 1)
    for model in (
        AdaBoostClassifier(n_estimators=5, warm_start=True, learning_rate=0.5),
        BoostClassifier(n_estimators=5, warm_start=True, early_stopping=False, random_state=0),
        BoostClassifier("total", "stump", n_estimators=5, warm_start=True, early_stopping=False),
    ):
        model.fit(*train, eval_set=[first, second])
        model.set_params(n_estimators=9).fit(*train, eval_set=[first, second])
        whole = type(model)(**model.get_params()).set_params(warm_start=False)
        whole.fit(*train, eval_set=[first, second])
        lengths = {len(curve) for curve in model.validation_curves_.values()}
        assert lengths == {len(model.ledger_)} == {len(whole.ledger_)}
        for name in whole.validation_curves_:
            found, expected = (m.validation_curves_[name][-1] for m in (model, whole))
            assert found == pytest.approx(expected, rel=1e-9)


def test_held_back_rows_have_a_curve_and_fits_without_any_have_none() -> None:
    X, y = world()
    model = BoostRegressor(n_estimators=8, early_stopping=True, random_state=0).fit(X, y)
    assert len(model.validation_curves_["validation_0"]) == 8
    model.set_params(early_stopping=False).fit(X, y)
    assert not hasattr(model, "validation_curves_")


def test_one_pair_and_texts() -> None:
    _, y = world()
    train, first, _ = sets(y)
    model = BoostRegressor(n_estimators=4, early_stopping=False, random_state=0).fit(
        *train, eval_set=first
    )
    assert list(model.validation_curves_) == ["validation_0"]
    texts, labels = [f"word{k % 7} other{k % 3}" for k in range(60)], np.arange(60) % 7 > 3
    text = TextBoostClassifier(n_estimators=5, early_stopping=False)
    pairs = [(texts[:20], labels[:20]), (texts[20:50], labels[20:50])]
    text.fit(texts, labels, eval_set=pairs)
    assert [len(curve) for curve in text.validation_curves_.values()] == [5, 5]
    assert len(text._sketches) == 3


def test_rows_of_all_sets_are_remembered() -> None:
    _, y = world()
    train, first, second = sets(y > 1)
    model = BoostClassifier(n_estimators=5).fit(*train, eval_set=[first, second])
    with pytest.raises(NotCertified):
        pacboost.certify(model, *second)


BAD: list[tuple[Any, str]] = [
    ([], "eval_set is empty"),
    ("rows", "eval_set is a str"),
    ([world()[0]], "set number 0 of eval_set is not a pair"),
    ([world(), (world()[0], None)], "set number 1 of eval_set holds None"),
    ({"a": world(), "b": 3}, "set 'b' of eval_set is not a pair"),
]


@pytest.mark.parametrize(("given", "said"), BAD)
def test_what_are_no_sets_is_refused(given: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        BoostRegressor(random_state=0).fit(*world(), eval_set=given)


def test_two_ways_at_once_and_bad_rows_are_refused() -> None:
    X, y = world()
    with pytest.raises(ParameterError, match="both given"):
        BoostRegressor(random_state=0).fit(X, y, X_val=X, y_val=y, eval_set=[(X, y)])
    with pytest.raises(DataError, match="contains NaN"):
        BoostRegressor(n_estimators=3, random_state=0).fit(X, y, eval_set=[(X, y), (X, y * np.nan)])
    with pytest.raises(DataError, match="y_val holds -"):
        BoostRegressor("poisson", n_estimators=3, random_state=0).fit(
            X, y**2, eval_set=[(X, y**2), (X, y)]
        )
    pairs = [(X, y > 0), (X, np.where(y > 0, "a", "b"))]
    with pytest.raises(DataError, match="not among the classes"):
        BoostClassifier(n_estimators=3).fit(X, y > 0, eval_set=pairs)
