"""The Brier score: the mean squared difference between probabilities and the true class."""

from __future__ import annotations

import numpy as np

from pacboost.bounds.measure import MeanLoss
from pacboost.bounds.scored_rows import Doubles, ScoredRows
from pacboost.numerics.same_bits import row_totals


class Brier(MeanLoss):
    """Mean squared difference between probabilities and the true class."""

    name = "brier"
    aliases = ("brier_score", "brier_score_loss")
    words = "the mean Brier score on {new} is {at} {value}"

    def losses(self, rows: ScoredRows) -> tuple[Doubles, float]:
        """Return the score of each row; with more than two classes it is at most 2."""
        if rows.classes.size <= 2:
            return (1 - rows.true_chances) ** 2, 1.0
        indicators = np.zeros_like(rows.chances)
        is_known = rows.places >= 0
        indicators[np.flatnonzero(is_known), rows.places[is_known]] = 1.0
        squares = row_totals((rows.chances - indicators) ** 2)
        return np.where(is_known, np.minimum(squares, 2.0), 2.0) / 2, 2.0
