"""The rules a booster is made of.

The one loop (training/loop.py) asks them in this order, every round:

    weights, targets = booster.request(state)     what to learn now
    state = booster.step(state, agree, found)     what the learner's rule did
    reason = booster.stop(state)                  whether to go on

Arrays are (rows, classes); two classes need one column. ``agree`` holds y·h(x), ``found`` is what
the loop measured of it, as whole numbers: an error of one unit in 2^52 keeps all its digits. A
state belongs to one run: ``step`` may reuse its arrays, so the state that went in is spent.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Agreement = NDArray[np.int8]


@dataclass(frozen=True)
class Measured:
    """How much weight there was, and on how much of it the rule was wrong.

    >>> Measured(total=10, wrong=3).edge
    0.4
    """

    total: int
    wrong: int

    @property
    def error(self) -> float:
        """The weighted error."""
        return self.wrong / self.total

    @property
    def edge(self) -> float:
        """1 - 2·error, rounded once."""
        return (self.total - 2 * self.wrong) / self.total

    @property
    def best_vote(self) -> float:
        """½ ln((1 - error)/error), infinite for a rule without mistakes."""
        if self.wrong == 0:
            return math.inf
        return 0.5 * math.log((self.total - self.wrong) / self.wrong)


class State(Protocol):
    """What every state shows to the loop."""

    @property
    def margins(self) -> NDArray[np.float64]:
        """y·F(x) of every row under the votes so far, (rows, classes)."""


S = TypeVar("S", bound=State)


class Booster(ABC, Generic[S]):
    """A small frozen object of pure rules."""

    name: ClassVar[str]
    potential: ClassVar[str]
    """Which function of the margin the weights are the slope of; bounds go by it."""

    @property
    def plain_votes(self) -> bool:
        """Whether every vote is ½ ln((1 - error)/error), so that Z_t = √(1 - edge²)."""
        return False

    @abstractmethod
    def init(self, shape: tuple[int, int], base: NDArray[np.float64]) -> S:
        """Start on (rows, classes) with base weights: one per row, or a single one for all."""

    @abstractmethod
    def request(self, state: S) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
        """Give whole-number weights, and targets where they are not the signs themselves."""

    @abstractmethod
    def step(self, state: S, agree: Agreement, found: Measured) -> S:
        """Take in the rule just found."""

    @abstractmethod
    def memory(self, state: S) -> list[float]:
        """Give what ``resume`` needs to know besides votes and margins; it goes into the ledger."""

    @abstractmethod
    def resume(
        self, state: S, margins: NDArray[np.float64], votes: Sequence[float], memory: list[float]
    ) -> S:
        """Turn a fresh state into the one an earlier run ended with, to go on exactly as it would.

        Given are the votes and the last memory of that run, and the margins of its vote.
        """

    @abstractmethod
    def votes(self, state: S) -> NDArray[np.float64]:
        """Give the votes of all rounds; a corrective booster may have revised the past."""

    def last_vote(self, state: S) -> float:
        """Give the vote of the newest round."""
        return float(self.votes(state)[-1])

    def stop(self, state: S) -> str | None:
        """Give a reason to stop, or None to go on."""
        return None
