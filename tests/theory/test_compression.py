"""Sample compression: vectors, shape, coverage on noise and at the edge, and twins."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

import pacboost
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.occam import vote_bound
from pacboost.errors import NotCertified, ParameterError
from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.hypotheses.stump import StumpRule
from pacboost.sources.arrays import ArrayTable
from pacboost.theory.compression import _moved, compression_bound
from tests.bounds.coverage import check_coverage, check_rejected


@pytest.mark.parametrize(
    ("points", "k", "value"),
    [(4, 0, 0.0339005), (10, 0, 0.0624416), (50, 0, 0.194577), (10, 50, 0.164632)],
)
def test_vectors(points: int, k: int, value: float) -> None:
    assert compression_bound(k, 1000, 0.05, points) == pytest.approx(value, abs=5e-7)


def test_closed_form_without_mistakes() -> None:
    ways = 1000 * math.comb(1000, 4)
    exact = 1 - (0.05 / ways) ** (1 / 996)
    assert compression_bound(0, 1000, 0.05, 4) == pytest.approx(exact, rel=1e-9)


def best_interval_mistakes(signs: NDArray[np.int64]) -> int:
    """The fewest mistakes, off its two ends, of an interval that ends on examples.

    Ends i ≤ j are kept; inside is +, outside −. All pairs at once from prefix sums.
    """
    n = len(signs)
    positives = np.concatenate(([0], np.cumsum(signs > 0)))
    i, j = np.triu_indices(n, 1)
    inside = positives[j + 1] - positives[i]
    wrong = (j - i + 1 - inside) + (positives[-1] - inside)
    ends = (signs[i] < 0).astype(int) + (signs[j] < 0)  # kept examples inside, wrong if negative
    return int((wrong - ends).min())


def test_coverage_on_noise() -> None:
    """Coin-flip labels on a line: the best interval between two examples has risk 1/2."""
    generator = np.random.default_rng(1)
    runs, n = 600, 150
    violations = twin = 0
    for _ in range(runs):
        k = best_interval_mistakes(generator.choice([-1, 1], size=n))
        violations += compression_bound(k, n, 0.05, 2) < 0.5
        twin += clopper_pearson(k, n - 2, 0.05) < 0.5
    check_coverage("compression.compression_bound, noise", violations, runs, 0.05)
    check_rejected("twin: compression, choices dropped", twin, runs, 0.05)


def test_coverage_at_the_edge() -> None:
    """The tightest interval of a uniform law is made by its two ends."""
    runs, n = 5000, 100
    points = np.random.default_rng(2).random((runs, n))
    risks = 1 - (points.max(axis=1) - points.min(axis=1))
    bound = compression_bound(0, n, 0.05, 2)
    check_coverage("compression.compression_bound, intervals", (risks > bound).sum(), runs, 0.05)
    twin = clopper_pearson(0, n - 2, 0.05)
    check_rejected("twin: compression at the edge", (risks > twin).sum(), runs, 0.05)


def test_refuses() -> None:
    with pytest.raises(NotCertified, match="none is left"):
        compression_bound(0, 10, 0.05, 10)
    with pytest.raises(ParameterError, match="k is 8"):
        compression_bound(8, 10, 0.05, 3)
    for points, bits in ((-1, 0.0), (3, -1.0), (3, math.inf), (3, True)):
        with pytest.raises(ParameterError, match="points" if points < 0 else "bits"):
            compression_bound(0, 10, 0.05, points, bits)


def some_rows(seed: int, missing: bool = False) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(400, 5)).round(1)
    y = (X[:, 0] + X[:, 1] + 0.3 * generator.normal(size=400) > 0).astype(np.int64)
    if missing:
        X[generator.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.mark.parametrize("missing", [False, True])
def test_the_vote_is_built_again_from_kept_rows_and_message(missing: bool) -> None:
    X, y = some_rows(0, missing=missing)
    model = AdaBoostClassifier(n_estimators=30).fit(X, y)
    small = pacboost.theory.compress(model, X, y)
    values = X[small.kept_rows_].astype(np.float32)
    for rule in small.estimators_:
        assert isinstance(rule, StumpRule)
        if np.isfinite(rule.threshold):
            assert np.float32(rule.threshold) in values[:, rule.feature]
    inputs: dict[str, Any] = dict(small.certificate_.inputs)
    assert (small.votes_ == np.rint(small.votes_)).all()
    assert small.votes_.max() <= 2 ** (inputs["bits"] - 1)
    assert inputs["rules"] == len(small.votes_) >= len(small.kept_rows_) == 400 - inputs["rest"]
    others = np.setdiff1d(np.arange(400), small.kept_rows_)
    margins = small.decision_function(X) * np.where(y > 0, 1, -1)
    assert inputs["mistakes"] == int((margins[others] <= 0).sum())
    assert small.certificate_.value == vote_bound(**inputs)
    assert not small.certificate_.vacuous


def test_moved_thresholds_answer_the_given_rows_as_before() -> None:
    X, y = some_rows(1)
    model = AdaBoostClassifier(n_estimators=1).fit(X, y)
    small = pacboost.theory.compress(model, X, y)
    assert (small.predict(X) == model.predict(X)).all()
    assert small.estimators_[0].threshold in X[:, small.estimators_[0].feature].astype(np.float32)
    assert small.estimators_[0].threshold <= model.estimators_[0].threshold
    assert small.kept_rows_.size == 1


def test_real_rows() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    small = pacboost.theory.compress(AdaBoostClassifier(n_estimators=20).fit(X, y), X, y)
    assert 0 < small.certificate_.value < 0.4
    assert (small.predict(X) == y).mean() > 0.9
    assert small.kept_rows_.size < 20


def test_saved_loaded_and_verified(tmp_path: Path) -> None:
    X, y = some_rows(5, missing=True)
    small = pacboost.theory.compress(AdaBoostClassifier(n_estimators=10).fit(X, y), X, y)
    small.save(tmp_path / "small.pacb")
    loaded = pacboost.load(tmp_path / "small.pacb")
    assert (loaded.decision_function(X) == small.decision_function(X)).all()
    assert loaded.certificate_ == small.certificate_
    assert all(check.holds for check in pacboost.verify(tmp_path / "small.pacb"))


@pytest.mark.parametrize(
    ("learner", "classes", "reason"),
    [("tree", 2, "stumps"), ("words", 2, "stumps"), ("stump", 4, "two classes")],
)
def test_what_cannot_be_compressed_is_refused(learner: str, classes: int, reason: str) -> None:
    X, y = some_rows(3)
    labels = y + 2 * (X[:, 2] > 0) if classes > 2 else y
    model = BoostClassifier("logit", learner, n_estimators=5).fit(X, labels)
    with pytest.raises(NotCertified, match=reason):
        pacboost.theory.compress(model, X, labels)


def test_on_noise_the_bound_holds_and_the_twin_that_pays_nothing_fails() -> None:
    """Labels are coins, so whatever is found errs on half of the new examples."""
    n_certified, free = 0, 0
    for trial in range(12):
        generator = np.random.default_rng(trial)
        X, y = generator.normal(size=(120, 20)), generator.integers(0, 2, 120)
        model = AdaBoostClassifier(n_estimators=5).fit(X, y)
        small = pacboost.theory.compress(model, X, y, delta=0.1)
        inputs: dict[str, Any] = dict(small.certificate_.inputs)
        n_certified += small.certificate_.value < 0.5
        free += clopper_pearson(inputs["mistakes"], inputs["rest"], 0.1) < 0.5
    check_coverage("compression.vote_bound on noise", n_certified, 12, 0.1)
    check_rejected("compression.vote_bound without its prior", free, 12, 0.1)


def test_rules_that_become_equal_are_one() -> None:
    """Else a set of rules would be priced that is none."""
    table = ArrayTable(np.array([[0.0], [1.0], [2.0]]))
    rules = [StumpRule(0, threshold, cut, 1, -1) for cut, threshold in enumerate([1.25, 1.5, 0.5])]
    moved, votes, rows = _moved(rules, np.array([0.5, 0.25, 1.0]), table)
    assert [rule.threshold for rule in moved] == [1.0, 0.0]
    assert votes.tolist() == [0.75, 1.0]
    assert rows.tolist() == [1, 0]
