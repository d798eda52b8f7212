"""What StrongClassifier certifies holds on worlds with known risk; its broken twins fail."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pacboost import BoostClassifier
from pacboost.bounds import holdout
from pacboost.estimators.strong import dividing, learning
from pacboost.estimators.strong.classifier import StrongClassifier
from pacboost.estimators.strong.dividing import Promise
from pacboost.fit.roles import Roles
from pacboost.theory import plan
from pacboost.theory.finite_worlds import BooleanConcept
from pacboost.theory.worlds import LabelNoise
from tests.bounds.coverage import check_coverage, check_rejected

CLEAN = BooleanConcept(6, lambda X: X[:, :3].sum(axis=1) >= 2)
WORLD = LabelNoise(CLEAN, 0.1)
"""A majority of three bits among six, one label in ten flipped: every risk is a count."""


def fitted(
    seed: int, epsilon: float | None, delta: float, rows: int = 200, rounds: int = 4
) -> tuple[StrongClassifier, float]:
    """Fit on a draw, and give the true risk; ties are wrong there and in the certificate."""
    X, y = WORLD.draw(rows, seed)
    model = StrongClassifier(epsilon, delta, n_estimators=rounds, random_state=seed, n_jobs=1)
    model.fit(X, y)
    return model, float(WORLD.risk(model.decision_function))


def count(
    epsilon: float | None, delta: float, runs: int, rows: int, rounds: int
) -> tuple[int, int, int]:
    """Count violations, runs with two looks, and runs in which epsilon was reached."""
    violations = looked_twice = reached = 0
    for seed in range(runs):
        model, risk = fitted(seed, epsilon, delta, rows, rounds)
        violations += model.certificate_.value < risk
        looked_twice += model.certificate_.inputs["models"] == 2
        reached += bool(model.verdict_.reached)
    return violations, looked_twice, reached


def test_certificates_cover_with_one_look_and_with_two() -> None:
    runs, delta = 25, 0.2
    violations, looked_twice, reached = count(0.2, delta, runs, 200, 4)
    check_coverage("strong classifier, epsilon 0.2", violations, runs, delta)
    assert 0 < looked_twice < runs
    assert 0 < reached < runs


def coin(seed: int, rows: int) -> tuple[Any, Any]:
    """Labels by the toss of a coin: whatever is learned, its risk is 1/2."""
    generator = np.random.default_rng(seed)
    return generator.normal(size=(rows, 3)), generator.integers(2, size=rows)


def test_stopping_early_on_the_certifying_rows_is_rejected() -> None:
    """The twin keeps the round that errs least on them, as early stopping does."""
    runs, delta, apart, violations = 30, 0.2, 100, 0
    for seed in range(runs):
        X, y = coin(seed, 100 + apart)
        twin = BoostClassifier(
            n_estimators=40, learning_rate=1.0, max_leaves=4, eval_metric="error",
            early_stopping=40, n_jobs=1, random_state=0,
        )  # fmt: skip
        twin.fit(X[:100], y[:100], X_val=X[100:], y_val=y[100:])
        wrong = int(twin.mistakes(X[100:], y[100:]).sum())
        violations += holdout.certificate(wrong, apart, delta).value < 0.5
    check_rejected("strong classifier, early stopping on certifying rows", violations, runs, delta)


def test_watching_by_the_certifying_rows_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The certifying rows of the twin are those that watch."""

    def both(*given: Any, **named: Any) -> tuple[Roles, Promise, str]:
        roles, promise, why = dividing.set_apart(*given, **named)
        certify = roles.certify
        return replace(roles, learn=roles.known, validate=certify), promise, why

    monkeypatch.setattr(learning, "set_apart", both)
    runs, delta, violations = 30, 0.2, 0
    for seed in range(runs):
        model = StrongClassifier(delta=delta, n_estimators=30, random_state=seed, n_jobs=1)
        violations += model.fit(*coin(seed, 200)).certificate_.value < 0.5
    check_rejected("strong classifier, certifying rows watch", violations, runs, delta)


def test_a_second_look_has_to_be_paid_for() -> None:
    """Of two classifiers of equal risk the better looking one is kept, at delta/2 each."""
    generator = np.random.default_rng(0)
    runs, rows, delta, risk = 4000, 200, 0.1, 0.1
    mistakes = generator.binomial(rows, risk, size=(runs, 2)).min(axis=1)
    for looks, check in ((2, check_coverage), (1, check_rejected)):
        bounds = {k: holdout.clopper_pearson(int(k), rows, delta, looks) for k in set(mistakes)}
        violations = sum(bounds[k] < risk for k in mistakes)
        check(f"the better of two looks, each at delta/{looks}", violations, runs, delta)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.03, 0.05), (0.04, 0.01)])
def test_epsilon_is_reached_where_the_planner_says_so(epsilon: float, delta: float) -> None:
    """Rows for a certificate at an error of epsilon/2, and a concept that is learned exactly."""
    needed = plan.holdout(epsilon=epsilon, delta=delta / 2, error=epsilon / 2).examples
    assert needed is not None
    apart = holdout.examples_for(holdout.clopper_pearson, epsilon, delta / 2, epsilon / 2)
    rows = 5 * needed
    for seed in range(3):
        X, y = CLEAN.draw(rows, seed)
        model = StrongClassifier(epsilon, delta, random_state=seed, n_jobs=1).fit(X, y)
        assert model.verdict_.reached
        assert model.parts_["certify"] == apart <= needed
        assert CLEAN.risk(model.decision_function) <= epsilon
