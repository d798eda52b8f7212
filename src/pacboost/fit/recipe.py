"""Recipes: what is boosted and for how many rounds, as plain values, and the variants of one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pacboost.boosters.booster import Booster
from pacboost.fit.rows import LabelledRows
from pacboost.fit.settings import LINE_STRENGTHS, MIN_ROUNDS_PER_LINE, Settings, ramp
from pacboost.learners.learner import Learner
from pacboost.learners.tree import Tree
from pacboost.sources.derived import DerivedColumn, DerivedTable
from pacboost.training.run.openings import Opening

OF_BOOSTERS = ("learning_rate", "l2")
OF_TREES = ("max_leaves", "max_depth", "min_leaf_rows", "max_features")
"""Parameters that may be automatic, of boosters and of trees."""


@dataclass(frozen=True)
class Recipe:
    """The booster, the learner and the number of rounds of a fit."""

    learner: Learner
    booster: Booster[Any]
    rounds: int
    resample: int = 0
    subsample: float = 1.0
    openings: tuple[Opening, ...] = ()
    """Rules that come before those of the learner."""
    least: int = 0
    """The number of rounds that early stopping leaves at least."""
    usual: Settings | None = None
    pairs: int | None = None
    """How many pairs of columns that may interact are still to be chosen; None if all may."""
    interactions: tuple[tuple[str, str], ...] = ()
    """The names of the pairs that were chosen."""
    tried: float = 0.0
    """The share of rows that early_stopping="auto" holds back of few rows; of numbers alone."""
    larger: Learner | None = None
    """The same learner of larger trees, which a trial may prefer."""
    derived: tuple[DerivedColumn, ...] = ()
    """Columns made of two others, which follow those of the table."""

    def widened(self, rows: LabelledRows) -> LabelledRows:
        """Return rows with the derived columns."""
        if not self.derived:
            return rows
        return replace(rows, table=DerivedTable(rows.table, self.derived))

    def with_larger_trees(self) -> list[Recipe]:
        """Return the recipe with larger trees, if a trial may prefer them."""
        if self.larger is None:
            return []
        return [replace(self, learner=self.larger, larger=None)]

    def with_lines(self, rows: LabelledRows, quality: str) -> list[Recipe]:
        """Return recipes that begin with straight lines, if learner and table allow them."""
        table, learner, name = rows.table, self.learner, self.booster.name
        # lines break monotone constraints, and of a sparse table they would ask for every column
        free = isinstance(learner, Tree) and not learner.monotone and table.entries is None
        if self.openings or not free or self.rounds < MIN_ROUNDS_PER_LINE * table.n_columns:
            return []
        from pacboost.training.run.straight_lines import StraightLines

        # with 40,000 rows lines gain half a percent of the log loss and double the time, so that
        # they fade out before 30,000 (docs/decisions/0028)
        share = 1 - ramp(rows.n_rows)
        # early stopping may not cut lines off
        least = max(self.least, table.n_columns + len(self.derived) + 1)
        like = "square" if quality == "best" and name in LINE_STRENGTHS else name
        strengths = [share * strength for strength in LINE_STRENGTHS.get(like, ()) if share]
        return [replace(self, openings=(StraightLines(s),), least=least) for s in strengths]

    def with_pairs(self, pairs: list[tuple[int, int]], rows: LabelledRows) -> Recipe:
        """Return the recipe with trees that may use single columns and these pairs."""
        table, learner = rows.table, self.learner
        sets = [*((j,) for j in range(table.n_columns)), *pairs]
        names = tuple((table.name(i), table.name(j)) for i, j in pairs)
        assert isinstance(learner, Tree)
        mixed = replace(learner, interactions=sets)
        return replace(self, learner=mixed, pairs=0, interactions=names)

    def settings(self) -> dict[str, Any]:
        """Return the values of the parameters that may be automatic."""
        chosen: dict[str, Any] = {"n_estimators": self.rounds, "subsample": self.subsample}
        if self.pairs is not None:
            chosen["interactions"] = list(self.interactions)
        for part, names in ((self.booster, OF_BOOSTERS), (self.learner, OF_TREES)):
            chosen |= {name: getattr(part, name) for name in names if hasattr(part, name)}
        return chosen
