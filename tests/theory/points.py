"""A world of many points, a learner that keeps its promise on all of them, and one interrupted."""

from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.decision import named
from pacboost.hypotheses.function import Function
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.learners.learner import Learner, Search, Weights
from pacboost.learners.stump import Stump, StumpSearch
from pacboost.samples.sample import Sample, unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.theory.finite_worlds import NoFreeLunch
from pacboost.theory.recursion import Recursion
from pacboost.theory.three_oracles import Source
from pacboost.theory.world_oracle import WorldOracle
from pacboost.training.filtering.rows import RowEncoder

POINTS = 2**14
CLASSES = np.array([-1, 1], dtype=np.int8)


class Points(NoFreeLunch):
    """Points 0, 1, 2, … that are - and + in turn."""

    def __init__(self) -> None:
        super().__init__(POINTS, 0)

    def truth(self, X: NDArray[np.float64]) -> NDArray[np.int8]:
        return np.where(X[:, 0] % 2 == 1, np.int8(1), np.int8(-1))


@dataclass(frozen=True)
class Careless(Learner):
    """Right on every point but for a random share of (1 - edge)/2, new ones for every rule.

    Which points are wrong has nothing to do with their weights, so its edge is what it is under
    every distribution that is spread over many points.
    """

    edge: float

    def on(self, sample: Sample) -> "CarelessSearch":
        return CarelessSearch(sample, self.edge)


@dataclass(frozen=True)
class CarelessSearch(Search):
    sample: Sample
    edge: float

    def find(self, weights: Weights, answers: NDArray[np.int8], seed: int) -> Function:
        slips = np.random.default_rng(seed).random(POINTS) < (1 - self.edge) / 2
        answer = np.where(slips, -truth(), truth())
        return Function(lambda X: answer[X[:, 0].astype(np.int64)], f"careless {seed}")


class Interrupted(Stump):
    """Learns three rules, and is then interrupted."""

    def on(self, sample: Sample) -> StumpSearch:
        if next(self.__dict__.setdefault("calls", count())) == 3:
            raise KeyboardInterrupt
        return super().on(sample)


def truth() -> NDArray[np.int64]:
    return np.where(np.arange(POINTS) % 2 == 1, 1, -1)


def recursion(
    learner: Learner, edge: float, epsilon: float, seed: int, kind: type[Recursion] = Recursion
) -> Recursion:
    """A run on fresh points."""
    source = Source(WorldOracle(Points(), seed), RowEncoder(CLASSES, None), 50_000_000)
    return kind(source, learner, edge, epsilon, 0.05, seed)


def risk(rule: Hypothesis) -> float:
    """The true risk: all points are equally likely."""
    X = np.arange(POINTS, dtype=np.float64)[:, None]
    return float(np.mean(named(rule, unlabelled(ArrayTable(X))) != (truth() > 0)))
