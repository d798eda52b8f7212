"""A small model of every kind that a file can hold, its file, and rows that it has to answer."""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import pacboost
from pacboost.errors import InputWarning
from pacboost.models import calibration
from pacboost.models.file.format import model_bytes
from pacboost.sources.levels import NO_LEVELS

ASKED = ["lost card", "top up failed", "my card is gone", "exchange rate today", "", "unknown"]
SAID = ["i lost my card", "how do i top up", "my card is gone", "what is the exchange rate"] * 10
PLAIN: dict[str, Any] = {**dict.fromkeys(("times", "beginning", "prefixes")), "l2": 1.0}
"""Options of the small models of words, whatever the defaults are."""


def numbers(count: int = 120) -> tuple[Any, Any]:
    generator = np.random.default_rng(5)
    X = generator.normal(size=(count, 3)).astype(np.float32).astype(np.float64)
    return X, X[:, 0] + X[:, 1] * X[:, 2]


def frame() -> pd.DataFrame:
    generator = np.random.default_rng(6)
    colour = generator.choice(["red", "green", "blue", "grey"], size=120)
    table = pd.DataFrame({"a": numbers()[0][:, 0], "colour": colour, "b": numbers()[0][:, 1]})
    table.loc[::5, "a"] = np.nan
    table.loc[::7, "colour"] = None
    return table


def told() -> pd.DataFrame:
    """What people said, with a category and a number."""
    return frame().assign(said=SAID * 3)[["said", "colour", "a"]]


def stumps() -> Any:
    X, score = numbers()
    return pacboost.AdaBoostClassifier(n_estimators=8, certify="holdout", random_state=0).fit(
        X, score > 0
    )


def trees() -> Any:
    score = numbers()[1]
    model = pacboost.BoostClassifier(n_estimators=5, calibrate="sigmoid", random_state=0)
    return model.fit(frame(), np.where(score > 0, "yes", "no"))


def many_classes() -> Any:
    y = np.digitize(numbers()[1], [-1, 0, 1])
    model = pacboost.BoostClassifier(
        "adaboost", n_estimators=4, calibrate="isotonic", validation_fraction=0.4, random_state=0
    )
    with patch.object(calibration, "ROWS_FOR_ISOTONIC", 0):
        return model.fit(frame(), y)


def several_labels() -> Any:
    score = numbers()[1]
    y = np.stack([score > 0, score > 1, score < -1], axis=1).astype(int)
    return pacboost.BoostClassifier("gentle", n_estimators=4, random_state=0).fit(frame(), y)


def regressor() -> Any:
    return pacboost.BoostRegressor(n_estimators=4, random_state=0).fit(*numbers())


def derived() -> Any:
    X, score = numbers(400)
    model = pacboost.BoostRegressor(n_estimators=100, max_leaves=4, random_state=0)
    return model.fit(X, score)


def patterns() -> Any:
    X, score = numbers()
    model = pacboost.BoostClassifier("graph_separation", "stump", n_estimators=5, random_state=0)
    return model.fit(X, score > 0)


def three() -> Any:
    X, score = numbers(500)
    return pacboost.theory.ThreeLearnerBoost("stump", random_state=0).fit(X, score > 0)


def majority() -> Any:
    X, score = numbers(500)
    return pacboost.theory.MajorityOfBoosters(n_estimators=3, random_state=0).fit(X, score > 0)


def filtered() -> Any:
    X, score = numbers()
    model = pacboost.FilterBoostClassifier(n_estimators=4, sample_rows=60, random_state=0)
    rows = np.tile(X, (9, 1))
    rows += 1e-3 * np.random.default_rng(0).normal(size=rows.shape)  # copies are not certified
    return model.fit(rows, np.tile(score > 0, 9))


def words() -> Any:
    y = ["lost", "top-up", "lost", "rate"] * 10
    return pacboost.TextBoostClassifier(n_estimators=4, random_state=0, **PLAIN).fit(SAID, y)


def letters() -> Any:
    y = ["lost", "top-up", "lost", "rate"] * 50
    options: dict[str, Any] = {"skips": 1, "characters": (3, 3), "calibrate": "temperature"}
    model = pacboost.TextBoostClassifier(n_estimators=3, random_state=0, **options, **PLAIN)
    return model.fit(SAID * 5, y)


