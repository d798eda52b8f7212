"""Rules that are black boxes: any function from raw rows to -1 and +1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.hypothesis import Answers, Cells, CellValues, Hypothesis, Names, Rule
from pacboost.samples.sample import Sample
from pacboost.sources.table import Values


class BlackBox:
    """What functions of raw rows share, whatever they answer."""

    function: Callable[[Values], Any]
    description: str
    inner: object
    sparse: bool

    def _asked(self, sample: Sample, what: str) -> NDArray[Any]:
        given = np.asarray(self.function(sample.sparse_rows if self.sparse else sample.rows))
        if given.shape != (sample.n_rows,):
            raise DataError(
                f"{self.description} answered with shape {given.shape} for {sample.n_rows} rows; "
                f"a hypothesis gives one number per row, {what}"
            )
        return given

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        return vote * np.asarray(self.inner.feature_importances_)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Function(BlackBox, Rule):
    """Ask ``function`` for the answers on raw rows; anything above 0 counts as +1."""

    function: Callable[[Values], Any]
    description: str
    inner: object = None
    """What the user knows it as: the fitted classifier behind the function."""
    sign: int = 1
    sparse: bool = False
    """Whether it takes sparse rows as they are; else they are opened up."""

    def answers(self, sample: Sample) -> Answers:
        given = self._asked(sample, "positive for +1")
        return np.where(given > 0, np.int8(self.sign), np.int8(-self.sign))

    def negated(self) -> Function:
        return replace(self, sign=-self.sign)

    def words(self, names: Names) -> str:
        return self.description if self.sign > 0 else f"not ({self.description})"


@dataclass(frozen=True, eq=False)
class ClassFunction(BlackBox, Hypothesis):
    """Ask ``function`` for the number of a class on raw rows: as many cells as classes."""

    function: Callable[[Values], Any]
    classes: int
    description: str
    inner: object = None
    sparse: bool = False
    """Whether it takes sparse rows as they are; else they are opened up."""
    values: CellValues = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.eye(self.classes))  # 1 for the class that is named

    def cells(self, sample: Sample) -> Cells:
        what = f"the number of a class, 0 to {self.classes - 1}"
        given = self._asked(sample, what)
        if not np.isin(given, np.arange(self.classes)).all():
            raise DataError(f"{self.description} answered {given.ravel()[0]!r}; it must be {what}")
        return given.astype(np.uint32)

    def applied(self, cell: int, row: Values, names: Names) -> str:
        return f"{self.description}: {names.answers[cell]}"

    def words(self, names: Names) -> str:
        return self.description


@dataclass(frozen=True, eq=False)
class Ranges(BlackBox, Hypothesis):
    """Ask ``function`` for numbers on raw rows; a cell holds those up to one of the ``cuts``."""

    function: Callable[[Values], Any]
    cuts: NDArray[np.float64]
    description: str
    inner: object = None
    sparse: bool = False
    """Whether it takes sparse rows as they are; else they are opened up."""

    @property
    def values(self) -> CellValues:  # type: ignore[override]
        return np.zeros((self.cuts.size + 1, 1))

    def cells(self, sample: Sample) -> Cells:
        return np.searchsorted(self.cuts, self._asked(sample, "any")).astype(np.uint32)

    def applied(self, cell: int, row: Values, names: Names) -> str:
        low = f"{self.cuts[cell - 1]:.6g} < " if cell else ""
        high = f" ≤ {self.cuts[cell]:.6g}" if cell < self.cuts.size else ""
        return f"{low}{self.description}{high}"

    def words(self, names: Names) -> str:
        return self.description

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        return super().importances(vote, n_features) if self.cuts.size else np.zeros(n_features)


@dataclass(frozen=True, eq=False)
class Recorded(Rule):
    """Answers recorded for the rows of one sample; the rule cannot answer for other rows."""

    known: Answers
    description: str

    def answers(self, sample: Sample) -> Answers:
        if sample.n_rows != self.known.size:
            raise DataError(
                f"{self.description} knows only the {self.known.size} rows it was made for, "
                f"but {sample.n_rows} were given; it serves to test boosters, not to predict"
            )
        return self.known

    def negated(self) -> Recorded:
        return Recorded(-self.known, f"not ({self.description})")

    def words(self, names: Names) -> str:
        return self.description
