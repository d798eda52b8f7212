"""What every rule can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.exact import VOTE_UNIT
from pacboost.samples.sample import Sample

Answers = NDArray[np.int8]
Cells = NDArray[np.unsignedinteger]
CellValues = NDArray[np.float64]


@dataclass(frozen=True)
class Names:
    """What to call columns, answers and levels of categories when a rule is said in words."""

    column: Callable[[int], str]
    answers: tuple[str, ...] = ("−", "+")
    level: Callable[[int, int], str] = lambda column, level: str(level)
    condition: Callable[[int], str] | None = None
    """How to say that a row holds a word, where it is not that it contains it."""

    def holds(self, word: int) -> str:
        """Say that a row holds a word."""
        if self.condition is not None:
            return self.condition(word)
        return f"it contains {self.column(word)!r}"

    def answer(self, sign: int) -> str:
        """Give the name of an answer of -1 or +1."""
        return self.answers[-1] if sign > 0 else self.answers[0]


class Hypothesis(ABC):
    """A rule that divides the rows into cells and says one thing in each.

    ``values[c]`` is what it says in cell c: one number where there are two classes, else one for
    each class. With a vote a, rows in cell c get a·values[c] added to their scores.
    """

    values: CellValues
    """What it says in each cell, (cells, outputs)."""

    @property
    def silent(self) -> int | None:
        """The cell of which it never says anything, if it has one."""
        return None

    @abstractmethod
    def cells(self, sample: Sample) -> Cells:
        """Give the cell of every row of a sample."""

    @abstractmethod
    def words(self, names: Names) -> str:
        """Say the rule in words."""

    def allowed(self, values: CellValues, unit: float = VOTE_UNIT) -> CellValues:
        """Move the values a booster wants to the nearest multiples of ``unit`` it may have."""
        return values

    def valued(self, values: CellValues, weights: NDArray[np.float64]) -> Hypothesis:
        """Give the same cells with these values; ``weights`` says how much lies in each."""
        return Valued(self, values)


class Rule(Hypothesis):
    """A rule that answers -1 or +1 on every row: two cells."""

    values = np.array([[-1.0], [1.0]])

    def cells(self, sample: Sample) -> Cells:
        """Tell the answers apart."""
        return (self.answers(sample) > 0).view(np.uint8)

    @abstractmethod
    def answers(self, sample: Sample) -> Answers:
        """Answer for every row of a sample."""

    @abstractmethod
    def negated(self) -> Rule:
        """Give the rule that always answers the opposite."""


@dataclass(frozen=True, eq=False)
class Valued(Hypothesis):
    """The cells of another rule, with values of their own."""

    rule: Hypothesis
    values: CellValues

    def valued(self, values: CellValues, weights: NDArray[np.float64]) -> Hypothesis:
        """Change the values."""
        return Valued(self.rule, values)

    @classmethod
    def empty(cls, rule: Hypothesis, outputs: int) -> Valued:
        """Give the cells of a rule without anything to say yet."""
        return cls(rule, np.zeros((len(rule.values), outputs)))

    def cells(self, sample: Sample) -> Cells:
        """Ask the rule."""
        return self.rule.cells(sample)

    def words(self, names: Names) -> str:
        """Say the rule, and what it adds where."""
        said = ", ".join(value_words(line, names) for line in self.values)
        return f"{self.rule.words(names)}: {said}"


def value_words(values: NDArray[np.float64], names: Names) -> str:
    """Say what a cell adds: the number, or the classes it speaks for most.

    >>> value_words(np.array([0.5]), Names(str))
    '+0.5'
    >>> value_words(np.array([0.5, -0.1, 0.2]), Names(str, ("a", "b", "c")))
    'a +0.5'
    """
    if values.size == 1:
        return f"{values[0]:+.4g}"
    best = int(values.argmax())
    return f"{names.answers[best]} {values[best]:+.4g}"
