"""The mean absolute error of a regressor, clipped, since one error may be arbitrarily large."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pacboost.bounds.measure import MeanLoss
from pacboost.bounds.scored_rows import Doubles, ScoredRows
from pacboost.numerics.checks import check_limit


@dataclass(frozen=True, eq=False)
class AbsoluteError(MeanLoss):
    """Mean absolute error of a regressor; errors above ``clip``, fixed beforehand, count as it."""

    clip: float

    name = "absolute_error"
    aliases = ("mae", "mean_absolute_error")
    words = (
        "the mean absolute error on {new}, with errors above {scale} counted as {scale}, is {at} "
        "{value}"
    )
    of_numbers = True
    needs = "a largest error that counts"
    call = "measures.absolute_error(clip=120)"

    def __post_init__(self) -> None:
        check_limit("clip", self.clip)

    def losses(self, rows: ScoredRows) -> tuple[Doubles, float]:
        """Return the error of each row, clipped."""
        return np.minimum(rows.residuals, self.clip) / self.clip, self.clip
