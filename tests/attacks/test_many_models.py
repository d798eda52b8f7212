"""Twenty models are tried on the same rows and the best is kept: ``models=20`` pays for it.

Labels are coins, scores are uniform, and every model has a column of its own, so all is known.
"""

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import pacboost
from pacboost.errors import NotCertified, ParameterError
from pacboost.questions.answering import certify_answers
from tests.attacks.worlds import coins
from tests.bounds.coverage import check_coverage, check_rejected
from tests.cli.running import answer, people, well, write_csv
from tests.runs import RUNS

MODELS = 20


class Column:
    """A classifier and a regressor whose score is a column of the rows."""

    classes_ = np.arange(2)

    def __init__(self, number: int) -> None:
        self.number = number

    def predict_proba(self, X: Any) -> Any:
        return np.column_stack([1 - X[:, self.number], X[:, self.number]])

    def predict(self, X: Any) -> Any:
        return (X[:, self.number] > 0.5).astype(int)


class Number:
    def __init__(self, number: int) -> None:
        self.number = number

    def predict(self, X: Any) -> Any:
        return norm.ppf(X[:, self.number])


def sets(X: Any, y: Any, **models: Any) -> bool:
    """The coverage of these sets is their cutoff: one label is in all, the other from there on."""
    found = [pacboost.sets(Column(j), X, y, coverage=0.8, **models) for j in range(MODELS)]
    return bool(min(own.cutoffs_[0] for own in found) < 0.8)


def intervals(X: Any, y: Any, **models: Any) -> bool:
    numbers = norm.ppf(X[:, -1])
    found = [
        pacboost.intervals(Number(j), X, numbers, coverage=0.8, **models) for j in range(MODELS)
    ]
    return bool(2 * norm.cdf(min(own.cutoff_ for own in found) / 2**0.5) - 1 < 0.8)


def recall(X: Any, y: Any, **models: Any) -> bool:
    found = [
        pacboost.choose_threshold(Column(j), X, y, recall=0.8, **models) for j in range(MODELS)
    ]
    return bool(max(own.threshold_ for own in found) > 0.2)


def precision(X: Any, y: Any, **models: Any) -> bool:
    return _certified(pacboost.choose_threshold, X, y, precision=0.501, **models)


def target_error(X: Any, y: Any, **models: Any) -> bool:
    return _certified(pacboost.choose_threshold, X, y, target_error=0.499, **models)


def answers(X: Any, y: Any, **models: Any) -> bool:
    found = [certify_answers(Column(j), X, y, abstain_below=0.6, **models) for j in range(MODELS)]
    return min(own.error for own in found) < 0.5


def compared(X: Any, y: Any, **models: Any) -> bool:
    found = [
        pacboost.compare_models(Column(i), Column(j), X, y, **models)
        for j in range(MODELS) for i in range(0, j, 4)
    ]  # fmt: skip
    return any(own.significant or not own.interval[0] <= 0 <= own.interval[1] for own in found)


def _certified(question: Callable[..., Any], X: Any, y: Any, **options: Any) -> bool:
    false = False
    for j in range(MODELS):
        try:
            question(Column(j), X, y, **options).certificate_  # noqa: B018
        except NotCertified:
            continue
        false = True
    return false


WAYS = [sets, intervals, recall, precision, target_error, answers, compared]


def false_claims(way: Callable[..., bool], runs: int, **models: Any) -> int:
    false = 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        X, y = generator.random((300, MODELS + 1)), generator.integers(2, size=300)
        false += way(X, y, **models)
    return false


@pytest.mark.parametrize("way", [intervals, recall, answers], ids=lambda way: way.__name__)
def test_the_best_of_many_models_holds_if_all_are_paid_for(way: Callable[..., bool]) -> None:
    for question in (
        pacboost.sets, pacboost.intervals, pacboost.choose_threshold, certify_answers,
        pacboost.compare_models,
    ):  # fmt: skip
        assert "models" in inspect.signature(question).parameters
    check_coverage(f"{way.__name__}, best of 20", false_claims(way, 4, models=MODELS), 4, 0.05)


@pytest.mark.slow
@pytest.mark.world
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_the_best_of_many_models_holds_in_many_runs(way: Callable[..., bool]) -> None:
    runs = RUNS or 200
    false = false_claims(way, runs, models=MODELS)
    check_coverage(f"{way.__name__}, best of 20, long", false, runs, 0.05)
    check_rejected(f"{way.__name__}, best of 20, one paid for", false_claims(way, 100), 100, 0.05)


def test_the_best_of_many_models_is_rejected_if_one_is_paid_for() -> None:
    check_rejected("recall, best of 20, one paid for", false_claims(recall, 8), 8, 0.05)


@pytest.mark.parametrize("models", [0, 1.5, True])
def test_what_is_no_number_of_models_is_refused(models: Any) -> None:
    generator = np.random.default_rng(0)
    X, y = generator.random((300, MODELS + 1)), generator.integers(2, size=300)
    for way in WAYS:
        with pytest.raises(ParameterError, match="models"):
            way(X, y, models=models)


def test_files_know_for_how_many_models_was_paid(tmp_path: Path) -> None:
    fresh = write_csv(tmp_path / "fresh.csv", people(900, 1))
    old, model = write_csv(tmp_path / "old.csv", people(900, 0)), tmp_path / "m.pacb"
    how = ("--booster", "logit", "--learner", "stump", "--rounds", "10")
    well("fit", old, "--target", "label", "--output", model, *how)
    wishes = (("--recall", 0.8), ("--precision", 0.8), ("--cost", "1,1"), ("--target-error", 0.2))
    thresholds = [("threshold", *wish) for wish in wishes]
    for command, *wish in (("sets", "--coverage", 0.8), *thresholds):
        asked = (command, model, fresh, "--target", "label", *wish)
        alone = answer(*asked)
        paid = answer(*asked, "--models", 20, "--output", tmp_path / "new.pacb")
        assert paid != alone
        well("verify", tmp_path / "new.pacb")
    asked = ("certify", model, fresh, "--target", "label", "--abstain-below", 0.6)
    alone, paid = answer(*asked), answer(*asked, "--models", 20)
    assert paid["certificate"]["value"] > alone["certificate"]["value"]
    assert paid["answering"]["models"] == 20


# What is certified of answers and sets belongs to one vote: another vote has none of it.


def test_a_compressed_vote_drops_what_was_certified_of_answers(tmp_path: Path) -> None:
    X, y = coins(0, 300)
    model = pacboost.AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    known = certify_answers(model, *coins(1, 300))
    covered = pacboost.sets(model, *coins(1, 300), coverage=0.7)
    model.model_ = replace(covered.estimator_.model_, answering=known)
    small = pacboost.theory.compress(model, X, y)
    with pytest.raises(NotCertified, match="certify='holdout'"):
        pacboost.choose_threshold(small, target_error=0.4)
    with pytest.raises(NotCertified, match="holds no sets"):
        pacboost.sets(small)
    small.save(tmp_path / "model.pacb")
    loaded = pacboost.load(tmp_path / "model.pacb").model_
    assert loaded.answering is None
    assert loaded.coverage is None
