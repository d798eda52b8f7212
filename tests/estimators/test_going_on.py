"""Going on from an earlier fit, for every estimator that can: as one long fit, or not at all."""

import pickle
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost.errors import FileError, NotCertified, ParameterError
from pacboost.estimators.fitting.continuing import written_parameters
from pacboost.hypotheses.stump import StumpRule
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.models.file.format import model_bytes
from pacboost.theory import BoostByMajority
from tests.grids import one_in
from tests.worlds import noisy

Rows = NDArray[np.float64]
ROWS = 300
X, Y = noisy(ROWS, 4, 5)
FOUR = np.digitize(X[:, 0] + X[:, 1], [-1.0, 0.0, 1.0])
NUMBERS = X[:, 0] + np.abs(X[:, 1]) + 3
WEIGHTS = np.random.default_rng(2).uniform(0.1, 3, size=ROWS)
TEXTS = [f"{'up' if a > 0 else 'down'} {'far' if b > 0 else 'near'} w{k % 7}"
         for k, (a, b) in enumerate(X[:, :2])]  # fmt: skip
MIXED = pd.DataFrame({"said": TEXTS, "age": X[:, 2].round(1)})


class MedianLearner:
    """The better of stumps at the medians; in its n-th call it is interrupted."""

    def __init__(self, interrupted_in: int = 0) -> None:
        self.calls, self.interrupted_in = 0, interrupted_in

    def __call__(self, X: Rows, y: NDArray[np.int8], weights: Rows) -> StumpRule:
        self.calls += 1
        if self.calls == self.interrupted_in:
            raise KeyboardInterrupt
        edges = [float((weights * y * np.sign(X[:, j] - self.at(X, j))).sum()) for j in range(3)]
        best = int(np.argmax(np.abs(edges)))
        above = 1 if edges[best] > 0 else -1
        return StumpRule(best, self.at(X, best), 0, above, above)

    @staticmethod
    def at(X: Rows, j: int) -> float:
        return float(np.float32(np.median(X[:, j])))


def logistic(y: Rows, score: Rows) -> tuple[Rows, Rows]:
    chance = 1 / (1 + np.exp(-score))
    return chance - y, chance * (1 - chance)


def square(y: Rows, score: Rows) -> tuple[Rows, Rows]:
    return score - y, np.ones(y.size)


@dataclass(frozen=True, eq=False)
class Case:
    kind: Any
    options: dict[str, Any] = field(default_factory=dict)
    X: Any = field(default_factory=lambda: X)
    y: Any = field(default_factory=lambda: Y)
    weights: Rows | None = None

    def make(self, rounds: int, **more: Any) -> Any:
        return clone(self.kind(n_estimators=rounds, random_state=3, **self.options, **more))

    def fit(self, model: Any) -> Any:
        weighted = {} if self.weights is None else {"sample_weight": self.weights}
        return model.fit(self.X, self.y, **weighted)


def boosted(booster: Any, **more: Any) -> Case:
    options = {"booster": booster, "learner": Tree(max_leaves=4), "early_stopping": False, **more}
    y = options.pop("y", Y)
    return Case(pacboost.BoostClassifier, options, y=y)


def regressor(loss: Any, **more: Any) -> Case:
    options = {"loss": loss, "max_leaves": 4, "early_stopping": False, **more}
    return Case(pacboost.BoostRegressor, options, y=NUMBERS, weights=WEIGHTS)


