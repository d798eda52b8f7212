"""Comparisons: intervals that hold together, sign tests, and a record of everything."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

from pacboost import AdaBoostClassifier
from pacboost.bounds.holdout import clopper_pearson
from pacboost.numerics.soft_margin import soft_margin
from pacboost.questions.compare import Labelled, Wrong, measure, sign_test, surely_worse
from tests.bounds.coverage import check_coverage, check_rejected
from tests.worlds import noisy


def test_a_vote_is_measured_by_hand() -> None:
    X, y = noisy(300, 3, seed=1)
    model = AdaBoostClassifier(n_estimators=9).fit(X[:200], y[:200])
    training, test = Labelled(X[:200], y[:200]), Labelled(X[200:], y[200:])
    entry, wrong = measure("mine", model, training, test, share=0.1, delta=0.05, boosters=4)
    assert wrong is not None
    margins = model.margins(X[:200], y[:200])
    assert entry.rounds == 9
    assert entry.stopped == "all 9 rounds are done"
    assert entry.training_error == (model.predict(X[:200]) != y[:200]).mean()
    assert entry.bound == model.certificate_.value
    assert entry.least_margin == margins.min()
    assert entry.soft_margin == pytest.approx(np.sort(margins)[:20].mean())
    assert entry.soft_margin == soft_margin(margins[:, None], np.ones(1), 0.1)
    assert entry.median_margin == np.median(margins)
    assert entry.test_error == wrong.mean() == (model.predict(X[200:]) != y[200:]).mean()
    interval = binomtest(int(wrong.sum()), 100).proportion_ci(1 - 0.05 / 4, "exact")
    assert (entry.lower, entry.upper) == pytest.approx((interval.low, interval.high), rel=1e-6)
    assert entry.model is model


def test_any_classifier_is_measured() -> None:
    X, y = noisy(100, 3, seed=1)
    model = KNeighborsClassifier(3).fit(X, y)
    entry, wrong = measure("knn", model, Labelled(X, y), None, share=0.1, delta=0.05, boosters=1)
    assert wrong is None
    assert entry.training_error == (model.predict(X) != y).mean()
    assert entry.rounds is entry.bound is entry.least_margin is entry.test_error is None


def test_why_no_bound_applies_is_noted() -> None:
    X, _ = noisy(100, 3, seed=1)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = AdaBoostClassifier(n_estimators=5, multiclass="samme").fit(X, y)
    entry, _ = measure("samme", model, Labelled(X, y), None, share=0.1, delta=0.05, boosters=1)
    assert entry.bound is None
    assert "SAMME" in entry.notes[0]


def coins(rate: float, count: int, generator: np.random.Generator) -> Wrong:
    return generator.random(count) < rate


def test_intervals_of_five_boosters_hold_together() -> None:
    """Each true error is known; the twin gives every booster the whole delta."""
    runs, delta, boosters, rate, n = 400, 0.2, 5, 0.2, 60
    missed = twin = 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        outside = outside_twin = False
        for _ in range(boosters):
            X = np.zeros((n, 1))
            y = coins(rate, n, generator).astype(int)  # whoever says 0 errs with this rate
            model = DummyClassifier(strategy="constant", constant=0).fit([[0], [0]], [0, 1])
            rows = Labelled(X, y)
            entry, wrong = measure(
                "zero", model, rows, rows, share=0.1, delta=delta, boosters=boosters
            )
            assert wrong is not None
            assert entry.lower is not None
            assert entry.upper is not None
            outside |= not entry.lower <= rate <= entry.upper
            k = int(wrong.sum())
            outside_twin |= clopper_pearson(k, n, delta) < rate
        missed += outside
        twin += outside_twin
    check_coverage("compare, five intervals together", missed, runs, delta)
    check_rejected("twin: the whole delta for each of five", twin, runs, delta)


def test_sign_test_is_the_exact_one() -> None:
    generator = np.random.default_rng(0)
    for _ in range(20):
        one, other = coins(0.3, 80, generator), coins(0.4, 80, generator)
        more, fewer = int((one & ~other).sum()), int((other & ~one).sum())
        expected = binomtest(fewer, fewer + more).pvalue
        assert sign_test(one, other) == pytest.approx(expected)
        assert sign_test(one, other) == sign_test(other, one)


def test_equals_are_seldom_called_worse() -> None:
    """Four classifiers that are equally good; the twin tests each pair as if it were the only."""
    runs, delta = 600, 0.2
    called = twin = 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        wrong = {name: coins(0.3, 150, generator) for name in "abcd"}
        called += any(surely_worse(wrong, delta).values())
        best = min(wrong.values(), key=lambda own: int(own.sum()))
        twin += any(sign_test(best, own) < delta for own in wrong.values())
    check_coverage("compare, equals called worse", called, runs, delta)
    check_rejected("twin: pairs that do not share delta", twin, runs, delta)


def test_sign_tests_tell_more_apart_than_intervals() -> None:
    """One is wrong wherever the other is, and on 12 rows more."""
    one, other = np.arange(200) < 30, np.arange(200) < 42
    assert surely_worse({"one": one, "other": other}, 0.05) == {"one": False, "other": True}
    assert clopper_pearson(30, 200, 0.025, 2) > 42 / 200
    assert surely_worse({}, 0.05) == {}
    assert surely_worse({"one": one}, 0.05) == {"one": False}
