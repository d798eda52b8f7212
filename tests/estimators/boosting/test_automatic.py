"""Values that are not set: by the number of rows, and by one dial for time and accuracy."""

from typing import Any

import numpy as np
import pytest

from pacboost import BoostClassifier, BoostRegressor, StrongClassifier
from pacboost.estimators.inputs.parameters import draw_seed
from pacboost.fit.division import Certifying, held_out
from pacboost.hypotheses.vote_digest import vote_digest
from pacboost.models.file.format import model_bytes
from pacboost.training.run.loop import Run
from tests.estimators.boosting.worlds import noisy_product, sloped


def loss(model: Any, X: Any, y: Any) -> float:
    return float(-np.log(model.predict_proba(X)[np.arange(len(y)), y]).mean())


def test_a_trial_chooses_rounds_and_slope_and_all_rows_are_boosted_on() -> None:
    X, y = noisy_product(400, noise=2.0)
    model = BoostClassifier(random_state=0).fit(X, y)
    assert model.ledger_.rows == 400
    assert 20 <= len(model.ledger_) < 150
    assert model.ledger_.stopped.startswith(f"{len(model.ledger_)} rounds (")
    assert model.model_.calibration is not None
    assert model.model_.calibration.method == "temperature"
    assert model.certificate_.value >= 1 - model.score(X, y)
    assert len(model.validation_curves_["validation_0"]) > 20


def test_a_trial_chooses_the_size_of_trees_of_many_classes() -> None:
    """Clear classes get large trees, noisy ones small, and setting what was chosen is the same."""
    X, noisy = noisy_product(2_500, classes=5, noise=3.0)
    clear = (4 * (X[:, 0] > 0) + 2 * (X[:, 1] * X[:, 2] > 0) + (X[:, 3] * X[:, 4] > 0)).astype(int)
    chosen = []
    for y in (noisy, clear):
        model = BoostClassifier(n_estimators=60, random_state=0).fit(X, y)
        chosen.append(model.settings_["max_leaves"])
        same = BoostClassifier(n_estimators=60, max_leaves=chosen[-1], random_state=0).fit(X, y)
        assert model_bytes(model.model_) == model_bytes(same.model_)
    assert chosen == [16, 127]


def test_a_trial_says_how_steep_the_probabilities_of_many_rounds_are() -> None:
    X, y = noisy_product(3_000, noise=2.0)
    learn, new = slice(0, 400), slice(400, None)
    options: dict[str, Any] = {"early_stopping": False, "random_state": 0}
    tuned = BoostClassifier(**options).fit(X[learn], y[learn])
    plain = BoostClassifier(**options, calibrate=None).fit(X[learn], y[learn])
    assert vote_digest(tuned.model_.vote) == vote_digest(plain.model_.vote)
    assert plain.model_.calibration is None
    assert loss(tuned, X[new], y[new]) < loss(plain, X[new], y[new])


def test_rows_held_back_to_stop_say_how_steep_probabilities_are() -> None:
    X, y = noisy_product(1_500, noise=2.0)
    model = BoostClassifier(early_stopping=True, random_state=0).fit(X[:500], y[:500])
    plain = BoostClassifier(early_stopping=True, random_state=0, calibrate=None)
    assert model.model_.calibration is not None
    by_scores = loss(plain.fit(X[:500], y[:500]), X[500:], y[500:])
    assert loss(model, X[500:], y[500:]) < 1.02 * by_scores  # which early stopping leaves right


@pytest.mark.filterwarnings("ignore::pacboost.errors.RareClassWarning")
def test_a_class_of_one_row_leaves_the_trial_out() -> None:
    X, _ = noisy_product(300)
    y = (np.arange(300) == 7).astype(int)
    model = BoostClassifier(random_state=0).fit(X, y)
    assert model.ledger_.stopped == f"all {len(model.ledger_)} rounds are done"
    assert len(model.ledger_) == model.settings_["n_estimators"] == 300
    assert model.model_.calibration is None


def test_certifying_rows_have_no_say() -> None:
    """Other labels of the rows that certify change the certificate, and nothing else."""
    X, y = noisy_product(400)
    model = BoostClassifier(certify="holdout", random_state=0).fit(X, y)
    learned = held_out(X, y, None, Certifying("holdout"), draw_seed(0)).rows
    assert learned is not None
    apart = np.setdiff1d(np.arange(400), learned)
    assert apart.size == 80
    other = y.copy()
    other[apart] = 1 - other[apart]
    X_other = X.copy()
    X_other[apart] += 50
    again = BoostClassifier(certify="holdout", random_state=0).fit(X_other, other)
    assert vote_digest(model.model_.vote) == vote_digest(again.model_.vote)
    assert model.model_.calibration == again.model_.calibration
    assert model.certificate_.value < again.certificate_.value