QUICK: dict[str, Any] = {"length": 5, "ngrams": (1, 1)}
CASES: dict[str, Case] = {
    "stumps": Case(pacboost.AdaBoostClassifier),
    "stumps, weighted": Case(pacboost.AdaBoostClassifier, weights=WEIGHTS),
    "resampled": Case(pacboost.AdaBoostClassifier, {"resample": True, "learning_rate": 0.4}),
    "resampled, weighted": Case(pacboost.AdaBoostClassifier, {"resample": 90}, weights=WEIGHTS),
    "confidence": Case(pacboost.AdaBoostClassifier, {"confidence_rated": True, "max_vote": 1.0}),
    "box": Case(pacboost.AdaBoostClassifier, {"estimator": DecisionTreeClassifier(max_depth=2)}),
    "function": Case(pacboost.AdaBoostClassifier, {"estimator": MedianLearner()}),
    "by majority": Case(BoostByMajority, {"edge": 0.1, "epsilon": 0.05}),
    **{name: boosted(name) for name in ("logit", "adaboost", "gentle", "mada", "total", "lp")},
    **{f"{name}, 4 classes": boosted(name, y=FOUR) for name in ("logit", "adaboost")},
    "drawn": boosted("logit", subsample=0.5, max_features=0.5),
    "own objective": boosted(logistic, y=(Y > 0).astype(int)),
    "own loss": regressor(square),
    **{
        loss: regressor(loss)
        for loss in ("squared_error", "absolute_error", "huber", "poisson", "gamma")
    },
    "quantile": regressor("quantile", quantile=0.8),
    "numbers, drawn": regressor("squared_error", subsample=0.5, learning_rate=1.0),
    "texts": Case(pacboost.TextBoostClassifier, QUICK, X=TEXTS),
    "texts, 4 classes": Case(pacboost.TextBoostClassifier, QUICK, X=TEXTS, y=FOUR),
    "mixed": Case(pacboost.TextBoostClassifier, {**QUICK, "text_columns": ["said"]}, X=MIXED),
    "bags": Case(pacboost.BaggingClassifier, {"certify": "tandem"}),
    "bags of trees": Case(pacboost.BaggingClassifier, {"estimator": "tree", "certify": "tandem"}),
    "bags of boxes": Case(
        pacboost.BaggingClassifier, {"estimator": DecisionTreeClassifier(max_depth=2)}
    ),
    "bags of numbers": Case(pacboost.BaggingRegressor, y=NUMBERS),
    "forest": Case(pacboost.RandomForestClassifier, {"oob_score": True}),
    "forest, 4 classes": Case(pacboost.RandomForestClassifier, {"oob_score": True}, y=FOUR),
    "forest, labels": Case(
        pacboost.RandomForestClassifier, y=np.column_stack([Y > 0, FOUR > 1]).astype(int)
    ),
    "extra trees": Case(pacboost.ExtraTreesClassifier, weights=WEIGHTS),
    "forest of numbers": Case(pacboost.RandomForestRegressor, {"oob_score": True}, y=NUMBERS),
}
OF_BAGS = [name for name in CASES if "bags" in name or "forest" in name or "extra" in name]
every = pytest.mark.parametrize("name", CASES)
of_bags = pytest.mark.parametrize("name", OF_BAGS)


def content(model: Any) -> tuple[bytes, ...]:
    """All that was learned, and what is known of rows outside the bags."""
    if "_members" in vars(model):
        learned = b"".join(answers.tobytes() for answers in model._answers(X))
    else:
        try:
            learned = model_bytes(model.model_)
        except FileError:  # black boxes
            learned = model.ledger_.digest().encode()
    names = ("oob_decision_function_", "oob_prediction_")
    return learned, *(getattr(model, name).tobytes() for name in names if hasattr(model, name))


@every
def test_going_on_ends_as_one_fit(name: str) -> None:
    case = CASES[name]
    whole = case.fit(case.make(9))
    part = case.fit(case.make(4, warm_start=True))
    part = part if name == "own objective" else pickle.loads(pickle.dumps(part))
    assert content(part) != content(whole)
    assert content(case.fit(part.set_params(n_estimators=9))) == content(whole)


@one_in(2)
@every
def test_a_file_gives_the_kind_back_and_no_record_to_go_on_from(name: str, tmp_path: Path) -> None:
    case, path = CASES[name], tmp_path / "model.pacb"
    model = case.fit(case.make(4))
    if case.kind in (pacboost.BaggingClassifier, pacboost.BaggingRegressor):
        return  # bags of trees come back as forests: test_bagging.py
    if name == "box":
        with pytest.raises(FileError, match=r"black boxes.*Pickle"):
            model.save(path)
        return
    model.save(path)
    back = pacboost.load(path)
    assert type(back) is case.kind or name in ("by majority", "adaboost")
    assert np.array_equal(back.predict(case.X), model.predict(case.X))
    assert content(back)[0] == content(model)[0]
    options = {} if name == "by majority" else case.options
    back.set_params(**options, n_estimators=9, warm_start=True, random_state=3)
    if name != "by majority":
        refused(case, back, "read from a file, which keeps no record")


def interrupt(done: Any) -> None:
    if getattr(done, "number", 0) == 4 or getattr(done, "members", 0) == 4:
        raise KeyboardInterrupt


