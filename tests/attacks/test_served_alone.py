"""Thresholds keep their promise for rows that are served one by one, whose last bits differ."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

import pacboost
from pacboost.bounds import decision, holdout, wording
from pacboost.bounds.rounding import confidence, confidence_number
from pacboost.errors import DataError, NotCertified
from pacboost.questions import verdict
from pacboost.questions.answering import certify_answers
from pacboost.theory import plan
from tests.bounds.coverage import check_coverage, check_rejected
from tests.grids import each_value
from tests.runs import RUNS

WISHES = {"recall": 0.6, "false_positive_rate": 0.4, "precision": 0.5, "target_error": 0.5}
DELTA = 1e-4


def kept(name: str, said: NDArray[Any], share: NDArray[Any], positive: NDArray[Any]) -> bool:
    """Check whether a promise is true of a world of a few rows, with their shares and positives."""
    yes = np.array([own is not None and bool(own) for own in said])
    if name == "recall":
        return bool((share * positive)[yes].sum() >= WISHES[name] * (share * positive).sum())
    if name == "false_positive_rate":
        false = share * (1 - positive)
        return bool(false[yes].sum() <= WISHES[name] * false.sum())
    answered = yes if name == "precision" else np.array([own is not None for own in said])
    wrong = share * np.where(yes, 1 - positive, positive)
    limit = 0.5 * share[answered].sum()  # both wishes are one half
    return bool(wrong[answered].sum() <= limit)


def broken(name: str, runs: int, kind: Any, several: int = 6) -> tuple[int, int]:
    """Count promises that are broken by rows served alone, and certificates."""
    false = certified = 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        pool = generator.normal(size=(several, 20)).astype(kind)
        share, positive = generator.dirichlet(np.ones(several)), generator.random(several)
        model = LogisticRegression()
        model.classes_, model.intercept_ = np.array([False, True]), np.zeros(1, dtype=kind)
        model.coef_ = generator.normal(size=(1, 20)).astype(kind) / 3
        drawn = generator.choice(several, size=3000, p=share)
        labels = generator.random(3000) < positive[drawn]
        wish: dict[str, Any] = {name: WISHES[name]}
        try:
            chosen = pacboost.choose_threshold(
                model, pool[drawn], labels, copies="draws", delta=DELTA, **wish
            )
        except NotCertified:
            continue
        certified += 1
        said = np.array([chosen.predict(row[None])[0] for row in pool], dtype=object)
        false += not kept(name, said, share, positive)
    return false, certified


@each_value
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["recall", "false_positive_rate"])
def test_rows_served_alone_keep_the_promise(name: str, kind: Any) -> None:
    false, certified = broken(name, 12, kind)
    assert certified == 12
    check_coverage(f"{name}, rows served alone, {kind.__name__}", false, certified, DELTA)


@pytest.mark.slow
@pytest.mark.world
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", WISHES)
def test_rows_served_alone_keep_the_promise_in_many_worlds(name: str, kind: Any) -> None:
    false, certified = broken(name, RUNS or 400, kind)
    check_coverage(f"{name}, rows served alone, {kind.__name__}, long", false, certified, DELTA)


def test_thresholds_on_scores_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: every floating-point number is a border."""
    monkeypatch.setattr(
        decision.Borders, "below", lambda self, scores: np.array(scores, np.float64)
    )
    monkeypatch.setattr(decision.Borders, "above", lambda self, score: np.nextafter(score, np.inf))
    false, certified = broken("recall", 25, np.float64)
    check_rejected("recall, thresholds on scores", false, certified, DELTA)


# Labels of another type are never right: each question refuses them, and object arrays of them.

QUESTIONS: dict[str, Callable[..., Any]] = {
    "certify": pacboost.certify,
    "error from below": lambda *given: pacboost.certify(*given, end="lower"),
    "recall": lambda *given: pacboost.certify(*given, of="recall"),
    "groups": lambda model, X, y: pacboost.certify_all(model, X, y, by=X[:, 1] > 0),
    "sets": pacboost.sets,
    "choose_threshold": lambda *given: pacboost.choose_threshold(*given, recall=0.8),
    "target_error": lambda *given: pacboost.choose_threshold(*given, target_error=0.3),
    "certify_answers": certify_answers,
    "compare_models": lambda model, *rows: pacboost.compare_models(model, model, *rows),
    "monitor": lambda model, *rows: pacboost.Monitor(model, error=0.1).update(*rows),
}
X = np.random.default_rng(0).normal(size=(600, 3))
Y = (X[:, 0] > 0).astype(int)


class Bare:
    """A model without classes."""

    def predict(self, X: Any) -> Any:
        return (X[:, 0] > 0).astype(int)


def some_text(labels: Any) -> Any:
    mixed = labels.astype(object)
    mixed[::2] = mixed[::2].astype(str)
    return mixed


@each_value
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    "change",
    [
        lambda labels: labels.astype(str),
        lambda labels: labels.astype(str).astype(object),
        some_text,
        lambda labels: labels.astype("S1"),
    ],
    ids=["text", "objects", "some text", "bytes"],
)
@pytest.mark.parametrize("kind", [pacboost.AdaBoostClassifier, LogisticRegression])
def test_labels_of_another_type_are_refused(kind: Any, change: Any, question: str) -> None:
    model = kind().fit(X[:200], Y[:200])
    with pytest.raises(DataError, match="type that they had"):
        QUESTIONS[question](model, X[200:], change(Y[200:]))


@pytest.mark.parametrize("question", ["certify", "recall", "compare_models", "monitor"])
def test_labels_of_another_type_than_predictions_are_refused(question: str) -> None:
    with pytest.raises(DataError, match="type that they had"):
        QUESTIONS[question](Bare(), X, Y.astype(str).astype(object))


@pytest.mark.parametrize("question", QUESTIONS)
def test_numbers_in_object_arrays_are_labels_like_others(question: str) -> None:
    model = LogisticRegression().fit(X[:200], Y[:200])
    QUESTIONS[question](model, X[200:], Y[200:].astype(object))


# No delta above 0 is ever printed as a confidence of 100 %, and no confidence is rounded up.

TINY = [1e-4, 1e-7, 3e-9, 1e-12, 1e-30, 5e-324]


@pytest.mark.parametrize("delta", TINY)
def test_sentences_never_say_100_percent(delta: float) -> None:
    certificate = holdout.certificate(0, 1000, delta)
    said = str(wording.sentence(certificate))
    assert "(99.9" in said
    assert "100 % confidence" not in said
    judged = verdict.judge(certificate, delta, 0.5, verdict.FitMeasurements(1, 0.0)).sentence
    assert "100 % confidence" not in judged


@pytest.mark.parametrize("delta", [1e-7, 1e-12])
def test_plans_never_say_confidence_1(delta: float) -> None:
    asked = plan.finite(epsilon=0.1, delta=delta, size=10).question
    assert "confidence 0.99999" in asked


@given(st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True))
def test_confidence_is_rounded_down(delta: float) -> None:
    true = 1 - Decimal(repr(delta))
    percent = Decimal(confidence(delta).removesuffix(" %"))
    assert percent < 100
    assert 100 * true - Decimal("1e-4") < percent <= 100 * true
    assert true - Decimal("1e-6") < Decimal(confidence_number(delta)) <= true


def test_usual_confidences_are_short() -> None:
    assert [confidence(d) for d in (0.05, 0.01, 0.1, 0.025, 0.001)] == [
        "95 %", "99 %", "90 %", "97.5 %", "99.9 %",
    ]  # fmt: skip
