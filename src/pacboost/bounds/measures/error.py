"""The error: the share of examples that are predicted wrongly."""

from __future__ import annotations

import numpy as np

from pacboost.bounds.measure import RateOfAll
from pacboost.bounds.scored_rows import Mask, ScoredRows


class Error(RateOfAll):
    """Share of examples that are predicted wrongly."""

    name = "error"
    aliases = ("accuracy", "error_rate", "zero_one_loss")
    words = "the classifier is wrong on {at} {value} of {new}"

    def event(self, rows: ScoredRows, _: object) -> tuple[Mask, Mask]:
        """Count mistakes among all rows."""
        every = np.ones(rows.size, dtype=np.bool_)
        return every, np.asarray(rows.predictions != rows.labels)