@pytest.mark.parametrize("name", ["stumps", "function", "resampled, weighted", "bags", "forest"])
def test_an_interrupt_keeps_what_is_done_and_goes_on_as_one_fit(name: str) -> None:
    case = CASES[name]
    by_learner = {"estimator": MedianLearner(interrupted_in=5)} if name == "function" else {}
    stopped = {} if by_learner else {"callbacks": [interrupt]}
    model = case.make(9, warm_start=True).set_params(**by_learner, **stopped)
    with pytest.raises(KeyboardInterrupt) as caught:
        case.fit(model)
    (note,) = caught.value.__notes__
    assert "4 rounds" in note or "4 members" in note or "4 trees" in note
    assert "warm_start=True" in note
    fewer = case.fit(case.make(4))
    assert np.array_equal(model.predict(case.X), fewer.predict(case.X))
    if hasattr(model, "ledger_"):
        assert model.ledger_.stopped == "interrupted"
        assert model.certificate_.inputs["rounds"] == 4
        assert model.certificate_.value == fewer.certificate_.value
    case.fit(model.set_params(callbacks=None))
    assert content(model) == content(case.fit(case.make(9)))


def test_an_interrupted_plan_of_members_pays_for_those_that_were_planned() -> None:
    case = Case(pacboost.BaggingClassifier, {"estimator": "stump", "certify": "oob"})
    model = case.make(20, callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        case.fit(model)
    assert model.certificate_.inputs["divergence"] >= np.log(20 / 4)
    case.fit(model.set_params(callbacks=None, warm_start=True))
    assert model.certificate_ == case.fit(case.make(20)).certificate_


def test_an_interrupt_in_the_first_round_leaves_nothing() -> None:
    case = CASES["function"]
    model = case.make(5, warm_start=True).set_params(estimator=MedianLearner(interrupted_in=1))
    with pytest.raises(KeyboardInterrupt) as caught:
        case.fit(model)
    assert not hasattr(caught.value, "__notes__")
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert content(case.fit(model)) == content(case.fit(case.make(5)))


def refused(case: Case, model: Any, match: str, **other: Any) -> None:
    before = content(model)
    with pytest.raises(ParameterError, match=match):
        replace(case, **other).fit(model)
    assert content(model) == before


@one_in(3)
@every
def test_other_data_and_fewer_rounds_are_refused(name: str) -> None:
    case = CASES[name]
    model = case.fit(case.make(5, warm_start=True))
    refused(case, model.set_params(n_estimators=4), "n_estimators is 4, .* has 5 .* already")
    model.set_params(n_estimators=6)
    numbers = (pacboost.BaggingRegressor, pacboost.BoostRegressor, pacboost.RandomForestRegressor)
    if case.kind not in numbers and case.y.ndim == 1:
        refused(case, model, "rows.* changed", y=np.array(list("abcd"))[case.y])
    refused(case, model, "rows.* changed", y=np.roll(case.y, 1, axis=0))
    if isinstance(case.X, np.ndarray):
        refused(case, model, "rows.* changed", X=np.hstack([X, X]))
    assert content(case.fit(model)) == content(case.fit(case.make(6)))


@of_bags
def test_rows_of_bags_are_compared_by_every_bit(name: str) -> None:
    """Some that certify now may have been learned from; bins do not tell."""
    case = CASES[name]
    model = case.fit(case.make(3, warm_start=True))
    model.set_params(n_estimators=4)
    shuffled = np.random.default_rng(0).permutation(ROWS)
    refused(case, model, "rows changed", X=X[shuffled], y=case.y[shuffled])
    near = X.copy()
    near[:60, 0] += 1e-9
    if isinstance(model, pacboost.BaggingClassifier | pacboost.BaggingRegressor):
        refused(case, model, "rows changed", X=near)
    elif case.weights is None:
        refused(case, model, "rows changed", weights=WEIGHTS)
    assert case.fit(model).stopped_ == "all 4 members are made"


CHANGES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("stumps", {}, {"max_bins": 8}, "max_bins changed"),
    ("stumps", {}, {"learning_rate": 0.1}, "learning_rate changed"),
    ("stumps", {}, {"random_state": 1}, "random_state changed"),
    ("stumps", {}, {"certify": "holdout"}, "certify changed"),
    ("box", {}, {"estimator": None}, "estimator.* changed"),
    ("box", {}, {"estimator__max_depth": 3}, "estimator__max_depth changed"),  # in place
    ("logit", {}, {"booster": "gentle"}, "booster.* changed"),
    ("logit", {}, {"learner__max_leaves": 5}, "learner.* changed"),
    ("huber", {"alpha": 0.8}, {"alpha": 0.6}, "alpha changed"),
    ("quantile", {}, {"quantile": 0.6}, "quantile changed"),
    ("texts", {}, {"ngrams": (1, 2)}, "ngrams changed"),
    ("stumps", {"certify": "holdout"}, {"learning_rate": 0.1}, "learning_rate changed"),
    ("stumps", {"certify": "holdout"}, {"random_state": 2}, "random_state changed"),
    ("bags of trees", {}, {"certify": "oob"}, "certify changed"),
    ("bags of boxes", {}, {"certify": "holdout"}, "certify changed"),  # members saw these rows
    ("bags of trees", {}, {"estimator": "stump"}, "estimator.* changed"),
    ("bags of boxes", {}, {"estimator__max_depth": 3}, "estimator__max_depth changed"),  # in place
    ("bags of boxes", {"certify": "holdout"}, {"holdout": 0.3}, "holdout changed"),
    ("forest", {}, {"max_depth": 3}, "max_depth changed"),
    ("forest", {}, {"max_features": 1}, "max_features changed"),
    ("forest", {}, {"min_samples_leaf": 2}, "min_samples_leaf changed"),
    ("forest", {}, {"min_samples_split": 9}, "min_samples_split changed"),
    ("forest", {}, {"min_weight_fraction_leaf": 0.1}, "min_weight_fraction_leaf changed"),
    ("forest", {}, {"max_samples": 0.5}, "max_samples changed"),
    ("forest", {"max_samples": 0.9}, {"bootstrap": False}, "bootstrap changed"),
    ("forest", {}, {"oob_score": False}, "oob_score changed"),
    ("forest", {}, {"settle": 5}, "settle changed"),
]


