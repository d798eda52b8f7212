"""What a rule of a user may answer, and what its errors say."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from pacboost import AdaBoostClassifier, BoostClassifier
from pacboost.boosters.adaboost import AdaBoost, ExponentialState
from pacboost.errors import DataError, LearnerError, ParameterError

X = np.random.default_rng(0).normal(size=(120, 3))
Y = np.where(X.sum(axis=1) > 0, "yes", "no")
SIGNS = np.where(Y == "yes", 1.0, -1.0)


def model(change: Callable[[Any, Any], Any], y: Any = Y, rounds: int = 6) -> AdaBoostClassifier:
    """Boost rules of one column each, whose answers of -1 and +1 are changed."""
    columns = iter(range(10**6))

    def learner(rows: Any, labels: Any, weights: Any) -> Any:
        j = next(columns) % 3

        def rule(new: Any) -> Any:
            return change(np.where(new[:, j] > 0, 1.0, -1.0), new[:, j])

        return rule

    return AdaBoostClassifier(learner, n_estimators=rounds).fit(X, y)


PLAIN = model(lambda said, _: said)
SAME: dict[str, Callable[[Any, Any], Any]] = {
    "a number counts by its sign": lambda said, _: said * 0.5,
    "true and false": lambda said, _: said > 0,
    "names of classes": lambda said, _: np.where(said > 0, "yes", "no"),
    "a list": lambda said, _: said.tolist(),
    "names and numbers": lambda said, _: np.where(said > 0, np.array("yes", object), -1),
}


@pytest.mark.parametrize("name", SAME)
def test_answers_that_mean_the_same_give_the_same_vote(name: str) -> None:
    assert (model(SAME[name]).decision_function(X) == PLAIN.decision_function(X)).all()


def test_zero_abstains_as_half_a_mistake() -> None:
    abstaining = model(lambda said, cells: np.where(np.abs(cells) < 0.3, 0, said))
    first = abstaining.ledger_.rounds[0]
    said = np.where(np.abs(X[:, 0]) < 0.3, 0, np.sign(X[:, 0]))
    assert first.edge == pytest.approx((said * SIGNS).mean(), abs=1e-12)
    assert first.error == pytest.approx((1 - first.edge) / 2, abs=1e-12)
    silent = np.abs(X).max(axis=1) < 0.3
    alone = model(lambda said, cells: np.where(np.abs(cells) < 0.3, 0, said), rounds=1)
    quiet = np.abs(X[:, 0]) < 0.3
    assert (alone.decision_function(X)[quiet] == 0).all()
    assert (alone.decision_function(X)[~quiet] != 0).all()
    wrong = np.where(silent, 0, abstaining.decision_function(X)) * SIGNS <= 0
    assert abstaining.certificate_.value >= wrong.mean()  # the theorem holds for h in [-1, 1]


def test_one_answer_is_for_all_rows() -> None:
    rare = np.where(X[:, 0] > -1, "yes", "no")
    constant = model(lambda said, _: 1, rare, 1)
    assert constant.predict(X).tolist() == ["yes"] * len(X)


def nan(said: Any, cells: Any) -> Any:
    return np.where(np.isin(np.arange(said.size), [3, 7]), np.nan, said)


REFUSED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "nan": (nan, r"NaN or None for 2 of 120 rows \(3, 7\)"),
    "none": (lambda said, _: None, "answered None for 120 rows"),
    "some none": (lambda said, _: [None, *said[1:]], r"for 1 of 120 rows \(0\)"),
    "short": (lambda said, _: said[1:], r"shape \(119,\) for 120 rows"),
    "a column": (lambda said, _: said[:, None], r"shape \(120, 1\)"),
    "no class": (lambda said, _: np.where(said > 0, "yes", "nope"), r"answered 'nope' for \d+ of"),
    "objects": (lambda said, _: [{}] * said.size, r"answered {} for 120 of 120 rows \(0, 1, 2, 3"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_answers_are_refused_with_the_rows(name: str) -> None:
    change, words = REFUSED[name]
    with pytest.raises(LearnerError, match=words) as error:
        model(change)
    assert str(error.value).startswith("round 1: rule of learner answered")
    assert isinstance(error.value, DataError)


@pytest.mark.parametrize("whose", ["learner", "rule"])
@pytest.mark.parametrize("kind", [AdaBoostClassifier, BoostClassifier])
def test_an_exception_names_the_round_and_keeps_those_before(whose: str, kind: Any) -> None:
    calls = iter(range(10**6))

    def learner(rows: Any, labels: Any, weights: Any) -> Any:
        number = next(calls)
        if whose == "learner" and number == 6:
            raise KeyError("late")

        def rule(new: Any) -> Any:
            if whose == "rule" and number == 6:
                raise KeyError("late")
            return np.where(new[:, number % 3] > 0, 1, -1)

        return rule

    options = {"booster": "adaboost"} if kind is BoostClassifier else {}
    fitted = kind(**options, **{"learner" if options else "estimator": learner}, n_estimators=20)
    with pytest.raises(LearnerError, match=f"round 7: .*{whose}.* raised KeyError on 120 rows: 'l"):
        fitted.fit(X, Y)
    assert len(fitted.ledger_) == 6
    assert fitted.score(X, Y) > 0.8


def test_with_more_classes_answers_are_numbers_or_names() -> None:
    three = np.where(X[:, 0] > 0.5, "c", np.where(X[:, 0] < -0.5, "a", "b"))
    column = np.searchsorted([-0.5, 0.5], X[:, 0])

    def fitted(answer: Callable[[Any], Any]) -> AdaBoostClassifier:
        return AdaBoostClassifier(
            lambda rows, y, w: lambda new: answer(np.searchsorted([-0.5, 0.5], new[:, 0])),
            n_estimators=2,
        ).fit(X, three)

    assert (column >= 0).all()
    for answer in (lambda k: k, lambda k: np.array(["a", "b", "c"])[k]):
        assert fitted(answer).score(X, three) == 1.0
    with pytest.raises(LearnerError, match=r"answered 'd'.*the number of a class, 0 to 2"):
        fitted(lambda k: np.array(["a", "b", "d"])[k])


class Locked:
    """An object that cannot be copied, because it holds a lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def fit(self, rows: Any, y: Any) -> "Locked":
        self.cut = float(np.median(rows[:, 0]))
        return self

    def predict(self, rows: Any) -> Any:
        return np.where(rows[:, 0] > self.cut, 1, -1)


