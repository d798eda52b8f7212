"""Claims that said more than is proved: each world has a known truth that the old claim missed."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, TargetEncoder, scale

from pacboost import (
    AdaBoostClassifier,
    BoostClassifier,
    Monitor,
    StrongClassifier,
    answers,
    certify,
    certify_all,
    choose_threshold,
    intervals,
    measures,
    sets,
    shift,
    verify,
)
from pacboost.bounds.wording import NOT_LATER, UNMOVED_PAIRS, affected
from pacboost.errors import InputWarning, NotCertified, ParameterError
from tests.attacks.worlds import coins
from tests.bounds.coverage import check_coverage, check_rejected
from tests.runs import several_runs

Labels = NDArray[np.int64]


def abstaining(seed: int, rows: int = 400) -> tuple[NDArray[Any], Labels]:
    """Class 1 is answered in one of nine cases and wrong in 40 %; class 0 always, wrong in 5 %."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(2, size=rows)
    wrong = generator.random(rows) < np.where(truth == 1, 0.4, 0.05)
    said = np.where(wrong, 1 - truth, truth).astype(np.float64)
    said[(truth == 1) & (generator.random(rows) > 1 / 9)] = np.nan
    return said, truth


@several_runs(40, 100)
def test_shares_among_all_examples_are_not_those_among_answered_ones(runs: int) -> None:
    """With half of each class the answered err on 8.5 %, not on (5 % + 40 %)/2 or less."""
    said, truth = abstaining(0)
    with pytest.raises(NotCertified, match="missing='wrong'"):
        certify(answers(said), y=truth, shift=shift.shares({0: 0.9, 1: 0.1}))
    every = [
        certify(answers(abstaining(seed)[0]), y=abstaining(seed)[1], shift=shift.shares("any"))
        for seed in range(runs)
    ]
    check_coverage("any shares among answered", sum(c.value < 0.4 for c in every), runs, 0.05)
    assert "among answered examples" in every[0].claim
    assert verify(every[0])[0].holds


def test_a_move_is_one_of_the_examples_that_the_claim_speaks_of() -> None:
    said, truth = abstaining(1)
    by = np.where(np.arange(truth.size) < 380, "many", "few")
    plain = certify(answers(truth), y=truth)
    answered = certify(answers(said), y=truth)
    one, groups = certify_all(answers(truth), y=truth, by=by), np.arange(truth.size) // 2
    dependent = certify(answers(truth), y=truth, groups=groups)
    moving = [plain, answered, one.worst, dependent]
    names = ["new examples", "answered examples", "new examples of this group", "new groups"]
    assert list(map(affected, moving)) == names
    for certificate, name in zip(moving, names, strict=True):
        moved = certificate.under(contamination=0.05)
        assert certificate.holds_until(0.9).who == name
        assert name == "new examples" or f"of {name} are unlike the certified rows" in moved.claim
        assert verify(moved)[0].holds


def without_rare(seed: int) -> tuple[Labels, Labels]:
    """A class of 1 % is always wrong, and absent in 37 % of samples of 100."""
    truth = np.random.default_rng(seed).choice(3, size=100, p=[0.5, 0.49, 0.01])
    return np.where(truth == 2, 0, truth), truth


@several_runs(100, 200)
def test_classes_that_do_not_occur_are_not_spoken_of(runs: int) -> None:
    unnamed = named = 0
    for seed in range(runs):
        said, truth = without_rare(seed)
        if 2 in truth:  # refused, or certified with all three classes
            continue
        found = certify(answers(said), y=truth, shift=shift.shares("any"))
        unnamed += found.value < 1  # the truth if all new examples are of the rare class
        named += found.value < 1 and "'2'" in found.claim
        assert "classes '0' and '1'" in found.claim
        options: list[dict[str, Any]] = [{"shift": shift.shares("any")}, {"of": "balanced_error"}]
        for option in options:
            with pytest.raises(NotCertified, match="class"):
                certify(answers(said, classes=[0, 1, 2]), y=truth, **option)
    check_rejected("twin: any shares of all classes, some unseen", unnamed, runs, 0.05)
    check_coverage("any shares of the classes named", named, runs, 0.05)


