"""Check that a model predicts a row alone as it does among others.

A pipeline that scales the rows of a call by their own mean, for instance, has other answers for
each batch. A certificate by one batch would say nothing about rows that come one by one.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pacboost.errors import NotCertified
from pacboost.models.answers import asked
from pacboost.questions.answers import Answers
from pacboost.questions.inner_models import remembers
from pacboost.sources.rows import PlainRows, Rows

ROWS_ASKED_ALONE = 20
SCORES_ASKED_ALONE = 5
"""A batch moves nearly every score, but few predictions. A call for one row takes about 1 ms."""
TOLERANCE = 1e-6
"""Difference of predicted numbers that rounding explains, 64 times as large for 32-bit floats."""


def refuse_batches(model: object, X: object) -> None:
    """Raise if some rows have other predictions alone than together.

    Models of pacboost have tests for this, and given answers are not computed. A model that cannot
    be asked row by row is not checked: raising is an alarm, and changes no count.
    """
    if remembers(model) or isinstance(model, Answers):
        return
    # A step that scales a batch by its own mean gives each row another answer in use than in the
    # certificate; such a model is refused, which changes no count.
    rows = _some_rows(X)
    scores = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    for method, most in (("predict", ROWS_ASKED_ALONE), (scores, SCORES_ASKED_ALONE)):
        some = rows[: 1 + most]
        if some and hasattr(model, method) and (other := _other_answers(model, some, method)):
            raise NotCertified(
                f"of {len(some) - 1} rows, {other} have other answers by {method} when they come "
                "alone: they depend on the other rows of the call, as if each batch were scaled by "
                "its own mean. Fit such steps on the training rows, and certify again"
            )


def _other_answers(model: object, rows: list[Any], method: str) -> int:
    """Count the rows for which a method returns something else when they come alone."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            together = asked(model, rows[0], method)[: len(rows) - 1]
            alone = np.concatenate([asked(model, row, method) for row in rows[1:]])
    except Exception:  # what another library's model does with one row is not known
        return 0
    if together.shape != alone.shape:
        return 0
    if together.dtype.kind == "f" and alone.dtype.kind == "f":
        slack = TOLERANCE * max(1.0, 2**29 * np.finfo(alone.dtype).eps)
        same = np.isclose(together, alone, rtol=slack, atol=slack, equal_nan=True)
    else:
        same = np.asarray(together == alone)
    return int(np.count_nonzero(~same.reshape(len(alone), -1).all(axis=1)))


def _some_rows(X: Any) -> list[Any]:
    """Return some rows together, and each of them alone; nothing for unusual tables."""
    rows = Rows.of(X)
    if isinstance(rows, PlainRows) and not isinstance(X, np.ndarray | list):
        return []
    n_rows = rows.count
    places = np.unique(np.linspace(0, n_rows - 1, min(n_rows, ROWS_ASKED_ALONE)).astype(int))
    chosen = [places, *(places[k : k + 1] for k in range(places.size))]
    return [rows.take(some).given for some in chosen]