def test_an_object_that_cannot_be_copied_says_what_works() -> None:
    with pytest.raises(ParameterError, match=r"cannot be copied .*give a function \(X, y\)") as e:
        AdaBoostClassifier(Locked(), n_estimators=2).fit(X, Y)
    assert e.value.parameter == "learner"
    made = AdaBoostClassifier(lambda rows, y: Locked().fit(rows, y), n_estimators=2).fit(X, Y)
    assert made.score(X, Y) > 0.6


@dataclass(frozen=True)
class Tenths(AdaBoost):
    """An own booster that casts votes of a tenth, and does not round them."""

    name: ClassVar[str] = "tenths"

    def step(self, state: ExponentialState, agree: Any, measured: Any) -> ExponentialState:
        state.margins[:] += 0.1 * agree
        state.cast.append(0.1)
        return replace(state)


def test_the_loop_rounds_the_votes_of_a_booster_that_does_not() -> None:
    generator = np.random.default_rng(1)
    answers, y = generator.choice([-1, 1], (400, 8)), generator.choice([-1, 1], 400)
    rounds = iter(range(10**6))

    def learner(rows: Any, labels: Any, weights: Any) -> Any:
        j = next(rounds) % 8
        right = 1 if (answers[:, j] * y).sum() >= 0 else -1
        return lambda new: right * new[:, j]

    fitted = BoostClassifier(Tenths(), learner, n_estimators=8).fit(answers, y)
    said = sum(np.sign((answers[:, j] * y).sum() or 1) * answers[:, j] for j in range(8))
    exact = (said * y <= 0).mean()  # ties are mistakes
    assert (said == 0).any()
    assert fitted.ledger_.rounds[-1].training_error == exact
    assert (fitted.decision_function(answers) * y <= 0).mean() == exact
