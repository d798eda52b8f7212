"""Certificates on rows that a model was trained on: every classifier refuses, in every disguise.

A new public classifier is attacked by default: classifiers are found by introspection.
"""

import inspect
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost import AdaBoostClassifier, certify
from pacboost.errors import NotCertified
from pacboost.questions.answering import certify_answers
from pacboost.theory.worlds import Boxes
from tests.bounds.coverage import check_coverage
from tests.public import estimators
from tests.runs import several_runs

WORLD = Boxes((0.2, 0.3), (0.7, 0.9))
ROWS = 600
QUICK: dict[str, dict[str, Any]] = {
    "AdaBoostClassifier": {"n_estimators": 5},
    "BaggedBoost": {"n_bags": 3, "n_estimators": 5},
    "BaggingClassifier": {"n_estimators": 3},
    "BoostByMajority": {"n_estimators": 5},
    "BoostClassifier": {"n_estimators": 5},
    "ConfidenceBoost": {"gap": 0.4},
    "ExtraTreesClassifier": {"n_estimators": 5},
    "FilterBoostClassifier": {"n_estimators": 5},
    "MajorityOfBoosters": {"n_estimators": 5},
    "RandomForestClassifier": {"n_estimators": 5},
    "StrongClassifier": {"n_estimators": 20},
    "SubsampledBoost": {"max_members": 3, "n_estimators": 5},
    "TextBoostClassifier": {"n_estimators": 5},
}
"""Parameters that keep fits short; a classifier that is not named has its defaults."""


def classifiers() -> dict[str, type]:
    """All public classifiers."""
    return {
        name: kind
        for name, kind in estimators().items()
        if hasattr(kind, "predict") and is_classifier(kind())
    }


def make(name: str) -> Any:
    parameters = dict(QUICK.get(name, {}))
    if "random_state" in inspect.signature(classifiers()[name]).parameters:
        parameters["random_state"] = 0
    return classifiers()[name](**parameters)


class Data:
    """Rows as a classifier takes them: numbers, or texts made of them."""

    def __init__(self, name: str) -> None:
        self.texts = name == "TextBoostClassifier"

    def draw(self, rows: int, seed: int) -> tuple[Any, NDArray[Any]]:
        X, y = WORLD.draw(rows, seed)
        return (self.written(X) if self.texts else X), (y > 0).astype(np.int64)

    @staticmethod
    def written(X: NDArray[np.float64]) -> list[str]:
        return [f"a{int(10 * a)} b{int(10 * b)} {a:.9f} and {b:.9f}" for a, b in X]

    def take(self, X: Any, chosen: NDArray[np.intp]) -> Any:
        return [X[i] for i in chosen] if self.texts else X[chosen]

    def join(self, one: Any, other: Any) -> Any:
        return [*one, *other] if self.texts else np.concatenate([one, other])


Attack = Callable[[Data, Any, NDArray[Any]], tuple[Any, NDArray[Any]]]


