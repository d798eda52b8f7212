"""What every weak learner can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.samples.sample import Sample, Signs

Weights = NDArray[np.int64]


@dataclass(frozen=True)
class Capacity:
    """How rich the class of rules is that a learner chooses from, where that is known."""

    vc_dimension: int | None = None
    log_size: float | None = None
    """Natural logarithm of the number of rules, when they are finitely many."""


class Search(ABC):
    """A learner at work on one sample; it may remember what it saw in the last round."""

    @abstractmethod
    def find(self, weights: Weights, signs: Signs, seed: int) -> Hypothesis:
        """Find a rule that agrees with the signs (rows,) under the weights (rows,)."""


class Learner(ABC):
    """A way to find rules. It holds parameters only; ``on`` puts it to work on a sample."""

    codes = False
    """Whether it reads codes, so that the sample has to be binned."""
    deterministic = False
    """Whether the same weights always give the same rule, so that asking again is in vain."""

    @abstractmethod
    def on(self, sample: Sample) -> Search:
        """Start to work on a sample."""

    def capacity(self, sample: Sample) -> Capacity | None:
        """Tell how rich the class is, None where nobody knows."""
        return None