def test_a_gap_and_a_mean_name_what_they_compare() -> None:
    _, truth = abstaining(2)
    by = np.where(np.arange(truth.size) % 2, "odd", "even")
    gap = certify_all(answers(truth), y=truth, by=by, end="both").gap
    assert gap.details["groups"] == ["even", "odd"]
    assert "groups 'even' and 'odd'" in gap.claim
    balanced = certify(answers(truth), y=truth, of="balanced_error")
    assert "of the classes '0' and '1'" in balanced.claim
    assert all(check.holds for check in [*verify(gap), *verify(balanced)])


QUESTIONS: list[Any] = [
    partial(certify, of="recall"),
    partial(choose_threshold, recall=0.8),
    partial(sets, coverage=0.8),
    certify,
    partial(choose_threshold, target_error=0.3),
]


class Sign:
    """The sign of the first column."""

    classes_ = np.array([0, 1])

    def predict(self, X: Any) -> Labels:
        return (np.asarray(X)[:, 0] > 0).astype(np.int64)


class Threshold(BaseEstimator, ClassifierMixin):  # type: ignore[misc]
    """A rule that was fixed beforehand."""

    classes_ = np.array([0, 1])

    def predict(self, X: Any) -> Labels:
        return (np.asarray(X)[:, 0] > 0.5).astype(np.int64)


def test_a_shift_that_was_not_found_is_a_condition() -> None:
    """Labels are coins in the new world and certain in the old one: no rows show that."""
    X = np.random.default_rng(3).random((600, 1))
    new = np.random.default_rng(4).random((600, 1))
    found = certify(Threshold(), X, Threshold().predict(X), shift=shift.new_rows(new))
    assert found.value < 0.5
    assert float(found.details[UNMOVED_PAIRS]) > 50
    assert "has not moved" in found.claim
    assert verify(found)[0].holds


def test_no_drift_among_no_rows_is_a_condition() -> None:
    (X, y), reference = coins(7, 300), coins(8, 300)[0]
    found = Monitor(Threshold(), error=0.5, reference=reference).now(X, y)
    assert "has not moved (0 pairs show nothing)" in found.claim


def test_predictions_that_depend_on_the_batch_are_refused() -> None:
    generator = np.random.default_rng(5)
    X = generator.normal(size=(600, 2)) + 3
    y = (X[:, 0] > 3).astype(int)
    for step, depends in ((FunctionTransformer(scale), True), (StandardScaler(), False)):
        model = make_pipeline(step, LogisticRegression()).fit(X[:300], y[:300])
        alone = np.concatenate([model.predict(row[None]) for row in X[300:]])
        assert bool((alone != y[300:]).mean() > 0.3) is depends
        if depends:
            for question in QUESTIONS:
                with pytest.raises(NotCertified, match="alone"):
                    question(model, X[300:], y[300:])
        else:
            assert certify(model, X[300:], y[300:]).value < 0.1
            assert QUESTIONS[1](model, X[300:], y[300:]).certificate_.value >= 0.8


