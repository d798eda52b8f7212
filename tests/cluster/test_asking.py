"""What is asked of a fitted model with Dask collections: predictions, and certificates."""

from __future__ import annotations

from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client

import pacboost
from pacboost.errors import DataError, ParameterError
from pacboost.questions import mistakes
from tests.estimators.filter_sources import noisy, small


def frame(rows: int, seed: int) -> pd.DataFrame:
    X, y = noisy(rows, seed)
    return pd.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y})


@pytest.fixture(scope="module")
def model() -> pacboost.FilterBoostClassifier:
    known = frame(3000, 0)
    return small().fit(known.drop(columns="y"), np.array(["no", "yes"])[known["y"]])


def test_predictions_are_lazy_and_equal(
    model: pacboost.FilterBoostClassifier, threads: Client
) -> None:
    rows = frame(900, 1).drop(columns="y")
    lazy = dd.from_pandas(rows, npartitions=3)
    for method in ("predict", "predict_proba", "decision_function"):
        answers = getattr(model, method)(lazy)
        assert hasattr(answers, "dask")
        with threads.as_current():
            computed = answers.compute()
        assert np.array_equal(np.asarray(computed), getattr(model, method)(rows))
        assert computed.index.equals(rows.index)
    none: Any = model.predict(lazy[lazy["x0"] > 99])
    assert len(none.compute()) == 0


def test_predictions_for_arrays() -> None:
    X, y = noisy(2000)
    model = small().fit(X, y)
    lazy = da.from_array(X, chunks=(300, 2))
    answers: Any = model.predict(lazy)
    assert np.array_equal(answers.compute(scheduler="sync"), model.predict(X))
    shares: Any = model.predict_proba(lazy)
    assert shares.shape == (2000, 2)
    assert np.array_equal(shares.compute(scheduler="sync"), model.predict_proba(X))
    with pytest.raises(TypeError, match="score takes rows in memory"):
        model.score(lazy, y)


def test_a_later_fit_does_not_change_lazy_predictions() -> None:
    X, y = noisy(500)
    model = small().fit(X, y)
    before = model.predict(X)
    lazy: Any = model.predict(da.from_array(X, chunks=(100, -1)))
    model.fit(X, 1 - y)
    assert np.array_equal(lazy.compute(scheduler="sync"), before)


def test_certify_a_data_frame(
    threads: Client, processes: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, new = frame(3000, 0), frame(1200, 5)
    model = small().fit(known.drop(columns="y"), known["y"])
    alone = pacboost.certify(model, new.drop(columns="y"), new["y"])
    lazy = dd.from_pandas(new, npartitions=4, sort=False)
    for client in (threads, processes):
        with client.as_current():
            assert pacboost.certify(model, lazy, target="y") == alone
    assert pacboost.certify(model, lazy.drop(columns="y"), lazy["y"]) == alone
    assert pacboost.certify(model, new, target="y") == alone
    monkeypatch.setattr(mistakes, "MOST_ROWS", 600)
    assert 500 < int(pacboost.certify(model, lazy, target="y").inputs["n"]) < 700
    with pytest.raises(pacboost.PacboostError, match="trained on"):
        pacboost.certify(model, dd.from_pandas(known, npartitions=2), target="y")


def test_what_certify_refuses(model: pacboost.FilterBoostClassifier) -> None:
    X, y = noisy(100)
    lazy = da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=50)
    with pytest.raises(ParameterError, match=r"groups=, ordered= and by= as an array cannot"):
        pacboost.certify(model, *lazy, groups=y)
    with pytest.raises(DataError, match="y is None"):
        pacboost.certify(model, X)
    with pytest.raises(ParameterError, match="X is no data frame"):
        pacboost.certify(model, X, target="y")
