"""Warnings of estimators, each shown at the user's line that called the estimator."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from pacboost.errors import DenseWarning, OneClassWarning, warn
from pacboost.sources.table import Table


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
