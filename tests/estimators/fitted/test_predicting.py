"""Rows are asked once what they are: a prediction hands them through few functions."""

import sys
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pacboost import BoostClassifier
from pacboost.estimators.inputs.rows import takes_rows
from pacboost.sources.dataframe import is_frame

MAX_STAYS = 15
"""The largest number of calls of ours that get the rows themselves."""
PLAIN = pd.DataFrame(np.random.default_rng(0).random((60, 2)), columns=["a", "b"])
DAYS = PLAIN.assign(day=pd.date_range("2024-01-01", periods=60), town=["Ulm", "Hof"] * 30)
LABELS = PLAIN["a"] > 0.5


def stays(model: Any, X: Any) -> list[str]:
    """Return the calls of ours that get X itself, or a tuple with it, while a model predicts."""
    calls = list[str]()

    def look(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or "pacboost" not in code.co_filename:
            return
        # f_locals holds only the arguments when a call begins
        values = frame.f_locals.values()
        inside = (v for value in values if isinstance(value, tuple) for v in value)
        if any(value is X for value in (*values, *inside)):
            calls.append(code.co_qualname)

    sys.setprofile(look)
    try:
        model.predict(X)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("X", [PLAIN.to_numpy(), PLAIN, DAYS, pl.DataFrame(DAYS)])
def test_rows_pass_through_few_functions(X: Any) -> None:
    model = BoostClassifier("adaboost", n_estimators=2).fit(X, LABELS)
    calls = stays(model, X)
    assert takes_rows.__name__ in calls[0]
    assert len(calls) <= MAX_STAYS, calls
    assert calls.count(is_frame.__name__) == (0 if isinstance(X, np.ndarray) else 1)