class Spread(Threshold):
    """Its predictions are those of each row alone, its probabilities are scaled by the batch."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        shares = np.clip(0.5 + 0.1 * scale(np.asarray(X)[:, 0]), 0, 1)
        return np.column_stack([1 - shares, shares])


def test_probabilities_that_depend_on_the_batch_are_refused() -> None:
    X, y = coins(9, 400)
    for question in QUESTIONS[:3]:
        with pytest.raises(NotCertified, match="predict_proba"):
            question(Spread(), X, y)


def test_numbers_that_depend_on_the_batch_have_no_interval() -> None:
    X = np.random.default_rng(5).normal(size=(600, 2))
    model = make_pipeline(FunctionTransformer(scale), LinearRegression()).fit(X[:300], X[:300, 0])
    with pytest.raises(NotCertified, match="alone"):
        intervals(model, X[300:], X[300:, 0])


def drifting(rows: int = 4000) -> tuple[NDArray[np.float64], Labels]:
    """The label is the sign of a column for the first 70 % of all rows, and then its opposite."""
    generator = np.random.default_rng(8)
    X = np.column_stack([generator.normal(size=(rows, 2)), np.arange(rows) // 4])
    early = np.arange(rows) < 0.7 * rows
    return X, ((X[:, 0] > 0) == early).astype(np.int64)


def test_rows_with_times_say_nothing_of_later_ones() -> None:
    X, y = drifting()
    early, late = slice(0, 2800), slice(2800, 4000)
    options: dict[str, Any] = {"n_estimators": 20, "random_state": 0, "n_jobs": 1}
    boost = BoostClassifier(certify="holdout", **options).fit(X[early], y[early])
    strong = StrongClassifier(**options).fit(X[early], y[early])
    for model in (boost, strong):
        assert model.certificate_.value < 0.05
        assert (model.predict(X[late]) != y[late]).mean() > 0.9
        assert NOT_LATER in model.certificate_.claim
        assert verify(model.certificate_)[0].holds
    assert NOT_LATER in str(strong.sentence_)
    stamped = pd.DataFrame(X[early, :2]).assign(day=pd.to_datetime("2024-02-29"))
    for rows, told in ((X[early], True), (stamped, True), (X[early, :2], False)):
        found = certify(Sign(), rows, y[early])
        assert (NOT_LATER in found.claim) is told
        assert (NOT_LATER in certify_all(Sign(), rows, y[early]).note) is told
    assert NOT_LATER not in certify(Sign(), X[early], y[early], ordered=True).claim


def test_a_training_error_far_above_the_bound_is_warned_of() -> None:
    """Labels are coins, and rows that certify are only those that come out right."""
    X, y = coins(10, 600)
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    new, _ = coins(11, 300)
    with pytest.warns(InputWarning, match="unlike the training rows"):
        assert certify(model, new, model.predict(new)).value < 0.02
    certify(model, *coins(12, 300))


class Rounding(BaseEstimator, ClassifierMixin):  # type: ignore[misc]
    """A wrapper of another library, which hands on other rows than it gets."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def predict(self, X: Any) -> Any:
        return self.estimator.predict(np.round(X, 2))


@pytest.mark.parametrize("wrapped", ["encoder", "search", "wrapper", "scaler"])
def test_training_rows_that_arrive_changed_are_not_taken_for_new(wrapped: str) -> None:
    X, y = coins(6, 400)
    boost = BoostClassifier(n_estimators=20, n_jobs=1)
    step = StandardScaler() if wrapped == "scaler" else TargetEncoder(target_type="binary")
    model: Any = make_pipeline(step, boost)
    if wrapped == "search":
        model = GridSearchCV(model, {"boostclassifier__max_depth": [2]}, cv=2)
    if wrapped == "wrapper":
        model = Rounding(boost.fit(np.round(X, 2), y))
    else:
        model.fit(np.round(X, 1), y)
        X = np.round(X, 1)
    if wrapped == "scaler":
        with pytest.raises(NotCertified, match="trained on"):
            certify(model, X, y)
        return
    found = certify(model, X, y)
    assert not found.rows_checked
    assert found.claim.startswith("If these rows are new")


def test_matrices_of_costs_are_no_list_of_measures() -> None:
    costs: Any = [[[0, 1], [5, 0]], [[0, 9], [9, 0]]]
    arrays: Any = [np.array(matrix) for matrix in costs]
    for several in (costs, arrays):
        with pytest.raises(ParameterError):
            certify(Threshold(), *coins(9, 200), of=several)


def test_no_answer_counts_against_negatives() -> None:
    truth = np.array(["bad", "ok"] * 100)
    said = [None if k % 20 < 18 else label for k, label in enumerate(truth)]
    found = certify(answers(said, missing="wrong"), y=truth, of=measures.false_positive_rate("bad"))
    assert found.inputs["k"] == 90
