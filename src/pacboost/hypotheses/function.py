"""Rules that are black boxes: any function from raw rows to -1 and +1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.hypothesis import Answers, Cells, CellValues, Hypothesis, Names, Rule
from pacboost.samples.sample import Sample
from pacboost.sources.values import Values


class BlackBox:
    """Base class of rules that call a function of raw rows."""

    function: Callable[[Values], Any]
    description: str
    inner: object
    """The fitted classifier behind the function."""
    sparse: bool
    """Whether the function accepts sparse rows; otherwise they are converted to dense rows."""

    def words(self, names: Names) -> str:
        return self.description

    def _answers_of(self, sample: Sample, what: str) -> NDArray[Any]:
        answers = np.asarray(self.function(sample.sparse_rows if self.sparse else sample.rows))
        if answers.shape != (sample.n_rows,):
            raise DataError(
                f"{self.description} answered with shape {answers.shape} for {sample.n_rows} rows; "
                f"a hypothesis returns one number per row, {what}"
            )
        return answers

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        return vote * np.asarray(self.inner.feature_importances_)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Function(BlackBox, Rule):
    """A rule that calls ``function`` on raw rows; an answer above 0 counts as +1."""

    tag: ClassVar[str] = "function"

    function: Callable[[Values], Any]
    description: str
    inner: object = None
    sign: int = 1
    sparse: bool = False

    def answers(self, sample: Sample) -> Answers:
        answers = self._answers_of(sample, "positive for +1")
        return np.where(answers > 0, np.int8(self.sign), np.int8(-self.sign))

    def negated(self) -> Function:
        return replace(self, sign=-self.sign)

    def words(self, names: Names) -> str:
        return self.description if self.sign > 0 else f"not ({self.description})"


@dataclass(eq=False)
class ClassFunction(BlackBox, Hypothesis):
    """A rule that calls ``function`` on raw rows for the number of a class: one cell per class."""

    tag: ClassVar[str] = "class_function"

    function: Callable[[Values], Any]
    classes: int
    description: str
    inner: object = None
    sparse: bool = False
    values: CellValues = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.values = np.eye(self.classes)  # 1 for the predicted class

    def cells(self, sample: Sample) -> Cells:
        what = f"the number of a class, 0 to {self.classes - 1}"
        answers = self._answers_of(sample, what)
        # -1 would silently be the last class
        if not np.isin(answers, np.arange(self.classes)).all():
            raise DataError(
                f"{self.description} answered {answers.ravel()[0]!r}; it must be {what}"
            )
        return answers.astype(np.uint32)

    def applied(self, cell: int, row: Values, names: Names) -> str:
        return f"{self.description}: {names.answers[cell]}"


@dataclass(frozen=True, eq=False)
class Ranges(BlackBox, Hypothesis):
    """A rule that calls ``function`` on raw rows for numbers; ``cuts`` divide them into cells."""

    tag: ClassVar[str] = "ranges"

    function: Callable[[Values], Any]
    cuts: NDArray[np.float64]
    description: str
    inner: object = None
    sparse: bool = False

    @property
    def values(self) -> CellValues:  # type: ignore[override]
        return np.zeros((self.cuts.size + 1, 1))

    def cells(self, sample: Sample) -> Cells:
        return np.searchsorted(self.cuts, self._answers_of(sample, "any")).astype(np.uint32)

    def applied(self, cell: int, row: Values, names: Names) -> str:
        low = f"{self.cuts[cell - 1]:.6g} < " if cell else ""
        high = f" ≤ {self.cuts[cell]:.6g}" if cell < self.cuts.size else ""
        return f"{low}{self.description}{high}"

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        return super().importances(vote, n_features) if self.cuts.size else np.zeros(n_features)


@dataclass(frozen=True, eq=False)
class Recorded(Rule):
    """Answers recorded for the rows of one sample; the rule cannot answer for other rows."""

    tag: ClassVar[str] = "recorded"

    recorded: Answers
    description: str

    def answers(self, sample: Sample) -> Answers:
        if sample.n_rows != self.recorded.size:
            raise DataError(
                f"{self.description} has answers for {self.recorded.size} rows only, but there are "
                f"{sample.n_rows} rows; use it to test boosters, not to predict"
            )
        return self.recorded

    def negated(self) -> Recorded:
        return Recorded(-self.recorded, f"not ({self.description})")

    def words(self, names: Names) -> str:
        return self.description
