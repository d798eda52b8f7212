"""Recipes: what is boosted and for how many rounds, as plain values; candidates of a trial."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pacboost.boosters.booster import Booster
from pacboost.fit.rows import LabelledRows
from pacboost.fit.settings import Settings
from pacboost.learners.learner import Learner
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
    interactions: tuple[tuple[str, str], ...] | None = None
    """The names of the pairs of columns that were chosen to interact; None if all may."""
    derived: tuple[DerivedColumn, ...] = ()
    """Columns made of two others, which follow those of the table."""

    def widened(self, rows: LabelledRows) -> LabelledRows:
        """Return rows with the derived columns."""
        if not self.derived:
            return rows
        return replace(rows, table=DerivedTable(rows.table, self.derived))

    def settings(self) -> dict[str, Any]:
        """Return the values of the parameters that may be automatic."""
        chosen: dict[str, Any] = {"n_estimators": self.rounds, "subsample": self.subsample}
        if self.interactions is not None:
            chosen["interactions"] = list(self.interactions)
        for part, names in ((self.booster, OF_BOOSTERS), (self.learner, OF_TREES)):
            chosen |= {name: getattr(part, name) for name in names if hasattr(part, name)}
        return chosen


@dataclass(frozen=True)
class Candidate:
    """A recipe in a trial, and what the trial may still change about it."""

    recipe: Recipe
    settings: Settings | None = None
    """The automatic values that a trial of classes follows; None for no trial."""
    min_rounds: int = 0
    """The number of rounds that early stopping leaves at least."""
    held_share: float = 0.0
    """The share of rows that early_stopping="auto" holds back of few rows; of numbers alone."""
    larger: Learner | None = None
    """The same learner of larger trees, which a trial may prefer."""
    pairs: int = 0
    """How many pairs of columns that may interact are still to be chosen."""

    def having(self, **changes: Any) -> Candidate:
        """Return the candidate with another recipe."""
        return replace(self, recipe=replace(self.recipe, **changes))
