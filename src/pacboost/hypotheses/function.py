"""Rules that are black boxes: any function from raw rows to -1 and +1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pacboost.errors import DataError
from pacboost.hypotheses.hypothesis import Answers, Hypothesis, Names
from pacboost.samples.sample import Sample
from pacboost.sources.table import Values


@dataclass(frozen=True)
class Function(Hypothesis):
    """Ask ``function`` for the answers on raw rows; anything above 0 counts as +1."""

    function: Callable[[Values], Any]
    description: str
    inner: object = None
    """What the user knows it as: the fitted classifier behind the function."""
    sign: int = 1

    def answers(self, sample: Sample) -> Answers:
        """Call the function and check that it answered every row."""
        given = np.asarray(self.function(sample.rows))
        if given.shape != (sample.n_rows,):
            raise DataError(
                f"{self.description} answered with shape {given.shape} for {sample.n_rows} rows; "
                "a hypothesis gives one number per row, positive for +1"
            )
        return np.where(given > 0, np.int8(self.sign), np.int8(-self.sign))

    def negated(self) -> Function:
        """Turn the sign."""
        return replace(self, sign=-self.sign)

    def words(self, names: Names) -> str:
        """Give the description it came with."""
        return self.description if self.sign > 0 else f"not ({self.description})"


@dataclass(frozen=True, eq=False)
class Recorded(Hypothesis):
    """Answers written down for the rows of one sample, and known nowhere else."""

    known: Answers
    description: str

    def answers(self, sample: Sample) -> Answers:
        """Give the recorded answers back."""
        if sample.n_rows != self.known.size:
            raise DataError(
                f"{self.description} knows only the {self.known.size} rows it was made for, "
                f"but {sample.n_rows} were given; it serves to test boosters, not to predict"
            )
        return self.known

    def negated(self) -> Recorded:
        """Turn every answer round."""
        return Recorded(-self.known, f"not ({self.description})")

    def words(self, names: Names) -> str:
        """Give the description it came with."""
        return self.description
