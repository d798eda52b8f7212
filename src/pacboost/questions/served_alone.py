"""Does a model answer a row alone as it does among others? If not, it is served as another model.

A pipeline that scales the rows of a call by their own mean, for instance, has other answers for
each batch. A certificate by one batch would say nothing of rows that come one by one.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import NotCertified
from pacboost.models.answers import asked
from pacboost.questions.answers import Answers
from pacboost.questions.inner_models import remembers
from pacboost.sources.dataframe import is_frame, open_frame

ROWS_ASKED_ALONE = 20
TOLERANCE = 1e-6
"""Relative difference of predicted numbers that rounding explains."""


def refuse_batches(model: object, X: object) -> None:
    """Raise if some rows have other predictions alone than together.

    Models of pacboost are tested for this, and answers that were given are not computed. What
    cannot be asked row by row is not judged: refusing is an alarm, and changes no count.
    """
    if remembers(model) or isinstance(model, Answers):
        return
    rows = _some_rows(X)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            together = asked(model, rows[0])
            alone = np.concatenate([asked(model, row) for row in rows[1:]])
    except Exception:  # what another library's model does with one row is not known
        return
    if together.shape == alone.shape and not _agree(together, alone).all():
        raise NotCertified(
            f"of {len(alone)} rows, {int((~_agree(together, alone)).sum())} have other predictions "
            "when they come alone: they depend on the other rows of the call, as if each batch "
            "were scaled by its own mean. Fit such steps on the training rows, and certify again"
        )


def _agree(together: NDArray[Any], alone: NDArray[Any]) -> NDArray[np.bool_]:
    if together.dtype.kind == "f" and alone.dtype.kind == "f":
        close = np.isclose(together, alone, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
        return np.asarray(close)
    return np.asarray(together == alone)


def _some_rows(X: Any) -> list[Any]:
    """Return some rows together, and then each of them alone; nothing for unusual tables."""
    frame = is_frame(X)
    table = open_frame(X) if frame else X
    if not (frame or isinstance(X, np.ndarray | list) or hasattr(X, "tocsr")):
        return []
    n_rows = len(table) if isinstance(table, list) else table.shape[0]
    places = np.unique(np.linspace(0, n_rows - 1, min(n_rows, ROWS_ASKED_ALONE)).astype(int))
    chosen = [places.tolist(), *([place] for place in places.tolist())]
    if isinstance(table, list):
        return [[table[place] for place in some] for some in chosen]
    return [table[some].to_native() if frame else table[some] for some in chosen]