def labelled_words() -> Any:
    y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]] * 10)
    return pacboost.TextBoostClassifier(n_estimators=3, random_state=0, **PLAIN).fit(SAID, y)


def mixed() -> Any:
    y = ["lost", "top-up", "lost", "rate"] * 30
    options: dict[str, Any] = {"text_columns": ["said"], "certify": "holdout"}
    model = pacboost.TextBoostClassifier(n_estimators=3, random_state=0, **options, **PLAIN)
    with pytest.warns(InputWarning, match="equal rows"):
        return model.fit(told(), y)


def forest() -> Any:
    X, score = numbers()
    model = pacboost.RandomForestClassifier(4, certify="holdout", random_state=0)
    return model.fit(X, score > 0)


def forest_of_classes() -> Any:
    y = np.digitize(numbers()[1], [-1, 0, 1])
    return pacboost.ExtraTreesClassifier(3, random_state=0).fit(frame(), y)


def forest_of_numbers() -> Any:
    return pacboost.RandomForestRegressor(3, random_state=0).fit(*numbers())


def threshold() -> Any:
    X, score = numbers(400)
    model = pacboost.AdaBoostClassifier(n_estimators=4).fit(X[:200], score[:200] > 0)
    return pacboost.choose_threshold(model, X[200:], score[200:] > 0, positive=True, recall=0.6)


def sets() -> Any:
    X, score = numbers(400)
    model = pacboost.AdaBoostClassifier(n_estimators=4).fit(X[:200], score[:200] > 0)
    return pacboost.sets(model, X[200:], score[200:] > 0, coverage=0.7, by_class=True)


def intervals() -> Any:
    X, score = numbers(400)
    model = pacboost.BoostRegressor(n_estimators=2, random_state=0).fit(X[:200], score[:200])
    return pacboost.intervals(model, X[200:], score[200:], coverage=0.7)


KINDS: dict[str, Callable[[], Any]] = {
    made.__name__: made
    for made in (
        stumps, trees, many_classes, several_labels, regressor, derived, patterns, three, majority,
        filtered, words, letters, labelled_words, mixed, forest, forest_of_classes,
        forest_of_numbers,
    )
}  # fmt: skip
DECISIONS: dict[str, Callable[[], Any]] = {
    make.__name__: make for make in (threshold, sets, intervals)
}
"""Models with a threshold, sets or intervals, which their files hold, too."""


def rows(kind: str) -> Any:
    """Rows to ask a model of a kind: missing and extreme values and unseen levels among them."""
    if kind in ("words", "letters", "labelled_words"):
        return ASKED
    if kind == "mixed":
        return told().iloc[:12]
    if kind in ("trees", "many_classes", "several_labels", "forest_of_classes"):
        own = frame().iloc[:12].copy()
        own.loc[3, "a"], own.loc[4, "colour"] = 1e30, "violet"
        return own
    X = numbers()[0][:12].copy()
    X[3], X[4, 0] = 1e30, -1e300
    if kind in ("stumps", "patterns", "regressor", "forest_of_numbers"):
        X[5] = np.nan
    return X


def answers(model: Any, kind: str) -> dict[str, Any]:
    """What a model says of the rows, to the last bit."""
    said: dict[str, Any] = {"predict": model.predict(rows(kind)).tolist()}
    if hasattr(model, "predict_proba"):
        chances = np.asarray(model.predict_proba(rows(kind)), dtype=np.float64)
        said["chances"] = [float(p).hex() for p in chances.ravel()]
    return said


def comes_back(model: Any, folder: Path) -> Any:
    """Save a model, load it, compare all that does not need rows, and return what was loaded."""
    path, again = folder / "one", folder / "two"
    model.save(path)
    back = pacboost.load(path)
    back.save(again)
    assert again.read_bytes() == path.read_bytes()
    assert model_bytes(back.model_) == model_bytes(model.model_)
    assert back.model_.certificate == model.model_.certificate
    assert back.levels_ == getattr(model, "levels_", NO_LEVELS)
    assert back.feature_importances_.tolist() == model.feature_importances_.tolist()
    if hasattr(model, "ledger_"):
        assert back.ledger_ == model.ledger_
        assert back.rules() == model.rules()
    return back


@cache
def saved(kind: str) -> Path:
    """Write the file of a model of a kind, once a process."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / f"{kind}.pacb"
    (KINDS | DECISIONS)[kind]().save(path)
    return path