@pytest.mark.parametrize(("name", "before", "after", "match"), CHANGES)
def test_other_parameters_are_refused(
    name: str, before: dict[str, Any], after: dict[str, Any], match: str
) -> None:
    case = replace(CASES[name], options={**CASES[name].options, **before})
    model = case.fit(case.make(5, warm_start=True)).set_params(n_estimators=6, **after)
    refused(case, model, match)


@pytest.mark.parametrize("name", ["bags of trees", "forest"])
def test_going_on_settles_where_one_fit_does(name: str) -> None:
    case = Case(CASES[name].kind, {"settle": 15}, *noisy(2_000, 4, 9))
    whole = case.fit(case.make(300))
    part = case.make(300, warm_start=True, callbacks=[lambda made: made.members == 9])
    assert "callback" in case.fit(part).stopped_
    assert case.fit(part.set_params(callbacks=None)).stopped_ == whole.stopped_
    assert np.array_equal(part.predict_proba(X), whole.predict_proba(X))


def test_a_plan_of_fewer_members_certifies_no_more() -> None:
    case = CASES["bags"]
    part = case.fit(case.fit(case.make(8, warm_start=True)).set_params(n_estimators=20))
    with pytest.raises(NotCertified, match="8 members were planned"):
        _ = part.certificate_
    assert part.out_of_bag_.tandem == case.fit(case.make(20)).out_of_bag_.tandem


def test_other_levels_are_refused() -> None:
    frame = pd.DataFrame(
        {"colour": np.array(["red", "blue", "grey"])[np.digitize(X[:, 1], [0, 1])]}
    )
    case = replace(CASES["logit"], X=frame)
    model = case.fit(case.make(3, warm_start=True))
    other = frame.replace({"colour": {"red": "pink"}})
    refused(case, model.set_params(n_estimators=5), "rows.* changed", X=other)
    assert model.levels_.to_dict() == {"0": ["blue", "grey", "red"]}
    assert content(case.fit(model)) == content(case.fit(case.make(5)))


def test_going_on_after_a_perfect_rule_changes_nothing() -> None:
    case = replace(CASES["stumps"], y=(X[:, 0] > 0).astype(int), options={"max_bins": 400})
    model = case.fit(case.make(3, warm_start=True))
    assert len(model.ledger_) == 1
    before = content(model)
    assert content(case.fit(model.set_params(n_estimators=9))) == before


def test_a_rule_without_mistakes_does_not_excuse_other_labels() -> None:
    """Its vote is so large that rounding would excuse anything; the training error does not."""
    generator = np.random.default_rng(0)
    rows = generator.integers(0, 10, (300, 2)).astype(float)
    case = replace(CASES["stumps"], X=rows, y=(rows[:, 0] > 4).astype(int))
    model = case.fit(case.make(1, warm_start=True))
    refused(case, model, "rows.* changed", y=generator.integers(0, 2, 300))


