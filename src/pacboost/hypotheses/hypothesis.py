"""The interface of a rule: its cells, their values, and its description.

A kind of rule names itself by a ``tag`` and declares its ``FIELDS``. Fingerprints and model files
read these two and never the name of a class, so that a class may be renamed without making old
certificates void.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.fields import Field, RuleRun
from pacboost.numerics.exact import VOTE_UNIT
from pacboost.samples.sample import Sample
from pacboost.sources.levels import NO_LEVELS, Levels
from pacboost.sources.values import Values

if TYPE_CHECKING:
    from pacboost.samples.bins import Bins
    from pacboost.sources.mixed import MixedFeatures
    from pacboost.sources.text import TextFeatures

Answers = NDArray[np.int8]
Cells = NDArray[np.unsignedinteger]
CellValues = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Names:
    """Names of columns, answers and levels for the text of a rule."""

    columns: Sequence[str] | None = None
    """None for x0, x1 and so on."""
    answers: tuple[str, ...] = ("−", "+")
    levels: Levels = NO_LEVELS
    text: TextFeatures | MixedFeatures | None = None
    """The reader of texts, if the columns are words."""
    max_levels: int | None = None
    """Of more levels than this, only the first two are named; None names all."""
    unknown: Mapping[int, str] = field(default_factory=dict)
    """Of a row, the text of cells without a number, such as rare levels; else they are missing."""

    def column(self, number: int) -> str:
        return f"x{number}" if self.columns is None else self.columns[number]

    def level(self, column: int, number: int) -> str:
        levels = self.levels.columns.get(column)
        return str(number if levels is None else levels[number])

    def value(self, column: int, value: float) -> str:
        """Return a number of a column as it is written there, such as a date."""
        return self.levels.kind(column).show(value)

    def side(self, column: int, cut: float, *, above: bool) -> str:
        """Return the condition that the value lies above, or not above, a cut."""
        if self.columns is not None:
            return self.levels.kind(column).condition(self.column(column), cut, above=above)
        return f"{self.column(column)} {'>' if above else '≤'} {cut:.6g}"

    def missing(self, column: int) -> str:
        return self.unknown.get(column, f"{self.column(column)} is missing")

    def holds(self, word: int) -> str:
        if self.text is not None:
            return self.text.say(word)
        return f"it contains {self.column(word)!r}"

    def some_levels(self, column: int, numbers: Sequence[int]) -> str:
        """Return the names of levels of a category.

        >>> Names(max_levels=3).some_levels(0, [1, 2, 5, 7])
        '1, 2 and 2 more'
        """
        named = [self.level(column, number) for number in numbers]
        if self.max_levels is None or len(named) <= self.max_levels:
            return ", ".join(named)
        return f"{', '.join(named[:2])} and {len(named) - 2} more"

    def answer(self, sign: int) -> str:
        return self.answers[-1] if sign > 0 else self.answers[0]


@dataclass(frozen=True, eq=False)
class FeaturePart:
    """The contribution of a rule on one feature to the scores: a step function of the feature."""

    feature: int | None
    """The number of the column; None for a constant rule."""
    thresholds: NDArray[np.float32]
    steps: CellValues
    """(steps, outputs): ``steps[k]`` is added above k thresholds."""
    missing: NDArray[np.float64]
    """(outputs,): the contribution of a missing value."""
    levels: int = 0

    @classmethod
    def constant(cls, added: NDArray[np.float64]) -> FeaturePart:
        return cls(None, np.empty(0, np.float32), added[None], added)

    @classmethod
    def cut(
        cls,
        feature: int,
        cuts: NDArray[np.float32],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        missing: NDArray[np.float64],
    ) -> FeaturePart:
        return cls(feature, cuts, np.stack([low, high])[: cuts.size + 1], missing)

    @classmethod
    def sum(cls, parts: Sequence[FeaturePart]) -> FeaturePart:
        # differences are added at their cuts and summed once: t rules cost t log t, not t²
        every = np.concatenate([part.thresholds for part in parts])
        thresholds, places = np.unique(every, return_inverse=True)
        steps = np.zeros((thresholds.size + 1, parts[0].missing.size))
        steps[0] = sum(part.steps[0] for part in parts)
        np.add.at(steps, places + 1, np.concatenate([np.diff(p.steps, axis=0) for p in parts]))
        missing: CellValues = np.asarray(sum(part.missing for part in parts))
        levels = max(part.levels for part in parts)
        return cls(parts[0].feature, thresholds, np.cumsum(steps, axis=0), missing, levels)


class Hypothesis(ABC):
    """A rule that divides the rows into cells and gives each cell a value.

    ``values[c]`` is the value of cell c: one number for two classes, otherwise one for each
    class. With a vote a, rows in cell c get a·values[c] added to their scores.
    """

    values: CellValues

    tag: ClassVar[str] = ""
    """The name of the kind of rule in fingerprints and files: that of its file in this folder."""
    FIELDS: ClassVar[Mapping[str, Field]] = {}
    """What a file holds of a rule; a kind of rule without it is a black box, and in no file."""
    BYTES: ClassVar[int] = 1_000
    """Memory of a rule in bytes, besides its arrays."""
    BYTES_TO_CHECK: ClassVar[int] = 0
    """Memory that ``problem`` takes for each line of the first count."""
    names_classes: ClassVar[bool] = False
    """Whether the cells are the classes in order, possibly with one more cell for ties."""

    @property
    def silent(self) -> int | None:
        """The cell whose value is always 0, or None."""
        return None

    @property
    def adds_up(self) -> bool:
        """Whether a row gets the sum of several values rather than the value of one cell."""
        return False

    @property
    def unvalued(self) -> Hypothesis:
        """The rule that defines the cells, if this rule only replaces their values."""
        return self

    @property
    def votes_within(self) -> list[Any]:
        """The innermost votes (hypotheses/vote.py) of a rule that is made of rules; else none."""
        return []

    @property
    def shared_bins(self) -> Bins | None:
        """The bins whose codes the rule compares, one object for all rules of a vote."""
        return None

    @classmethod
    def from_fields(cls, fields: dict[str, Any], outputs: int) -> Self:
        """Build a rule from its ``FIELDS``, as read from a file."""
        return cls(**fields)

    @classmethod
    def problem(cls, run: RuleRun) -> tuple[str, str] | None:
        """Return a field of a run and why no fit could have written it, if there is one."""
        return None

    @abstractmethod
    def cells(self, sample: Sample) -> Cells:
        """Return the cell of every row of a sample."""

    def said(self, sample: Sample) -> CellValues:
        """Return the contribution of the rule to the scores of every row, for a vote of 1."""
        return self.values[self.cells(sample)]

    @property
    def largest(self) -> float:
        """The largest absolute contribution of the rule to a score, for a vote of 1."""
        return float(np.abs(self.values).max())

    @abstractmethod
    def words(self, names: Names) -> str:
        """Return the rule as text."""

    def applied(self, cell: int, row: Values, names: Names) -> str:
        """Return the condition that put a row into its cell, as text."""
        return f"{self.words(names)}: cell {cell}"

    def features(self) -> set[int] | None:
        """Return the columns that the rule uses, or None if they are unknown."""
        return None

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        """Return the contribution of each feature to a rule with this vote."""
        raise AttributeError(f"{type(self).__name__} rules have no feature importances")

    def split_counts(self, n_features: int, *, cover: bool) -> NDArray[np.float64]:
        """Count the splits on each feature; with ``cover``, weight them by the share of rows.

        A rule that is not a tree counts as one split of all rows for each of its features.
        """
        asked = self.features()
        if asked is None:
            raise AttributeError(f"{type(self).__name__} rules do not list the features they use")
        counts = np.zeros(n_features)
        counts[list(asked)] = 1.0
        return counts

    def step(self, vote: float) -> FeaturePart | None:
        """Return the rule with a vote as a step function if all rules of its kind are, else None.

        Votes add such rules up in one table for each feature, and programs search these.
        """
        return None

    def feature_part(self, values: CellValues) -> FeaturePart:
        """Return the rule, with these values in its cells, as a step function of one feature."""
        raise DataError(
            f"the vote contains {type(self).__name__} rules, which are black boxes without shapes. "
            "Use permutation_importances(X, y) (or shap_values(X) for trees), or fit stumps or "
            "trees of two leaves"
        )

    def allowed(self, values: CellValues, unit: float = VOTE_UNIT) -> CellValues:
        """Return the closest allowed values, as multiples of ``unit``."""
        return values

    def valued(self, values: CellValues, weights: NDArray[np.float64]) -> Hypothesis:
        """Return the same cells with these values; ``weights`` is the weight of rows in each."""
        return Valued(self, values)


class Rule(Hypothesis):
    """A rule that answers -1 or +1 on every row: two cells."""

    names_classes = True
    values = np.array([[-1.0], [1.0]])

    def cells(self, sample: Sample) -> Cells:
        # a view: truth values are bytes of 0 and 1 already
        return (self.answers(sample) > 0).view(np.uint8)

    def applied(self, cell: int, row: Values, names: Names) -> str:
        if len(names.answers) != 2:
            return super().applied(cell, row, names)
        return f"{self.words(names)}: {names.answers[cell]}"

    @abstractmethod
    def answers(self, sample: Sample) -> Answers:
        """Return the answer for every row of a sample."""

    def agreement(self, sample: Sample) -> Answers:
        """Return +1 for rows with a right answer, and -1 for the others."""
        return self.answers(sample) * sample.signs[:, 0]

    @abstractmethod
    def negated(self) -> Rule:
        """Return the rule that always answers the opposite."""


@dataclass(frozen=True, eq=False)
class Valued(Hypothesis):
    """The cells of another rule with different values."""

    tag: ClassVar[str] = "valued"

    rule: Hypothesis
    values: CellValues

    @property
    def unvalued(self) -> Hypothesis:
        return self.rule

    @property
    def shared_bins(self) -> Bins | None:
        return self.rule.shared_bins

    def valued(self, values: CellValues, weights: NDArray[np.float64]) -> Hypothesis:
        return Valued(self.rule, values)

    def applied(self, cell: int, row: Values, names: Names) -> str:
        return self.rule.applied(cell, row, names)

    def features(self) -> set[int] | None:
        return self.rule.features()

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        return self.rule.importances(float(np.abs(self.values).max()), n_features)

    @classmethod
    def empty(cls, rule: Hypothesis, outputs: int) -> Valued:
        return cls(rule, np.zeros((len(rule.values), outputs)))

    def cells(self, sample: Sample) -> Cells:
        return self.rule.cells(sample)

    def words(self, names: Names) -> str:
        values = ", ".join(value_words(line, names) for line in self.values)
        return f"{self.rule.words(names)}: {values}"


def value_words(values: NDArray[np.float64], names: Names) -> str:
    """Return the value of a cell as text: the number, or the class with the largest value.

    >>> value_words(np.array([0.5]), Names())
    '+0.5'
    >>> value_words(np.array([0.5, -0.1, 0.2]), Names(None, ("a", "b", "c")))
    'a +0.5'
    """
    if values.size == 1:
        return f"{values[0]:+.4g}"
    best = int(values.argmax())
    return f"{names.answers[best]} {values[best]:+.4g}"


def bins_of(rules: Iterable[Hypothesis]) -> Bins | None:
    """Return the common bins of the rules; None if none of them compares codes."""
    return next((rule.shared_bins for rule in rules if rule.shared_bins is not None), None)
