"""How many rounds there are, which was best, and fits that end when their time is up."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pacboost
from pacboost.errors import ParameterError
from pacboost.estimators.boosting import watching
from tests.grids import each_value

generator = np.random.default_rng(0)
X = generator.normal(size=(400, 5))
NUMBERS = X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + generator.normal(size=400)
LABELS = NUMBERS > 0


def both(**more: Any) -> list[tuple[Any, Any]]:
    return [
        (pacboost.BoostClassifier(random_state=0, **more), LABELS),
        (pacboost.BoostRegressor(random_state=0, **more), NUMBERS),
    ]


@pytest.mark.parametrize("number", [0, 1])
def test_rounds_are_counted_and_the_best_one_is_named(number: int, tmp_path: Path) -> None:
    model, y = both(n_estimators=300, learning_rate=0.3, early_stopping=10)[number]
    model.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    (curve,) = model.validation_curves_.values()
    assert model.best_iteration_ == int(np.argmin(curve)) + 1
    assert model.n_iter_ == len(model.ledger_) == len(list(model.staged_predict(X)))
    fixed, y = both(n_estimators=7, early_stopping=False, quality="fast")[number]
    fixed.fit(X, y)
    assert fixed.n_iter_ == 7
    assert not hasattr(fixed, "best_iteration_")
    fixed.save(tmp_path / "m.pacb")
    assert pacboost.load(tmp_path / "m.pacb").n_iter_ == 7


def test_a_fit_without_validation_rows_forgets_the_best_round_of_the_last() -> None:
    model, y = both(n_estimators=7)[0]
    model.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    assert 1 <= model.best_iteration_ <= 7
    model.set_params(early_stopping=False, calibrate=None).fit(X, y)
    assert not hasattr(model, "best_iteration_")


@each_value
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("by", ["gain", "cover", "count"])
def test_importances_have_names(number: int, by: str) -> None:
    model, y = both(n_estimators=10)[number]
    model.fit(pd.DataFrame(X, columns=list("abcde")), y)
    shares = model.importances(by)
    frame = shares.to_frame()
    assert frame["column"][0] == "abcde"[int(np.argmax(shares))]
    assert frame[by].is_monotonic_decreasing
    assert [shares[name] for name in "abcde"] == np.asarray(shares).tolist()
    assert isinstance(model.feature_importances_, np.ndarray)


class Clock:
    """Time that goes on by a second with every look at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@each_value
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize(
    "more",
    [{}, {"early_stopping": False}, {"early_stopping": True}, {"interactions": 2},
     {"interactions": 2, "early_stopping": False}, {"quality": "best"}],
)  # fmt: skip
def test_a_fit_ends_when_the_time_is_up_and_keeps_its_rounds(
    number: int, more: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "monotonic", Clock())
    model, y = both(time_limit=100, n_estimators=300, **more)[number]
    model.fit(X, y)
    assert "the time is up" in model.ledger_.stopped
    assert 5 <= model.n_iter_ < 200  # small samples are boosted many rounds at a time
    assert model.score(X, y) > 0.2


@pytest.mark.parametrize("number", [0, 1])
def test_a_time_limit_that_is_not_reached_changes_nothing(number: int) -> None:
    model, y = both(quality="fast")[number]
    plain = model.fit(X, y).model_.digest()
    assert model.set_params(time_limit="1000s").fit(X, y).model_.digest() == plain
    assert "time" not in model.ledger_.stopped


@pytest.mark.parametrize("epsilon", [None, 0.3])
def test_a_certified_fit_in_little_time_certifies_by_the_same_rows(epsilon: Any) -> None:
    free = pacboost.StrongClassifier(epsilon, random_state=0).fit(X, LABELS)
    hasty = pacboost.StrongClassifier(epsilon, time_limit=0.001, random_state=0).fit(X, LABELS)
    assert hasty.parts_ == free.parts_
    assert hasty.certificate_.size == free.certificate_.size
    assert hasty.n_iter_ < 20
    wrong = hasty.certificate_.inputs["k"]
    assert 0 <= wrong <= hasty.certificate_.size


@each_value
@pytest.mark.parametrize(
    "kind",
    [pacboost.BoostClassifier, pacboost.BoostRegressor, pacboost.TextBoostClassifier,
     pacboost.FilterBoostClassifier],
)  # fmt: skip
@pytest.mark.parametrize("rate", [0, -0.1, 1.5, 2, float("nan"), "0.1", True])
def test_learning_rates_lie_above_0_and_at_most_at_1(kind: Any, rate: Any) -> None:
    rows = ["a b", "c d"] * 200 if kind is pacboost.TextBoostClassifier else X
    y = NUMBERS if kind is pacboost.BoostRegressor else LABELS
    with pytest.raises(ParameterError) as caught:
        kind(learning_rate=rate, n_estimators=3).fit(rows, y)
    assert caught.value.parameter == "learning_rate"
