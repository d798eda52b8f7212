"""A world that is weakly learnable under the uniform distribution, and under it only.

Lecture 004 tells of the importance of the distribution-free assumption: weak learning under every
distribution is as good as strong learning, weak learning under the uniform one is not (Kearns and
Valiant 1989). Here is why.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.worlds.base import Rows, Signs, signs
from pacboost.sources.worlds.finite import BooleanCube


@dataclass(frozen=True)
class UniformOnly(BooleanCube):
    """Rows uniform on {0, 1}^features: three quarters are plain to see, one is mere chance.

    Where the first two bits are both 1 the labels are coins, tossed once by ``seed``; elsewhere the
    label is the third bit. So the third bit has edge 3/4 under the uniform distribution, whatever
    the coins. But from m examples nobody can err on less than (1/8)(1 - 4m/2^features) of the rows
    on average over the coins, since of a coin that was not seen nothing is known; and under a
    distribution on the blind quarter nothing that was learned there has any edge.

    >>> world = UniformOnly(12)
    >>> round(1 - 2 * world.risk(lambda X: 2 * X[:, 2] - 1), 2)
    0.75
    """

    features: int
    seed: int = 0
    least = 3

    @cached_property
    def _coins(self) -> NDArray[np.bool_]:
        return np.asarray(np.random.default_rng(self.seed).random(2**self.features) < 0.5)

    def truth(self, X: Rows) -> Signs:
        """Look at the third bit, or at the coin of the row."""
        numbers = X.astype(np.int64) @ (1 << np.arange(self.features))
        return signs(np.where(self.blind(X), self._coins[numbers], X[:, 2] > 0))

    @staticmethod
    def blind(X: Rows) -> NDArray[np.bool_]:
        """Tell which rows are labelled by coins."""
        return np.asarray((X[:, 0] > 0) & (X[:, 1] > 0))
