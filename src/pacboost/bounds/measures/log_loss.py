"""The log loss, with probabilities clipped, since no rows bound the mean of an unbounded loss."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pacboost.bounds.measure import MeanLoss
from pacboost.bounds.scored_rows import Doubles, ScoredRows
from pacboost.errors import ParameterError
from pacboost.numerics.same_bits import log


@dataclass(frozen=True, eq=False)
class LogLoss(MeanLoss):
    """Mean log loss; probabilities below ``p_min`` count as ``p_min``, as the loss is unbounded."""

    p_min: float = 0.001

    name = "log_loss"
    aliases = ("cross_entropy", "neg_log_loss")
    words = "the mean log loss on {new}, with probabilities clipped at {p_min}, is {at} {value}"
    stated = ("p_min",)

    def __post_init__(self) -> None:
        if not isinstance(self.p_min, float) or not 0 < self.p_min < 0.5:
            raise ParameterError(f"p_min is {self.p_min!r}; it lies strictly between 0 and 0.5")

    def losses(self, rows: ScoredRows) -> tuple[Doubles, float]:
        """Return the logarithms of the probabilities of the true classes."""
        scale = math.log(1 / self.p_min)
        losses = 0.0 - log(rows.true_chances)  # a negation makes -0.0 of a certain answer
        return np.minimum(losses, scale) / scale, scale
