"""The share of examples whose class is not among the k most probable ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pacboost.bounds.measure import RateOfAll
from pacboost.bounds.scored_rows import Mask, ScoredRows
from pacboost.errors import invalid


@dataclass(frozen=True, eq=False)
class TopKError(RateOfAll):
    """Share of examples whose class is not among the k most probable ones."""

    top_k: int = 5

    name = "top_k_error"
    aliases = ("top_k_accuracy", "top_k_accuracy_score")
    words = "the true class is not among the {top_k} most probable ones for {at} {value} of {new}"
    stated = ("top_k",)

    def event(self, rows: ScoredRows, _: object) -> tuple[Mask, Mask]:
        """Count rows whose class is not among the first ones; ties count against it."""
        k, largest = self.top_k, rows.classes.size - 1
        if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= largest:
            allowed = f"is a whole number from 1 to {largest}, with {rows.classes.size} classes"
            raise invalid("top_k", k, allowed)
        before = (rows.chances >= rows.true_chances[:, None]).sum(axis=1) - 1
        outside = np.asarray((before >= k) | (rows.places < 0))
        return np.ones(rows.size, dtype=np.bool_), outside
