"""What every rule can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.sample import Sample

Answers = NDArray[np.int8]


@dataclass(frozen=True)
class Names:
    """What to call columns and answers when a rule is said in words."""

    column: Callable[[int], str]
    minus: str = "−"
    plus: str = "+"

    def answer(self, sign: int) -> str:
        """Give the name of an answer."""
        return self.plus if sign > 0 else self.minus


class Hypothesis(ABC):
    """A rule that answers -1 or +1 on every row."""

    @abstractmethod
    def answers(self, sample: Sample) -> Answers:
        """Answer for every row of a sample."""

    @abstractmethod
    def negated(self) -> Hypothesis:
        """Give the rule that always answers the opposite."""

    @abstractmethod
    def words(self, names: Names) -> str:
        """Say the rule in words."""
