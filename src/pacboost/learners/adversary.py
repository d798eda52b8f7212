"""A weak learner that keeps its promise and gives nothing more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pacboost.errors import ParameterError
from pacboost.hypotheses.function import Recorded
from pacboost.learners.learner import Learner, Search, Weights
from pacboost.samples.sample import Sample, Signs


@dataclass(frozen=True)
class Adversary(Learner):
    """Answer with an edge of at least ``edge``, exceeding it by less than the weights allow.

    It goes through the rows in some order and gets each wrong as long as the error stays within
    (1 - edge)/2. What is then missing to that error is less than the weight of every row it got
    right, so the edge is below ``edge + 2 · min D(right rows)``. ``order`` says which rows it
    prefers to get wrong: "random", the "heavy" or the "light" ones.
    """

    edge: float
    order: str = "random"

    def __post_init__(self) -> None:
        if not 0 <= self.edge <= 1:
            raise ParameterError(f"edge is {self.edge}; an edge to promise lies in [0, 1]")
        if self.order not in ("random", "heavy", "light"):
            raise ParameterError(f"order is {self.order!r}; it may be random, heavy or light")

    def on(self, sample: Sample) -> AdversarySearch:
        """It needs no look at the rows."""
        return AdversarySearch(sample, self)


@dataclass(frozen=True)
class AdversarySearch(Search):
    """The adversary at work."""

    sample: Sample
    promise: Adversary

    def find(self, weights: Weights, answers: Signs, seed: int) -> Recorded:
        """Fill the allowance of error as far as whole rows can."""
        allowance = int((1 - self.promise.edge) / 2 * int(weights.sum()))
        if self.promise.order == "random":
            order = np.random.default_rng(seed).permutation(weights.size)
        else:
            order = np.argsort(weights, kind="stable")
            order = order[::-1] if self.promise.order == "heavy" else order
        given = answers.copy()
        for row in order:
            if weights[row] <= allowance:
                allowance -= int(weights[row])
                given[row] = -answers[row]
        return Recorded(given, f"adversary with edge {self.promise.edge:g}")
