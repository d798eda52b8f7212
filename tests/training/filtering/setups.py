"""Small worlds, votes and oracles that tests of the filter share."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.boosters import FilterBoost, Logit, Mada, Measure, Projection, Smooth
from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.hypotheses.stump import StumpRule
from pacboost.numerics.exact import round_vote
from pacboost.samples import coded_table, sample
from pacboost.samples.bins import Bins, fit_bins
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.oracle import AbstractOracle, Batch, Chooser
from pacboost.sources.table import Table
from pacboost.theory.finite_worlds import BooleanConcept
from pacboost.training.filtering.rows import CodedBatch, RowEncoder, VoteSoFar

Floats = NDArray[np.float64]
BITS = 4
PROMISE = {"edge": 0.4, "epsilon": 0.3}
EACH_BOOSTER = pytest.mark.parametrize(
    "booster",
    [Logit(), FilterBoost(), Mada(), Measure(**PROMISE), Smooth(**PROMISE), Projection(**PROMISE)],
    ids=lambda booster: type(booster).__name__,
)


def at_least_two(X: Floats) -> NDArray[np.bool_]:
    """The concept: two or more of the bits, of which the first counts twice."""
    return np.asarray(X.sum(axis=1) + X[:, 0] >= 2)


def cube(features: int = BITS) -> BooleanConcept:
    """A world that can be enumerated."""
    return BooleanConcept(features, at_least_two)


def cube_bins(features: int = BITS) -> Bins:
    """One cut a bit."""
    return fit_bins(ArrayTable(cube(features).domain()), 255)


def encoder(oracle: AbstractOracle, features: int = BITS) -> RowEncoder:
    """Read signs and codes of bits."""
    return RowEncoder(np.array([-1, 1], dtype=np.int8), cube_bins(features))


def vote_so_far(
    booster: FilteringBooster[Any], rounds: int = 5, seed: int = 0, features: int = BITS
) -> VoteSoFar:
    """A vote of stumps on bits, of which some are wrong."""
    generator = np.random.default_rng(seed)
    made = VoteSoFar(booster, cube_bins(features), 1, cells=False)
    plain = isinstance(booster, Measure | Smooth | Projection)
    vote = {Measure: getattr(booster, "slope", 0.0), Smooth: getattr(booster, "step_size", 0.0)}
    for t in range(rounds):
        above = 1 if t % 4 < 3 else -1
        rule = StumpRule(t % features, 0.5, 0, above, above)
        own = vote.get(type(booster), booster.rate) if plain else generator.uniform(0.1, 0.5)
        made.add(rule, round_vote(own), [math.log(1.0 + 0.05 * t)])
    return made


def coded(table: Table, signs: sample.Signs) -> CodedBatch:
    return CodedBatch(table, signs, None, np.arange(len(signs), dtype=np.uint64))


def weights_of(made: VoteSoFar, features: int = BITS) -> Floats:
    """What each point of the cube weighs, by its number."""
    world = cube(features)
    X = world.domain()
    bins = cube_bins(features)
    table = coded_table.CodedTable(bins.encode(ArrayTable(X)), bins)
    return made.score(coded(table, world.truth(X)[:, None])).chances


def numbers_of(table: Any, features: int = BITS) -> NDArray[np.int64]:
    """The number of each row's point."""
    bits = table.codes.T if isinstance(table, coded_table.CodedTable) else table.rows()
    numbers: NDArray[np.int64] = np.asarray(bits, dtype=np.int64) @ (1 << np.arange(features))
    return numbers


class Choppy(AbstractOracle):
    """Another oracle that never gives more than a few rows at once, whatever is asked for."""

    def __init__(self, inner: AbstractOracle, sizes: Sequence[int]) -> None:
        self.inner, self._sizes, self._calls = inner, sizes, 0
        self.names, self.n_columns, self.n_rows = inner.names, inner.n_columns, inner.n_rows
        self.order, self.in_blocks = inner.order, inner.in_blocks
        self.estimated_rows = inner.estimated_rows

    def _upcoming(self, n: int) -> Batch:
        self._calls += 1
        return self.inner.draw(min(n, self._sizes[self._calls % len(self._sizes)]))

    def classes(self) -> Any:
        return self.inner.classes()

    def select(self, choose: Chooser) -> Iterator[Batch]:
        return self.inner.select(choose)

    def position(self) -> dict[str, Any]:
        return self.inner.position()

    def seek(self, position: Any) -> None:
        self.inner.seek(position)

    def fingerprint(self) -> str:
        return self.inner.fingerprint()

    def place(self, row: int) -> str:
        return self.inner.place(row)