@pytest.mark.parametrize("name", ["stumps", "resampled", "drawn", "huber", "forest", "bags"])
def test_a_run_keeps_its_seed_and_the_rows_held_back(name: str) -> None:
    """A generator gives the seed of the first fit alone, and other fits go on with that."""
    case = CASES[name]
    stops = {} if name in OF_BAGS else {"early_stopping": 50}
    whole, part = (case.make(rounds, **{}) for rounds in (9, 4))
    case.fit(whole.set_params(random_state=np.random.RandomState(0), **stops))
    part.set_params(random_state=np.random.RandomState(0), warm_start=True, **stops)
    assert content(case.fit(case.fit(part).set_params(n_estimators=9))) == content(whole)


def test_other_validation_rows_are_refused() -> None:
    model = pacboost.BoostClassifier(n_estimators=5, warm_start=True, random_state=0)
    model.fit(X[:200], Y[:200], X_val=X[200:], y_val=Y[200:]).set_params(n_estimators=7)
    before = content(model)
    for X_val, y_val in ((X[200:] + 1, Y[200:]), (X[200:], -Y[200:])):
        with pytest.raises(ParameterError, match=r"rows.* changed"):
            model.fit(X[:200], Y[:200], X_val=X_val, y_val=y_val)
    with pytest.raises(ParameterError, match=r"rows.* changed"):
        model.fit(X[:200], Y[:200])
    assert content(model) == before


def test_a_first_round_alone_is_not_the_first_of_many() -> None:
    """A single round is a tree; the first of many is a constant."""
    model = pacboost.BoostClassifier(n_estimators=1, random_state=0).fit(X, Y)
    model.set_params(n_estimators=5, warm_start=True)
    with pytest.raises(ParameterError, match="rows, or"):
        model.fit(X, Y)


def test_a_compressed_vote_is_not_continued() -> None:
    model = pacboost.AdaBoostClassifier(n_estimators=5, warm_start=True).fit(X, Y)
    small = pacboost.theory.compress(model, X, Y)
    with pytest.raises(ParameterError, match="votes changed"):
        small.set_params(n_estimators=9).fit(X, Y)


@pytest.mark.parametrize("before", [{}, {"certify": "holdout", "random_state": 1}])
def test_held_out_rows_may_not_have_been_learned_from(before: dict[str, Any]) -> None:
    case = CASES["box"]
    model = case.fit(case.make(1).set_params(**before))
    model.set_params(warm_start=True, certify="holdout", random_state=0)
    refused(case, model, r"certify, random_state changed|spent all of delta")


def test_the_same_rows_held_out_may_be_held_out_again() -> None:
    case = replace(CASES["stumps"], options={"certify": "holdout"})
    model = case.fit(case.fit(case.make(3, warm_start=True)).set_params(n_estimators=6))
    whole = case.fit(case.make(6))
    assert content(model) == content(whole)
    assert model.certificate_.inputs == {**whole.certificate_.inputs, "look": 2}


class Kernel:
    """A function with a parameter, which does not say when it is equal."""

    def __init__(self, power: int) -> None:
        self.power = power


def chain(strength: float) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(C=strength))


PAIRS: list[tuple[Any, Any]] = [
    (DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(max_depth=2)),
    (DecisionTreeClassifier(), None),
    (chain(1.0), chain(2.0)),
    (SVC(kernel=Kernel(1)), SVC(kernel=Kernel(2))),
    (SVC(class_weight={0: 1, 1: 2}), SVC(class_weight={0: 1, 1: 3})),
    (SVC(gamma=np.array([1.0, 2.0])), SVC(gamma=np.array([1.0, 3.0]))),
    (Tree(4), Tree(5)),
    (Stump(), Tree()),
    (np.add, np.subtract),
    (SVC(kernel=lambda a, b: a @ b.T), SVC(kernel=lambda a, b: -(a @ b.T))),
    (SVC(kernel=partial(pow, 1)), SVC(kernel=partial(pow, 2))),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_learners_are_told_apart_and_a_copy_is_not(one: Any, other: Any) -> None:
    first, copy, second = (
        written_parameters(pacboost.AdaBoostClassifier(own))
        for own in (one, clone(one, safe=False), other)
    )
    assert first == copy
    assert first != second
