"""compare: the same rows for all, every kind of input, and failures that stop nobody else."""

import os
import signal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from pacboost import AdaBoostClassifier, BoostClassifier, BoostRegressor
from pacboost.boosters.registry import BOOSTERS
from pacboost.errors import PacboostError, ParameterError
from pacboost.estimators.compare import compare
from pacboost.models.file.format import model_bytes
from pacboost.questions.compare import Comparison
from pacboost.sources.arrays import ArrayTable
from tests.worlds import noisy

Rows = NDArray[np.float64]


def data(rows: int = 400) -> tuple[Rows, NDArray[Any]]:
    X, signs = noisy(rows, 4, seed=5)
    return X, np.where(signs > 0, "yes", "no")


def without_seconds(found: Comparison) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = found.to_dict()["boosters"]
    return [{**entry, "seconds": None} for entry in content]


def test_all_learn_from_the_same_rows_and_are_tested_on_the_others() -> None:
    X, y = data()
    found = compare(X, y, ["adaboost", "logit"], "stump", n_estimators=15, random_state=7)
    assert (found.train_rows, found.test_rows, found.learner) == (300, 100, "stump")
    one, other = found["adaboost"].model, found["logit"].model
    assert one.ledger_.rows == other.ledger_.rows == 300
    # The rows that were set apart are those on which the errors were counted.
    seed = np.random.RandomState(7).randint(2**31)
    order = np.random.default_rng(seed).permutation(400)
    held, kept = np.sort(order[:100]), np.sort(order[100:])
    for entry in found:
        assert entry.test_error == entry.model.mistakes(X[held], y[held]).mean()
        assert entry.training_error == entry.model.mistakes(X[kept], y[kept]).mean()
        assert entry.least_margin == entry.model.margins(X[kept], y[kept]).min()
    alone = BoostClassifier("logit", "stump", 15, random_state=int(seed)).fit(X[kept], y[kept])
    assert model_bytes(other.model_) == model_bytes(alone.model_)


@pytest.mark.parametrize("classes", [2, 3])
def test_every_name_is_compared_or_says_why_not(classes: int) -> None:
    X, y = data(200)
    y = y if classes == 2 else np.where(X[:, 3] > 0.5, "maybe", y)
    found = compare(X, y, "all", "stump", n_estimators=8)
    assert [entry.name for entry in found] == list(BOOSTERS)
    for entry in found:
        if entry.failed:
            assert classes == 3
            assert "two classes" in entry.stopped
            continue
        assert entry.rounds is not None
        assert entry.rounds <= 8
        assert entry.training_error is not None
        assert entry.bound is not None
        assert entry.training_error <= entry.bound
        assert entry.stopped


def test_every_kind_of_rows() -> None:
    X, y = data(300)
    frame = pd.DataFrame(X, columns=list("abcd"))
    forms = [frame, pl.from_pandas(frame), pa.table(frame), X.tolist(), ArrayTable(X)]
    expected = without_seconds(compare(X, y, "adaboost,logit", "tree", n_estimators=4))
    for form in forms:
        found = compare(form, pd.Series(y), "adaboost,logit", "tree", n_estimators=4)
        assert without_seconds(found) == expected
    found = compare(sparse.csc_array(X), y, "adaboost,logit", "tree", n_estimators=4)
    assert without_seconds(found) == expected
    found = compare(sparse.csc_array(X), y, "adaboost", GaussianNB(), n_estimators=4)
    assert "converted to a dense one" in found["adaboost"].notes[0]


def test_estimators_bring_their_own_learner_and_are_not_touched() -> None:
    X, y = data()
    mine = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), 6, random_state=0)
    found = compare(X, y, {"mine": mine, "line": LogisticRegression()}, "stump")
    assert not hasattr(mine, "model_")
    assert found["mine"].rounds == 6
    assert found["line"].rounds is None
    assert found["line"].bound is None
    assert found["line"].test_error is not None


