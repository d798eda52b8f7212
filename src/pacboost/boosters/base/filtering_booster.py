"""Boosters whose weights are probabilities, so that they need no stored sample.

Draw an example, and keep it with a probability equal to its weight: the examples that are kept are
a sample of D_t (the ``Filter`` of lecture 003). This needs weights that lie in [0, 1] for any rules
and that follow from the example and the vote alone. Then the mean weight μ is the share of examples
that are kept, and if every row on which the vote is wrong or tied weighs at least 1/k,

    error ≤ k·μ,       D_t ≤ D/μ.

Both hold for any learner; only the number of rounds that it takes to lower μ depends on its edge.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.base.booster import Booster, S
from pacboost.errors import ParameterError
from pacboost.numerics.same_bits import exp
from pacboost.samples.sample import Signs

Floats = NDArray[np.float64]


class FilteringBooster(Booster[S]):
    """A booster whose weights are probabilities, so that examples can be drawn by them."""

    error_factor: ClassVar[float] = 1.0
    by_path: ClassVar[bool] = False
    """Whether weights depend on the whole path of a row's margin, not only on its last value."""
    rows_worth_a_thread: ClassVar[int] = 1
    """For fewer rows of two classes, ``chances`` takes less time than waking another thread."""

    @property
    def rate(self) -> float:
        """The vote of every rule, if ``by_path``: the value of a cell divided by it is h(x)."""
        return 1.0

    @abstractmethod
    def chances(self, margins: Floats, rounds: int, signs: Signs | None = None) -> Floats:
        """Give each row's probability to be kept, from its margins y·F(x) after so many rounds.

        Margins are (rows,) or (rows, outputs). Of several outputs the one that weighs most
        decides, so that none of a row's weights exceeds the chance that the row is there. ``signs``
        are those in the margins; only a softmax over more than two classes needs them.
        """

    def first_chance(self, outputs: int) -> float:
        """Give the weight of every row before the first round."""
        signs = np.ones((1, outputs), dtype=np.int8)
        signs[0, 1:] = -1
        if self.by_path:
            return float(exp(self.start((1, outputs)).max(keepdims=True)).item())
        return float(self.chances(np.zeros((1, outputs)), 0, signs).max())

    def coin_below(self, rounds: int) -> float:
        """Give the mean weight below which any rule will do for the next round; 0 for never."""
        return 0.0

    def start(self, shape: tuple[int, ...]) -> Floats:
        """Give the log weights of rows before the first round, where ``follow`` starts."""
        return np.zeros(shape)

    def follow(
        self, log_weights: Floats, agree: NDArray[np.number[Any]], memory: Sequence[float]
    ) -> Floats:
        """Give the log weights after one more round from those before it, if ``by_path``.

        ``agree`` holds y·h(x), for cells y·value/rate; ``memory`` is what the booster's ``memory``
        said after that round, and stands in the ledger.
        """
        raise ParameterError(f"{self.name} weighs rows by their margins: call chances")

    def continue_on_other_rows(
        self, state: S, margins: Floats, votes: Sequence[float], log_weights: Floats | None = None
    ) -> S:
        """Turn a fresh state into one for rows that earlier rounds were not trained on.

        Their margins are known, and if ``by_path`` their log weights ``log_weights``: ``resume``
        without a record of these rows.
        """
        return self.resume(state, margins, votes, [])

    def most_rounds(self, edge: float, epsilon: float) -> float:
        """Bound the rounds of edge ``edge`` or more until the error must be below ``epsilon``.

        Infinite where no theorem says so. For two classes.
        """
        return math.inf


def heaviest(chances: Floats) -> Floats:
    """Give one probability for each row: the largest of its outputs."""
    return chances if chances.ndim == 1 else chances.max(axis=1)
