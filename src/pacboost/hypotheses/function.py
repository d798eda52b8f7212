"""Rules that are black boxes: any function from raw rows to the names or signs of two classes.

What a rule may answer, one answer for each row or one for all rows:

    a number        its sign counts: above 0 for +1, below 0 for -1, and 0 abstains
    true or false   +1 or -1
    text            the name of a class
    with more than two classes: the number or the name of a class

NaN, None and any other answer is refused with the numbers of the rows, since to guess would hide an
error in the rule. A row on which a rule abstains counts as half a mistake: its edge is Σ D·y·h all
the same, and the theorems hold for any h in [-1, +1].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, LearnerError
from pacboost.hypotheses.hypothesis import Answers, Cells, CellValues, Hypothesis, Names, Rule
from pacboost.samples.sample import Sample
from pacboost.sources.values import Values, is_missing

ROWS_NAMED = 5
"""Number of rows that an error names."""


def missing_answers(answers: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which answers are NaN or None."""
    if answers.dtype.kind == "f":
        return np.asarray(np.isnan(answers))
    if answers.dtype.kind != "O":
        return np.zeros(answers.size, dtype=np.bool_)
    return np.fromiter(map(is_missing, answers), np.bool_, answers.size)


def named(classes: tuple[str, ...]) -> str:
    """Return the names of classes that a rule may answer, in words."""
    return f"the name of a class ({', '.join(map(repr, classes[:ROWS_NAMED]))})"


def _sign_of(answer: Any, of_names: dict[str, int]) -> float:
    """Return the sign for a name or a number, NaN for anything else."""
    if isinstance(answer, str):
        return of_names.get(answer, math.nan)
    try:
        return float(answer)
    except (TypeError, ValueError):
        return math.nan


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
        rows, n_rows = sample.sparse_rows if self.sparse else sample.rows, sample.n_rows
        if not n_rows:  # code of a user need not expect that, and a filter may have left none
            return np.empty(0)
        try:
            answers = np.asarray(self.function(rows))
        except Exception as problem:  # code of a user may raise anything
            raise LearnerError(
                f"{self.description} raised {type(problem).__name__} on {n_rows:,} rows: {problem}"
            ) from problem
        if answers.ndim == 0 and answers.item() is not None:
            answers = np.full(n_rows, answers)  # one answer for all rows
        if answers.shape != (n_rows,):
            came = "None" if answers.ndim == 0 else f"with shape {answers.shape}"
            raise LearnerError(
                f"{self.description} answered {came} for {n_rows} rows; a rule returns one answer "
                f"for each row, {what}"
            )
        self._refuse(missing_answers(answers), "NaN or None", sample, what)
        return answers

    def _refuse(self, wrong: NDArray[np.bool_], came: str, sample: Sample, what: str) -> None:
        """Raise if answers are wrong, with the numbers of the rows."""
        if not wrong.any():
            return
        places = np.flatnonzero(wrong)
        numbers = places if sample.numbers is None else sample.numbers[places]
        named = ", ".join(map(str, numbers[:ROWS_NAMED].tolist()))
        more = ", …" if places.size > ROWS_NAMED else ""
        raise LearnerError(
            f"{self.description} answered {came} for {places.size:,} of {sample.n_rows:,} rows "
            f"({named}{more}); it must be {what}"
        )

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        return vote * np.asarray(self.inner.feature_importances_)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Function(BlackBox, Rule):
    """A rule that calls ``function`` on raw rows; the last cell is that of rows it abstains on."""

    tag: ClassVar[str] = "function"

    function: Callable[[Values], Any]
    description: str
    inner: object = None
    sign: int = 1
    sparse: bool = False
    classes: tuple[str, ...] = ("−", "+")
    """The names of -1 and +1."""
    values = np.array([[-1.0], [1.0], [0.0]])

    def answers(self, sample: Sample) -> Answers:
        what = f"positive for +1, negative for -1, 0 to abstain, or {named(self.classes)}"
        answers = self._answers_of(sample, what)
        if answers.dtype.kind in "OUT":
            answers = self._signs(answers, sample, what)
        elif answers.dtype.kind == "b":
            answers = np.where(answers, 1, -1)
        signs: Answers = (np.sign(answers) * self.sign).astype(np.int8)
        return signs

    def _signs(self, answers: NDArray[Any], sample: Sample, what: str) -> NDArray[Any]:
        """Return numbers for names of classes; numbers may stand among them."""
        of_names = dict(zip(self.classes, (-1, 1), strict=True))
        signs = np.array([_sign_of(each, of_names) for each in answers.tolist()])
        wrong = np.isnan(signs)
        self._refuse(wrong, repr(answers.tolist()[int(wrong.argmax())]), sample, what)
        return signs

    def cells(self, sample: Sample) -> Cells:
        answers = self.answers(sample)
        return np.where(answers == 0, 2, answers > 0).astype(np.uint8)

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
    names: tuple[str, ...] = ()
    values: CellValues = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.values = np.eye(self.classes)  # 1 for the predicted class

    def cells(self, sample: Sample) -> Cells:
        what = f"the number of a class, 0 to {self.classes - 1}, or {named(self.names)}"
        answers = self._answers_of(sample, what)
        said = answers.tolist()
        if answers.dtype.kind in "OUT":
            numbers = {name: number for number, name in enumerate(self.names)}
            numbers_of = [numbers.get(one, one) if type(one) is str else one for one in said]
            answers = np.array(numbers_of, dtype=object)
        # -1 would silently be the last class
        wrong = np.array([one not in range(self.classes) for one in answers.tolist()])
        self._refuse(wrong, repr(said[int(wrong.argmax())]), sample, what)
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
