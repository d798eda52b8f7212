"""The rules a booster is made of.

The one loop (training/loop.py) asks them in this order, every round:

    weights, targets = booster.request(state)     what to learn now
    state = booster.step(state, agree, edge)      what the learner's rule did
    reason = booster.stop(state)                  whether to go on

Arrays are (rows, classes); two classes need one column. ``agree`` holds y·h(x), ``edge`` is the
correlation that the loop measured. A state belongs to one run: ``step`` may reuse its arrays, so
the state that went in is spent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Agreement = NDArray[np.int8]


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
    def step(self, state: S, agree: Agreement, edge: float) -> S:
        """Take in the rule just found."""

    @abstractmethod
    def resume(
        self, state: S, margins: NDArray[np.float64], votes: Sequence[float], edges: Sequence[float]
    ) -> S:
        """Turn a fresh state into the one an earlier run ended with, to go on exactly as it would.

        Given are the rounds of that run, and the margins of its vote.
        """

    @abstractmethod
    def votes(self, state: S) -> NDArray[np.float64]:
        """Give the votes of all rounds; a corrective booster may have revised the past."""

    def stop(self, state: S) -> str | None:
        """Give a reason to stop, or None to go on."""
        return None