def test_whoever_watches_the_rounds_sees_one_run() -> None:
    X, y = noisy_product(200)
    seen: list[int] = []
    model = BoostClassifier(random_state=0, callbacks=[lambda entry: seen.append(entry.number)])
    model.fit(X, y)
    assert seen == list(range(1, len(seen) + 1)) == [entry.number for entry in model.ledger_.rounds]


def kept_rounds(rows: int, early_stopping: Any = "auto") -> int:
    """How many of 20 rounds of the first run a fit takes over, with the constant."""
    X, y = sloped(rows)
    runs: list[Run] = []

    class Noted(Run):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            runs.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pacboost.fit.trial.Run", Noted)
        model = BoostRegressor(
            n_estimators=20, early_stopping=early_stopping, random_state=0, verbose=0
        ).fit(X, y)
    return len(model.ledger_) if model.ledger_.rows < rows else len(runs[-1].opening)


def test_the_second_run_of_a_regressor_keeps_ever_more_of_the_first() -> None:
    found = {rows: kept_rounds(rows) for rows in (20_000, 24_900, 25_100, 27_500, 30_000)}
    assert list(found.values()) == [1, 10, 10, 15, 20]
    assert kept_rounds(25_000, "refit") == 1  # what was asked for is done, and no more


def test_a_second_run_counts_all_rows_and_predicts_as_its_record_says() -> None:
    X, y = sloped(25_000)
    model = BoostRegressor(n_estimators=20, random_state=0, verbose=0).fit(X, y)
    assert model.ledger_.rows == 25_000
    assert len(model.ledger_) == 20
    assert model.ledger_.rounds[-1].training_error == pytest.approx(
        np.mean((model.predict(X) - y) ** 2), rel=1e-9
    )
    assert model.ledger_.rounds[5].validation is None


DRAW = np.random.default_rng(0)
TABLE = DRAW.normal(size=(2_300, 4))
ANSWERS = TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2] + 0.1 * DRAW.normal(size=len(TABLE))
SIGNS = (ANSWERS > 0).astype(int)
FEW = 300
KINDS = [BoostClassifier, BoostRegressor, StrongClassifier]


def answers_of(kind: Any) -> Any:
    return ANSWERS if kind is BoostRegressor else SIGNS


def loss_of(model: Any) -> float:
    if isinstance(model, BoostRegressor):
        return float(np.mean((model.predict(TABLE[FEW:]) - ANSWERS[FEW:]) ** 2))
    chances = model.predict_proba(TABLE[FEW:])
    return float(-np.log(chances[np.arange(len(chances)), SIGNS[FEW:]]).mean())


@pytest.mark.parametrize(
    ("kind", "max_rounds"),
    [
        (BoostClassifier, 600),
        (BoostRegressor, 300),
        (StrongClassifier, 600),
        *(pytest.param(kind, None, marks=pytest.mark.slow) for kind in KINDS),
    ],
)
def test_more_time_makes_better_models(kind: Any, max_rounds: Any) -> None:
    """The best quality is better after a fifth of its rounds already, or a tenth."""
    made = {
        quality: kind(quality=quality, n_estimators=n_estimators, random_state=0).fit(
            TABLE[:FEW], answers_of(kind)[:FEW]
        )
        for quality, n_estimators in (("fast", None), ("best", max_rounds))
    }
    assert loss_of(made["best"]) < loss_of(made["fast"])
    assert len(made["fast"].ledger_) == 100
    rates = [model.settings_["learning_rate"] for model in made.values()]
    assert rates == [0.1, 0.05 / 3]
    assert not hasattr(made["fast"], "validation_curves_")
    assert kind().quality == "auto"


def test_large_tables_are_tried_too() -> None:
    rows = DRAW.normal(size=(31_000, 2))
    labels = np.sin(6 * rows[:, 0]) + rows[:, 1] > 0
    for kind in (StrongClassifier, BoostClassifier):
        model: Any = kind(random_state=0, n_estimators=60).fit(rows, labels)
        assert "refit" in model.ledger_.stopped or len(model.ledger_) == 60
        assert model.model_.calibration is not None
    model = BoostClassifier(n_estimators=60, early_stopping=False).fit(rows, labels)
    assert (model.model_.calibration, model.ledger_.rows, len(model.ledger_)) == (None, 31_000, 60)


def test_rows_that_were_few_beside_all_are_not_worth_a_second_run() -> None:
    rows = DRAW.normal(size=(201_000, 1))
    model = BoostClassifier(n_estimators=3, random_state=0).fit(rows, rows[:, 0] > 0)
    assert model.ledger_.rows == 191_000
    assert model.model_.calibration is not None
