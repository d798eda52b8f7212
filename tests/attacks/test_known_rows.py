"""Training rows, or copies of them, among the rows that certify: too few to refuse, or unseen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import pacboost
from pacboost import AdaBoostClassifier, certify
from pacboost.bounds.holdout import clopper_pearson
from pacboost.errors import NotCertified
from pacboost.questions.certify import certify_answers
from pacboost.samples.equal_rows import DISTINCT, SEPARATE


def coins(seed: int, rows: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    return generator.normal(size=(rows, 4)), generator.integers(2, size=rows)


DELTA, RUNS = 0.2, 10
ALLOWED = int(binom.isf(1e-3, RUNS, DELTA))
QUESTIONS: dict[str, Callable[..., float]] = {
    "error": lambda *rows: certify(*rows, delta=DELTA).value,
    "groups": lambda m, X, y: certify(m, X, y, delta=DELTA, groups=np.arange(len(y))).value,
    "ordered": lambda *rows: certify(*rows, delta=DELTA, ordered=True).value,
    "answers": lambda *rows: certify_answers(*rows, delta=DELTA, abstain_below=0.5).error,
    "recall": lambda *rows: 1 - certify(*rows, delta=DELTA, of="recall").value,
}


@pytest.fixture(scope="module")
def learned_by_heart() -> list[Any]:
    """Models that know the coins they have seen, with new rows and few of the training rows."""
    found = []
    for seed in range(RUNS):
        X, y = coins(seed, 200)
        model = AdaBoostClassifier(n_estimators=300, random_state=0).fit(X, y)
        new, labels = coins(1000 + seed, 60)
        rows = np.concatenate([new, X[:18]]), np.concatenate([labels, y[:18]])
        found.append((model, *rows))
    return found


@pytest.mark.parametrize("question", QUESTIONS)
def test_few_training_rows_do_not_count_whatever_is_asked(
    question: str, learned_by_heart: list[Any]
) -> None:
    false = sum(QUESTIONS[question](*case) < 0.5 for case in learned_by_heart)
    assert false <= ALLOWED


def test_training_rows_are_left_out_of_groups_and_of_time(learned_by_heart: list[Any]) -> None:
    model, X, y = learned_by_heart[0]
    mistakes = int(model.mistakes(X[:60], y[:60]).sum())
    found = certify(model, X, y)
    assert (found.inputs["k"], found.inputs["n"]) == (mistakes, 60)
    assert "18 of 78 are, or may be, training rows and are left out" in found.sample
    assert DISTINCT in found.assumptions
    every = certify(model, X, y, copies="draws")
    assert (every.inputs["n"], every.assumptions[-1]) == (78, SEPARATE)
    ordered = certify(model, X, y, ordered=True).inputs
    assert (ordered["k"], ordered["n"]) == (mistakes, 60)
    assert certify(model, X, y, groups=np.arange(len(y))).size == 60
    for of in ("brier", "recall"):
        assert certify(model, X, y, of=of).value == certify(model, X[:60], y[:60], of=of).value


def test_known_rows_that_repeat_by_themselves_count() -> None:
    """Rows of few values equal training rows by chance; nothing counts because it is equal."""
    generator = np.random.default_rng(0)
    X, y = generator.integers(5, size=(900, 3)).astype(float), generator.integers(2, size=900)
    model = AdaBoostClassifier(n_estimators=5, random_state=0).fit(X[:600], y[:600])
    found = certify(model, X[600:], y[600:])
    mistakes = int(model.mistakes(X[600:], y[600:]).sum())
    assert found.value == clopper_pearson(mistakes, 300, 0.05)
    assert found.assumptions[-1] == SEPARATE


def test_few_visits_of_patients_that_were_learned_from() -> None:
    """Fewer rows than tell whether equal ones are copies: the training rows tell it."""
    X, y = coins(0, 60)
    visits = np.random.default_rng(0).integers(60, size=400)
    model = AdaBoostClassifier(n_estimators=300, random_state=0).fit(X[visits], y[visits])
    new, labels = coins(1, 12)
    again = np.repeat(np.arange(12), np.arange(12) % 4 + 1)
    rows = np.concatenate([X[:2], new[again]]), np.concatenate([y[:2], labels[again]])
    assert certify(model, *rows).inputs["n"] == 12


def test_a_sample_of_a_large_training_set_is_no_excuse() -> None:
    """Of many training rows a model remembers some, so few rows can be compared with them."""
    X, y = coins(0, 60_000)
    model = pacboost.RandomForestClassifier(5, random_state=0).fit(X, y)
    for size, share in ((50, 1.0), (100, 1.0), (200, 0.4), (400, 0.25)):
        false = 0
        for seed in range(RUNS):
            old = np.random.default_rng(seed).choice(len(y), round(share * size), replace=False)
            new, labels = coins(1000 + seed, size - old.size)
            rows, known = np.concatenate([new, X[old]]), np.concatenate([labels, y[old]])
            try:
                found = certify(model, rows, known, delta=DELTA)
            except NotCertified:
                continue
            false += found.value < 0.5 and not found.claim.startswith("If these rows are new")
        assert false <= ALLOWED, (size, share)


def test_few_rows_for_a_large_training_set_are_new_by_assumption() -> None:
    X, y = coins(0, 60_000)
    model = AdaBoostClassifier(n_estimators=1, random_state=0).fit(X, y)
    words = "If these rows are new"
    assert certify(model, *coins(1, 40)).claim.startswith(words)
    assert not certify(model, *coins(1, 2000)).claim.startswith(words)


def copied(X: Any, y: Any, seed: int) -> tuple[Any, Any]:
    return np.tile(X, (2, 1)), np.tile(y, 2)


def three_times(X: Any, y: Any, seed: int) -> tuple[Any, Any]:
    return np.tile(X, (3, 1)), np.tile(y, 3)


def a_third_twice(X: Any, y: Any, seed: int) -> tuple[Any, Any]:
    again = np.random.default_rng(seed).choice(len(y), len(y) // 3, replace=False)
    return np.concatenate([X, X[again]]), np.concatenate([y, y[again]])


@pytest.mark.parametrize("copies", [copied, three_times, a_third_twice])
def test_rows_that_were_copied_before_they_were_divided(copies: Callable[..., Any]) -> None:
    false, reasons = 0, set()
    for seed in range(RUNS):
        X, y = copies(*coins(seed, 200), seed)
        order = np.random.default_rng(seed).permutation(len(y))
        learn, rest = order[: round(0.7 * order.size)], order[round(0.7 * order.size) :]
        model = pacboost.RandomForestClassifier(20, random_state=0).fit(X[learn], y[learn])
        try:
            false += certify(model, X[rest], y[rest], delta=DELTA).value < 0.5
        except NotCertified as problem:
            reasons.add("copied before" in str(problem))
    assert false <= ALLOWED
    assert reasons == (set() if copies is a_third_twice else {True})


@pytest.mark.parametrize("times", [2, 3])
def test_copies_of_training_rows_only_are_allowed(times: int) -> None:
    """Whoever doubles rows after the division, to give them weight, may certify by the others."""
    X, y = coins(0, 1000)
    few = np.tile(X[:700], (times, 1)), np.tile(y[:700], times)
    model = AdaBoostClassifier(n_estimators=5, random_state=0).fit(*few)
    assert certify(model, X[700:], y[700:]).inputs["n"] == 300


def test_draws_from_a_small_domain_are_no_copies() -> None:
    generator = np.random.default_rng(0)
    for seed in range(30):
        X = np.random.default_rng(seed).integers(5, size=(1000, 4)).astype(float)
        y = (X[:, 0] + generator.normal(size=1000) > 2).astype(int)
        model = AdaBoostClassifier(n_estimators=5, random_state=0).fit(X[:600], y[:600])
        assert certify(model, X[600:], y[600:]).inputs["n"] == 400