def chosen_by(draw: Callable[[np.random.Generator], NDArray[np.intp]], seed: int) -> Attack:
    """Certify on some of the training rows."""

    def attack(data: Data, X: Any, y: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
        rows = draw(np.random.default_rng(seed))
        return data.take(X, rows), y[rows]

    return attack


def mixed(known: int, new: int, seed: int) -> Attack:
    """Certify on new rows, and on some training rows among them."""

    def attack(data: Data, X: Any, y: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
        rows, labels = data.draw(new, seed)
        chosen = np.random.default_rng(seed).permutation(ROWS)[:known]
        return data.join(rows, data.take(X, chosen)), np.concatenate([labels, y[chosen]])

    return attack


ATTACKS: dict[str, Attack] = {
    "as it is": lambda data, X, y: (X, y),
    "some rows": chosen_by(lambda generator: generator.permutation(ROWS)[:200], 1),
    "doubled": lambda data, X, y: (data.join(X, X), np.concatenate([y, y])),
    "bootstrapped": chosen_by(lambda generator: generator.integers(ROWS, size=ROWS), 2),
    "a half": mixed(300, 300, 78),
    "a tenth": mixed(60, 540, 77),
}


@pytest.fixture(scope="module", params=sorted(classifiers()))
def fitted(request: pytest.FixtureRequest) -> tuple[Any, Data, Any, NDArray[Any]]:
    name = request.param
    data = Data(name)
    X, y = data.draw(ROWS, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of too few rows, of no edge
        return make(name).fit(X, y), data, X, y


@pytest.mark.parametrize("attack", ATTACKS)
def test_training_rows_are_refused(fitted: Any, attack: str) -> None:
    model, data, X, y = fitted
    with pytest.raises(NotCertified, match="trained on"):
        certify(model, *ATTACKS[attack](data, X, y))


def test_new_rows_are_certified(fitted: Any) -> None:
    model, data, _, _ = fitted
    for seed in range(100, 105):
        assert certify(model, *data.draw(300, seed)).rows_checked


def test_pickles_remember(fitted: Any) -> None:
    model, data, X, y = fitted
    again = pickle.loads(pickle.dumps(model))
    with pytest.raises(NotCertified, match="trained on"):
        certify(again, X, y)
    assert certify(again, *data.draw(300, 100)).rows_checked


def test_files_remember(fitted: Any, tmp_path: Path) -> None:
    model, data, X, y = fitted
    if not hasattr(model, "save"):
        pytest.skip("it has no model file")
    model.save(path := tmp_path / "m.pacb")
    again = pacboost.load(path)
    with pytest.raises(NotCertified, match="trained on"):
        certify(again, X, y)
    assert certify(again, *data.draw(300, 100)).rows_checked
    model.save(path, remember_rows=False)
    found = certify(pacboost.load(path), X, y)
    assert found.claim.startswith("If these rows are new: ")


@pytest.mark.parametrize("wrap", ["pipeline", "frozen", "search", "calibrated", "voting"])
def test_wrappers_are_looked_through(fitted: Any, wrap: str) -> None:
    model, data, X, y = fitted
    if wrap == "pipeline":
        wrapped: Any = make_pipeline(FunctionTransformer(), model)
    elif wrap == "frozen":
        wrapped = FrozenEstimator(model)
    elif wrap == "search":
        wrapped = GridSearchCV(clone(model), {})
        wrapped.best_estimator_, wrapped.refit = model, True
    elif wrap == "calibrated":
        if data.texts or not hasattr(model, "predict_proba"):
            pytest.skip("scikit-learn does not calibrate it")
        other = data.draw(200, 5)
        wrapped = CalibratedClassifierCV(FrozenEstimator(model), cv=2).fit(*other)
    else:
        if data.texts:
            pytest.skip("scikit-learn votes on numbers")
        members = [("frozen", FrozenEstimator(model)), ("tree", DecisionTreeClassifier())]
        wrapped = VotingClassifier(members).fit(*data.draw(200, 5))
    with pytest.raises(NotCertified, match="trained on"):
        certify(wrapped, X, y)
    found = certify(wrapped, *data.draw(300, 100))
    # Calibration and voting learn from rows of their own, which nobody remembers.
    assert found.rows_checked == (wrap in ("pipeline", "frozen", "search"))


def coins(rows: int, seed: int, columns: int = 4) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    return generator.normal(size=(rows, columns)), generator.integers(2, size=rows)


@pytest.mark.parametrize(
    "wrapped",
    [
        make_pipeline(StandardScaler(), AdaBoostClassifier(n_estimators=5)),
        GridSearchCV(AdaBoostClassifier(n_estimators=5), {"learning_rate": [0.5, 1.0]}, cv=2),
        GridSearchCV(
            make_pipeline(StandardScaler(), AdaBoostClassifier(n_estimators=5)),
            {"adaboostclassifier__learning_rate": [0.5, 1.0]},
            cv=2,
        ),
        CalibratedClassifierCV(AdaBoostClassifier(n_estimators=5), cv=3),
        VotingClassifier([("a", AdaBoostClassifier(n_estimators=5)), ("b", LogisticRegression())]),
        BaggingClassifier(AdaBoostClassifier(n_estimators=3), 4, max_features=0.5, random_state=0),
        make_pipeline(StandardScaler(), BaggingClassifier(AdaBoostClassifier(n_estimators=3), 4)),
    ],
    ids=["pipeline", "search", "both", "calibrated", "voting", "bagging", "deep"],
)
def test_wrappers_that_scikit_learn_fits(wrapped: Any) -> None:
    X, y = coins(400, 1)
    wrapped = clone(wrapped).fit(X, y)
    with pytest.raises(NotCertified, match="trained on"):
        certify(wrapped, X, y)
    certify(wrapped, *coins(400, 2))


def test_frames_with_texts_and_other_names() -> None:
    """Columns that are called otherwise are refused, or are compared by what they hold."""
    X, y = coins(300, 1)
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    frame["kind"] = [f"k{int(10 * value)}" for value in X[:, 2]]
    model = AdaBoostClassifier(n_estimators=5).fit(frame, y)
    with pytest.raises(NotCertified, match="trained on"):
        certify(model, frame, y)
    renamed = frame.rename(columns={"a": "b", "b": "a"})
    with pytest.raises((NotCertified, ValueError)):
        certify(model, renamed, y)


@pytest.mark.parametrize("foreign", [LogisticRegression(), DecisionTreeClassifier(max_depth=3)])
def test_nobody_knows_what_other_models_have_seen(foreign: Any) -> None:
    X, y = coins(200, 1)
    found = certify(foreign.fit(X, y), *coins(200, 2))
    assert found.claim.startswith("If these rows are new: ")
    answered = certify_answers(foreign, *coins(200, 2), abstain_below=0.5)
    assert answered.certificate.claim.startswith("If these rows are new: ")
    assert str(answered).startswith("If these rows are new: ")


def test_answers_are_not_certified_on_training_rows() -> None:
    X, y = coins(300, 1)
    model = GridSearchCV(AdaBoostClassifier(n_estimators=5), {}, cv=2).fit(X, y)
    with pytest.raises(NotCertified, match="trained on"):
        certify_answers(model, X, y, abstain_below=0.5)


@several_runs(40, 300)
def test_coverage_where_rows_repeat_by_chance(runs: int) -> None:
    """Honest draws from a discrete domain are neither refused nor certified falsely."""
    delta, failed = 0.1, 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        X = generator.integers(3, size=(500, 4)).astype(np.float64)
        y = generator.integers(2, size=500)
        model = AdaBoostClassifier(n_estimators=3).fit(X[:300], y[:300])
        failed += certify(model, X[300:], y[300:], delta=delta).value < 0.5
    check_coverage("certify, coins on 81 different rows", failed, runs, delta)


def test_a_sample_of_a_large_training_set_is_enough(tmp_path: Path) -> None:
    """Of many training rows a model remembers some, by which it recognises rows that come back."""
    X, y = coins(30_000, 1, 8)
    model = AdaBoostClassifier(n_estimators=1).fit(X, y)
    model.save(path := tmp_path / "m.pacb")
    for own in (model, pacboost.load(path)):
        for share in (1.0, 0.5, 0.1):
            new, labels = coins(round(2000 * (1 - share)), 2, 8)
            old = round(2000 * share)
            rows, known = np.concatenate([new, X[:old]]), np.concatenate([labels, y[:old]])
            with pytest.raises(NotCertified, match="trained on"):
                certify(own, rows, known)
        assert certify(own, *coins(2000, 2, 8)).rows_checked


def test_few_rows_for_a_large_training_set_are_new_by_assumption() -> None:
    X, y = coins(60_000, 0)
    model = AdaBoostClassifier(n_estimators=1, random_state=0).fit(X, y)
    assert not certify(model, *coins(40, 1)).rows_checked
    assert certify(model, *coins(2000, 1)).rows_checked
