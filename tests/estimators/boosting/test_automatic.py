"""Without settings, BoostClassifier goes by the number of rows and by a trial."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from pacboost import BoostClassifier
from pacboost.boosters.logit import Logit
from pacboost.estimators.boosting import certifying
from pacboost.estimators.boosting.boost import GIVEN, Settings, Trial, is_automatic, tried
from pacboost.estimators.boosting.certifying import divide
from pacboost.estimators.inputs.examples import LabelledRows
from pacboost.estimators.inputs.parameters import draw_seed
from pacboost.estimators.strong.candidates import choose
from pacboost.hypotheses.vote import vote_digest
from pacboost.learners.tree import Tree
from pacboost.samples.sample import signs_of
from pacboost.sources.arrays import ArrayTable


def world(rows: int, classes: int = 2, noise: float = 1.0) -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, 5))
    score = X[:, 0] + X[:, 1] * X[:, 2] + noise * generator.normal(size=rows)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def loss(model: Any, X: Any, y: Any) -> float:
    return float(-np.log(model.predict_proba(X)[np.arange(len(y)), y]).mean())


@pytest.mark.parametrize("many_classes", [False, True])
def test_settings_move_smoothly_with_the_number_of_rows(many_classes: bool) -> None:
    found = [Settings.of(rows, many_classes=many_classes) for rows in range(100, 31_001, 100)]
    for before, after in pairwise(found):
        assert abs(after.rounds - before.rounds) <= 3
        assert -0.0001 <= after.rate - before.rate <= 0.004
        assert 0 <= after.subsample - before.subsample <= 0.003
        assert 0 <= after.min_leaf_rows - before.min_leaf_rows <= 1
    shares = [tried(rows) for rows in range(100, 31_001, 100)]
    assert all(0 <= before - after < 0.014 for before, after in pairwise(shares))


def test_a_trial_chooses_rounds_and_slope_and_all_rows_are_boosted_on() -> None:
    X, y = world(400, noise=2.0)
    model = BoostClassifier(random_state=0).fit(X, y)
    assert model.ledger_.rows == 400
    assert 150 <= len(model.ledger_) < 300
    assert model.ledger_.stopped.startswith(f"all {len(model.ledger_)} rounds are done; a trial")
    assert model.model_.calibration is not None
    assert model.model_.calibration.method == "temperature"
    assert model.certificate_.value >= 1 - model.score(X, y)
    assert len(model.validation_curves_["validation_0"]) >= 150


def test_probabilities_after_a_trial_are_better_than_without() -> None:
    X, y = world(3_000, noise=2.0)
    learn, new = slice(0, 400), slice(400, None)
    tuned = BoostClassifier(random_state=0).fit(X[learn], y[learn])
    plain = BoostClassifier(random_state=0, calibrate=None).fit(X[learn], y[learn])
    fixed = BoostClassifier(random_state=0, n_estimators=180).fit(X[learn], y[learn])
    assert vote_digest(tuned.model_.vote) == vote_digest(plain.model_.vote)
    assert plain.model_.calibration is None
    losses = [loss(model, X[new], y[new]) for model in (tuned, plain, fixed)]
    assert losses[0] < losses[1] < losses[2]


@pytest.mark.parametrize("classes", [2, 4])
def test_the_choice_does_not_depend_on_threads(classes: int) -> None:
    X, y = world(300, classes)
    one, two = (BoostClassifier(random_state=3, n_jobs=n).fit(X, y) for n in (1, 2))
    assert vote_digest(one.model_.vote) == vote_digest(two.model_.vote)
    assert one.model_.calibration == two.model_.calibration


GIVEN_VALUES: dict[str, Any] = dict.fromkeys(GIVEN, 0.5) | {
    "n_estimators": 7, "max_leaves": 4, "max_depth": 2, "min_leaf_rows": 9,
    "early_stopping": False, "eval_metric": "error", "warm_start": True,
    "booster": "gentle", "learner": "stump",
}  # fmt: skip


@pytest.mark.parametrize("name", GIVEN_VALUES)
def test_whoever_sets_one_parameter_keeps_the_described_values_of_the_others(name: str) -> None:
    X, y = world(200)
    signs, labels = signs_of(y, 2)
    examples = LabelledRows(ArrayTable(X), signs, None, labels)
    assert is_automatic(BoostClassifier(), examples)
    assert not is_automatic(BoostClassifier(**{name: GIVEN_VALUES[name]}), examples)


def test_given_parameters_are_used_as_they_are() -> None:
    X, y = world(200)
    model = BoostClassifier(n_estimators=7, random_state=0)
    ledger = model.fit(X, y).ledger_
    assert (len(ledger), ledger.rows, ledger.metric) == (7, 200, "")
    assert model.model_.calibration is None
    recipe = model._recipe(model._read_rows(certifying.divide(model, X, y, None, 0), None)[0])
    assert isinstance(recipe.learner, Tree)
    assert isinstance(recipe.booster, Logit)
    found = recipe.subsample, recipe.learner.min_leaf_rows, recipe.learner.max_features
    assert (*found, recipe.booster.learning_rate) == (1.0, 20, None, 0.1)


def test_few_rows_and_rows_with_weights_are_not_sampled() -> None:
    X, y = world(150)
    for model in (
        BoostClassifier().fit(X[:99], y[:99]),
        BoostClassifier().fit(X, y, np.arange(1.0, 151.0)),
        BoostClassifier(class_weight="balanced").fit(X[y + X[:, 0] > 0], y[y + X[:, 0] > 0]),
    ):
        assert len(model.ledger_) == 180
        assert model.model_.calibration is None


def test_a_class_of_one_row_leaves_the_trial_out() -> None:
    X, _ = world(300)
    y = (np.arange(300) == 7).astype(int)
    model = BoostClassifier(random_state=0).fit(X, y)
    assert model.ledger_.stopped == f"all {len(model.ledger_)} rounds are done"
    assert model.model_.calibration is None


def test_rows_of_a_trial_are_apart_and_few_rows_are_all_in_it() -> None:
    for rows, share in ((500, 1.0), (8_750, 0.5)):
        X, y = world(rows)
        signs, labels = signs_of(y, 2)
        examples = LabelledRows(ArrayTable(X), signs, None, labels)
        model = BoostClassifier()
        model.classes_ = np.arange(2)
        trial = Trial.of(examples, model._recipe(examples), 5, all_rounds=False)
        assert trial is not None
        assert abs(trial.learned.n_rows + trial.held.n_rows - share * rows) <= 2
        assert abs(trial.held.n_rows - 0.2 * share * rows) <= 2
        assert trial.learned.numbers is not None
        assert trial.held.numbers is not None
        assert not set(trial.learned.numbers.tolist()) & set(trial.held.numbers.tolist())


@pytest.mark.parametrize(
    ("rows", "few", "many"), [(500, 1.0, 1.0), (8_750, 0.5, 1.0), (11_000, 0.2, 0.4)]
)
def test_how_far_a_trial_moves_the_slope(rows: int, few: float, many: float) -> None:
    X, y = world(rows)
    signs, labels = signs_of(y, 2)
    examples = LabelledRows(ArrayTable(X), signs, None, labels)
    model = BoostClassifier()
    model.classes_ = np.arange(2)
    for all_rounds, expected in ((False, few), (True, many)):
        trial = Trial.of(examples, model._recipe(examples), 5, all_rounds=all_rounds)
        assert trial is not None
        assert trial.trusted == pytest.approx(expected)


@pytest.mark.parametrize(("rows", "classes", "l2"), [(500, 2, 3.0), (500, 3, 3.0), (500, 4, 1.0)])
def test_few_classes_have_a_stronger_regularisation(rows: int, classes: int, l2: float) -> None:
    X, y = world(rows, classes)
    model = BoostClassifier(random_state=0)
    recipe = model._recipe(model._read_rows(certifying.divide(model, X, y, None, 0), None)[0])
    assert isinstance(recipe.booster, Logit)
    assert recipe.booster.l2 == l2
    asked: Any = {"texts": None, "rounds": None, "several_labels": False, "common": {}}
    chosen = choose(rows=rows, classes=classes, weighted=False, **asked)
    assert chosen.make().l2 == l2
    weighted = choose(rows=rows, classes=classes, weighted=True, **asked)
    assert weighted.make().l2 is None


def test_certifying_rows_have_no_say() -> None:
    """Other labels of the rows that certify change the certificate, and nothing else."""
    X, y = world(400)
    model = BoostClassifier(certify="holdout", random_state=0).fit(X, y)
    learned = divide(model, X, y, None, draw_seed(0)).rows
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
    X, y = world(200)
    seen: list[int] = []
    model = BoostClassifier(random_state=0, callbacks=[lambda entry: seen.append(entry.number)])
    model.fit(X, y)
    assert seen == list(range(1, 301)) == [entry.number for entry in model.ledger_.rounds]
