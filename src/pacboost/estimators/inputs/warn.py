"""Warnings of estimators, each shown at the user's line that called the estimator."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

from numpy.typing import NDArray

from pacboost.errors import DenseWarning, OneClassWarning
from pacboost.sources import explained_errors
from pacboost.sources.table import Table

OURS = (
    *(str(Path(__file__).parents[2] / room) for room in ("estimators", "theory")),
    explained_errors.__file__,
)
"""Lines in these places are not the user's."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line outside of the estimators."""
    frame: FrameType | None = sys._getframe()
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(OURS):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_of_one_class(classes: NDArray[Any], *, certified: bool = True) -> None:
    """Warn if there is one class only; where that leaves nothing to certify, say so, too."""
    if classes.size == 1:
        lacks = "" if certified else " and not certified"
        warn(
            f"y holds one class only ({classes.tolist()[0]!r}); the classifier is constant{lacks}",
            OneClassWarning,
        )


def warn_of_dense(table: Table) -> None:
    """Warn that a sparse table is held dense to be learned from."""
    warn(
        f"the sparse {table.n_rows} x {table.n_columns} matrix is held dense: one byte a cell "
        "where codes are read (two above 255 bins), eight elsewhere. BoostClassifier, "
        "AdaBoostClassifier and BoostRegressor keep it sparse for stumps and trees on numbers",
        DenseWarning,
    )