def test_one_that_fails_says_why_and_the_others_go_on() -> None:
    X, y = data(200)
    X[3, 2] = np.nan
    found = compare(X, y, ["adaboost", LogisticRegression(), "mada"], "stump", n_estimators=3)
    assert [entry.failed for entry in found] == [False, True, False]
    assert found["LogisticRegression()"].stopped.startswith("ValueError: Input X contains NaN")
    assert found["LogisticRegression()"].worse is None
    assert "failed" in str(found)
    several = np.column_stack([y == "yes", X[:, 0] > 0]).astype(int)
    found = compare(X, several, "adaboost,logit", "stump", n_estimators=3)
    assert not found["logit"].failed
    assert "of labels" in found["adaboost"].notes[0]


def test_all_that_fail_are_an_error() -> None:
    X, y = data(100)

    def broken(X: Rows, y: Any, weights: Any) -> Any:
        raise RuntimeError("out of order")

    with pytest.raises(PacboostError, match=r"adaboost: .*raised RuntimeError"):
        compare(X, y, "adaboost,logit", broken)
    numbers = BoostRegressor(n_estimators=2, random_state=0)
    with pytest.raises(PacboostError, match="every booster failed"):
        compare(X, X[:, 0] > 0, [numbers], "stump")


def test_rows_of_ones_own_and_none() -> None:
    X, y = data()
    own = compare(X[:250], y[:250], "adaboost", "stump", test=(X[250:], y[250:]), n_estimators=4)
    assert (own.train_rows, own.test_rows) == (250, 150)
    entry = own["adaboost"]
    assert entry.test_error == entry.model.mistakes(X[250:], y[250:]).mean()
    none = compare(X, y, "adaboost", "stump", test=None, n_estimators=4)
    assert (none.train_rows, none.test_rows) == (400, 0)
    assert none["adaboost"].test_error is none["adaboost"].worse is None


def test_rows_that_were_learned_from_are_no_test() -> None:
    X, y = data(100)
    with pytest.raises(PacboostError, match="20 of 20 rows"):
        compare(X, y, "adaboost", "stump", test=(X[:20], y[:20]), n_estimators=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"boosters": "adaboost,nonsense"}, "booster is 'nonsense'; it may be 'adaboost'"),
        ({"boosters": []}, "no boosters"),
        ({"boosters": [AdaBoostClassifier]}, "booster is <class"),
        ({"test": 1.5}, "test is 1.5"),
        ({"test": 0.001}, "at least 1 sample on both sides"),
        ({"test": (1, 2, 3)}, "test holds 3"),
        ({"share": 2}, "share is 2"),
    ],
)
def test_bad_parameters_are_refused_before_the_work(options: dict[str, Any], message: str) -> None:
    X, y = data(100)
    given = {"boosters": "adaboost", "learner": "stump", "X": X, "y": y, **options}
    with pytest.raises(ParameterError, match=message):
        compare(**given)


def test_ctrl_c_carries_the_comparison_of_what_is_done() -> None:
    X, y = data(100)
    whole = compare(X, y, "adaboost,logit,mada", "stump", n_estimators=5)
    calls = []

    def interrupt(entry: Any) -> None:
        calls.append(entry)
        if len(calls) == 12:  # in the second round of the third
            os.kill(os.getpid(), signal.SIGINT)

    options: dict[str, Any] = {"n_estimators": 5, "callbacks": [interrupt]}
    with pytest.raises(KeyboardInterrupt) as caught:
        compare(X, y, "adaboost,logit,mada", "stump", **options)
    found = caught.value.comparison  # type: ignore[attr-defined]
    assert without_seconds(found) == without_seconds(whole)[:2]  # intervals are for all three
    (note,) = caught.value.__notes__
    assert "(adaboost, logit)" in note


def test_ctrl_c_before_any_is_done_carries_nothing() -> None:
    X, y = data(100)
    options: dict[str, Any] = {"callbacks": [lambda entry: os.kill(os.getpid(), signal.SIGINT)]}
    with pytest.raises(KeyboardInterrupt) as caught:
        compare(X, y, "adaboost,logit", "stump", **options)
    assert not hasattr(caught.value, "comparison")
    assert not caught.value.__notes__  # nothing is kept that one could go on with
