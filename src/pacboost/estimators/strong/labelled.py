"""All rows that StrongClassifier was given, with their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.fit.roles import Rows
from pacboost.sources.table import Table


@dataclass(frozen=True, eq=False)
class LabelledData:
    """All rows, texts or a table, with their labels, and weights in training if they differ."""

    rows: Any
    labels: NDArray[Any]
    weights: NDArray[np.float64] | None = None

    def take(self, rows: Rows) -> Any:
        """Return some of the rows without their labels."""
        if isinstance(self.rows, list):
            return [self.rows[i] for i in rows]
        return self.rows.take(rows)

    def weights_of(self, rows: Rows) -> NDArray[np.float64] | None:
        """Return the weights of some of the rows."""
        return None if self.weights is None else self.weights[rows]

    @property
    def are_texts(self) -> bool:
        """Whether cells are read as texts."""
        return not isinstance(self.rows, Table)
