"""Permutation importances: how much worse a vote gets when one column is shuffled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.vote_digest import asked
from pacboost.models.model import Model
from pacboost.numerics.markup import bold, table
from pacboost.numerics.same_bits import row_totals
from pacboost.samples.sample import Sample
from pacboost.sources.dataframe import to_frame
from pacboost.sources.derived import DerivedTable
from pacboost.sources.given import GivenTable
from pacboost.sources.look_up import Level
from pacboost.sources.table import Table
from pacboost.sources.values import Values
from pacboost.training.metrics import Metric

Doubles = NDArray[np.float64]

MAX_COLUMNS_NAMED = 3


@dataclass(frozen=True, eq=False)
class FeatureShares:
    """The importance of every feature, as shares that add up to 1; NumPy reads it as an array."""

    names: tuple[str, ...]
    by: str
    values: Doubles

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, column: int | str) -> float:
        """Return the share of a column by its name or number."""
        return float(self.values[self.names.index(column) if isinstance(column, str) else column])

    def _columns(self) -> dict[str, list[Any]]:
        order = np.argsort(-self.values, kind="stable").tolist()
        return {"column": [self.names[j] for j in order], self.by: self.values[order].tolist()}

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the shares, the largest first, as a data frame of pandas, polars or pyarrow."""
        return to_frame(self._columns(), backend)

    def __str__(self) -> str:
        lines = zip(*self._columns().values(), strict=True)
        return "\n".join(f"{share:.4f}  {name}" for name, share in lines)

    def _repr_html_(self) -> str:
        return table(["column", self.by], zip(*self._columns().values(), strict=True))


@dataclass(frozen=True, eq=False)
class Importances:
    """Permutation importances: the loss in ``metric`` when a column is shuffled.

    A shuffled column has the same values, but no relation to its rows (Breiman, Random forests,
    2001, section 10). It works for any rule, black boxes too. If two columns hold the same
    information, each replaces the other, so both look unimportant.
    """

    names: tuple[str, ...]
    metric: str
    base: float
    """The metric on the rows without shuffling."""
    each: Doubles
    """(features, repeats); above 0 where the vote got worse."""

    @property
    def mean(self) -> Doubles:
        """The mean over repeats."""
        return np.asarray(row_totals(self.each) / self.each.shape[1])

    @property
    def std(self) -> Doubles:
        """The standard deviation over repeats."""
        off = self.each - self.mean[:, None]
        return np.asarray(np.sqrt(row_totals(off * off) / self.each.shape[1]))

    @property
    def sentence(self) -> str:
        """The most important columns, in a sentence."""
        order = np.argsort(-self.mean, kind="stable")[:MAX_COLUMNS_NAMED]
        named = [(self.names[j], f"{self.mean[j]:.4g}") for j in order if self.mean[j] > 0]
        if not named:
            return f"No column matters: {self.metric} is {self.base:.4g} with any of them shuffled."
        (first, worse), *others = named
        more = "".join(f", '{name}' by {by}" for name, by in others)
        base = f"{self.metric} is {self.base:.4g}"
        return f"{base}; shuffling '{first}' makes it worse by {worse}{more}."

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return mean and deviation by column as a data frame of pandas, polars or pyarrow."""
        columns = {"column": list(self.names), "mean": self.mean, "std": self.std}
        return to_frame(columns, backend)

    def __str__(self) -> str:
        return "\n".join([self.sentence, *("  ".join(line) for line in self._lines())])

    def _lines(self) -> list[list[str]]:
        order = np.argsort(-self.mean, kind="stable")
        return [[self.names[j], f"{self.mean[j]:.4g} ± {self.std[j]:.2g}"] for j in order]

    def _repr_html_(self) -> str:
        return bold(self.sentence) + table(["column", f"worse {self.metric}"], self._lines())


class Shuffled(Table):
    """Another table with one column in another order.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> table = ArrayTable(np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]]))
    >>> Shuffled(table, 1, np.array([2, 0, 1])).rows().tolist()
    [[1.0, 7.0], [2.0, 5.0], [3.0, 6.0]]
    """

    def __init__(self, table: Table, column: int, order: NDArray[np.intp]) -> None:
        self._table, self._column, self._order = table, column, order
        self.n_rows, self.n_columns = table.n_rows, table.n_columns
        self.names, self.levels = table.names, table.levels
        self.width = min(table.width, 8)  # a block with the shuffled column is copied

    def level_numbers(self, column: int, levels: tuple[Level, ...]) -> Values:
        """Return the numbers that these levels have, in the other order of the shuffled column."""
        numbers = self._table.level_numbers(column, levels)
        return numbers[self._order] if column == self._column else numbers

    def block(self, first: int, last: int) -> Values:
        """Return these columns, with the shuffled one in its other order."""
        values = self._table.block(first, last)
        if first <= self._column < last:
            place = self._column - first
            values = values.copy()
            values[:, place] = values[self._order, place]
        return values


def permutation_importances(
    model: Model, sample: Sample, metric: Metric, repeats: int, seed: int
) -> Importances:
    """Shuffle every column that some rule uses; the importance of others is exactly 0.

    The order of a shuffled column depends on the seed, its number and the repeat alone.
    """
    vote = model.vote

    def value(table: Table) -> float:
        scores = vote.scores(table)
        if model.forest and vote.classes == 2:  # above 0 for the second class
            scores = scores[:, 1] - scores[:, 0]
        return float(metric(sample, scores.reshape(sample.n_rows, -1)))

    given, base, derived = sample.table, value(sample.table), model.schema.derived
    if isinstance(given, DerivedTable):  # columns are derived anew from the shuffled one
        given = given.given_columns
    each = np.zeros((given.n_columns, repeats))
    used = None if model.forest else asked(vote.hypotheses)
    columns = set(range(given.n_columns) if used is None else used)
    for column in columns - {*range(given.n_columns)}:
        made = derived[column - given.n_columns]
        columns |= {made.first, made.second}
    for column in sorted(columns & {*range(given.n_columns)}):
        for repeat in range(repeats):
            order = np.random.default_rng((seed, column, repeat)).permutation(sample.n_rows)
            shuffled: Table = (
                given.shuffled(column, order)
                if isinstance(given, GivenTable)
                else Shuffled(given, column, order)
            )
            lost = value(DerivedTable(shuffled, derived) if derived else shuffled) - base
            each[column, repeat] = -lost if metric.more_is_better else lost
    return Importances(model.column_names[: given.n_columns], metric.name, base, each)
