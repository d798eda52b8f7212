"""How well a vote ranks labels: for several labels a row, and for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.vote import Scores
from pacboost.kernels.threads import using
from pacboost.models import ranking
from pacboost.models.model import Model
from pacboost.samples.sample import Sample


class RankingMixin:
    """What a fitted vote can tell of how it orders labels."""

    model_: Model
    classes_: NDArray[Any]
    n_jobs: int | None

    if TYPE_CHECKING:  # what the classifier brings along

        def _labelled(self, X: Any, y: Any) -> Sample: ...

        def _decide(self, scores: Scores) -> NDArray[Any]: ...

    def ranking(self, X: Any, y: Any) -> ranking.Ranking:
        """Measure by the labels of rows how well they are ranked: Hamming loss, one-error and more.

        With one label a row the one-error is the error, ties counted as wrong.
        """
        sample = self._labelled(X, y)
        with using(self.n_jobs):
            scores = self.model_.vote.scores(sample.table)
        decided, right = self._decide(scores), sample.signs > 0
        scores = scores.reshape(sample.n_rows, -1)
        if self.classes_.size == 2 and decided.ndim == 1:  # one score speaks for the second class
            scores, right = np.hstack([-scores, scores]), np.hstack([~right, right])
        said = decided > 0 if decided.ndim == 2 else decided[:, None] == self.classes_
        return ranking.ranking(scores, right, said)
