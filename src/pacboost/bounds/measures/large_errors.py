"""The share of examples for which a regressor is off by more than a limit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pacboost.bounds.measure import RateOfAll
from pacboost.bounds.scored_rows import Mask, ScoredRows
from pacboost.numerics.checks import check_limit


@dataclass(frozen=True, eq=False)
class LargeErrors(RateOfAll):
    """Share of examples for which a regressor is off by more than a limit, fixed beforehand."""

    larger_than: float

    name = "large_errors"
    words = "the prediction is off by more than {larger_than} for {at} {value} of {new}"
    of_numbers = True
    needs = "the size from which an error is large"
    call = "measures.large_errors(larger_than=50)"
    stated = ("larger_than",)

    def __post_init__(self) -> None:
        check_limit("larger_than", self.larger_than)

    def event(self, rows: ScoredRows, _: object) -> tuple[Mask, Mask]:
        """Count rows that are off by more than the limit."""
        return np.ones(rows.size, dtype=np.bool_), rows.residuals > self.larger_than
