"""A loss: what a booster of regression lowers, and all that is known of it.

A file of ``losses`` holds one loss, of the same name. It is found by that name: no other file
lists losses, and estimators, metrics, ledgers and files ask its class.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from numpy.typing import NDArray

from pacboost.boosters.booster import Booster, Floats, S
from pacboost.boosters.link import Link
from pacboost.kernels.costs import mean_cost
from pacboost.numerics.same_bits import mean, total

Weights = NDArray[Any] | None


class Loss(Booster[S]):
    """A booster that predicts numbers; its potential is the mean loss, by its own name."""

    link: ClassVar[Link] = Link.IDENTITY
    parameters: ClassVar[Mapping[str, float | None]] = {}
    """The parameters besides those of every loss, with their defaults; None has to be given."""
    kernel: ClassVar[int | None] = None
    """The kernel that computes the mean over residuals, if there is one."""
    min_leaf_rows: ClassVar[int] = 3
    """The fewest rows of a leaf, by default."""
    l2_counts_rows: ClassVar[bool] = False
    """Whether ``l2`` is a number of rows, so that its default holds for any targets."""

    @abstractmethod
    def value(self, targets: Floats, scores: Floats, weights: Weights = None) -> float:
        """Return the mean loss of scores (rows,); with a log link they are logarithms."""

    def mean(self, targets: Floats, scores: Floats, base: Floats) -> float:
        """Return the mean loss on the rows of a run; ``base`` has a weight for each row, or one."""
        if self.kernel is not None:
            return mean_cost(self.kernel, (targets - scores)[:, None], base)
        # the plain mean, since a weighted one of equal weights may differ in its last bit
        return self.value(targets, scores, base if base.size > 1 else None)


def mean_of(costs: Floats, weights: Weights) -> float:
    """Return the mean of costs; without weights, all rows count the same."""
    if weights is None:
        return mean(costs)
    return total(weights * costs) / total(weights)
