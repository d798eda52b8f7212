"""Odd cells, tables, labels and weights, and estimators to give them to."""

import datetime
import decimal
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.exceptions import NotFittedError

import pacboost
from pacboost.errors import PacboostError

N = 60
RNG = np.random.default_rng(0)
GOOD = RNG.normal(size=(N, 3))
LABELS = (GOOD[:, 0] > 0).astype(int)
MAKERS: dict[str, Callable[[], Any]] = {
    "boost": lambda: pacboost.BoostClassifier(n_estimators=2),
    "held out": lambda: pacboost.AdaBoostClassifier(
        n_estimators=2, certify="holdout", random_state=0
    ),
    "by majority": lambda: pacboost.theory.BoostByMajority(edge=0.4, epsilon=0.4, n_estimators=2),
    "regressor": lambda: pacboost.BoostRegressor(n_estimators=2, random_state=0),
    "forest": lambda: pacboost.RandomForestClassifier(2, random_state=0),
    "out of bag": lambda: pacboost.RandomForestClassifier(2, certify="oob", random_state=0),
    "numbers": lambda: pacboost.ExtraTreesRegressor(2, random_state=0),
    "bagging": lambda: pacboost.BaggingClassifier(n_estimators=2, random_state=0),
    "filter": lambda: pacboost.FilterBoostClassifier(n_estimators=2, random_state=0),
    "rectangle": pacboost.theory.RectangleClassifier,
    "version space": pacboost.theory.VersionSpaceClassifier,
    "text": lambda: pacboost.TextBoostClassifier(n_estimators=2),
    "majority": lambda: pacboost.theory.MajorityOfBoosters(n_estimators=2, random_state=0),
    "bagged": lambda: pacboost.theory.BaggedBoost(n_estimators=2, n_bags=3, random_state=0),
    "three": lambda: pacboost.theory.ThreeLearnerBoost("stump", random_state=0),
    "strong": lambda: pacboost.StrongClassifier(n_estimators=2, random_state=0),
}
CELLS: list[Any] = [
    pd.NA, pd.NaT, np.datetime64("NaT", "D"), np.datetime64("2020-01-01"),
    datetime.date(2020, 1, 1), datetime.timedelta(1), pd.Timestamp("2020"),
    decimal.Decimal("1.5"), decimal.Decimal("sNaN"),
    {"a": 1}, [1, 2], (1,), {1}, 10**400, -(10**400), 2**70, 1j, b"a", object(), len, int, ...,
    np.zeros(2), None, True, "", "x", "1.5", "\ud800", "\x1b[31m", float("nan"),
    float("inf"), 1e308, 2**63, "a\0", "{:>1500000000}",
]  # fmt: skip
WHOLE: dict[str, Any] = {
    "0-d": np.array(1.0),
    "1-d": GOOD[:, 0],
    "3-d": GOOD.reshape(N, 3, 1),
    "complex": GOOD.astype(complex),
    "no rows": np.zeros((0, 3)),
    "no columns": np.zeros((N, 0)),
    "None": None,
    "a word": "hello",
    "a number": 3,
    "a dict": {"a": [1, 2]},
    "ragged": [[1, 2, 3], [1, 2]] * (N // 2),
    "nested": [[[1], [2], [3]]] * N,
    "a set": {1, 2},
    "records": np.zeros(N, dtype=[("a", float), ("b", int)]),
    "bytes": np.full((N, 2), b"a"),
    "dates": np.full((N, 2), np.datetime64("2020-01-01")),
    "names twice": pd.DataFrame(GOOD, columns=["a", "a", "b"]),
    "a broken name": pd.DataFrame(GOOD, columns=pd.Index(["\ud800", "a", "b"], dtype=object)),
    "mixed names": pd.DataFrame(GOOD, columns=[1, "a", None]),
    "intervals": pd.DataFrame({"a": GOOD[:, 0], "b": pd.interval_range(0, N)}),
    "complex frame": pd.DataFrame(GOOD.astype(complex)),
    "lists in polars": pl.DataFrame({"a": GOOD[:, 0], "b": [[1, 2]] * N}),
    "structs in polars": pl.DataFrame({"a": GOOD[:, 0], "b": [{"x": 1}] * N}),
    "objects in polars": pl.DataFrame(
        {"a": GOOD[:, 0], "b": pl.Series([len] * N, dtype=pl.Object)}
    ),
    "complex sparse": sparse.csr_matrix(GOOD.astype(complex)),
    "1-d sparse": sparse.coo_array(GOOD[:, 0]),
    "sparse indices outside": sparse.csr_array(GOOD),
    "masked": np.ma.masked_array(GOOD, GOOD > 1),
}
WHOLE["sparse indices outside"].indices[5] = 10**8
WEIGHTS: list[Any] = [
    "a", ["a"] * N, {"a": 1}, np.ones(N, complex), np.ones(N - 1), np.ones((N, 2)), -np.ones(N),
    [10**400] * N, [None] * N, [pd.NA] * N, [{}] * N, object(), {1, 2}, iter([1.0] * N), [],
    sparse.csr_matrix(np.ones((N, 1))), np.r_[1e15, np.ones(N - 1)],
    np.full(N, np.datetime64("2020")), [[1], [1, 2]] * (N // 2),
]  # fmt: skip


def raises_only_ours(use: Callable[[], object]) -> None:
    """Let a use succeed or raise an error of pacboost; all others fail the test."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            use()
        except (PacboostError, NotFittedError):
            return
