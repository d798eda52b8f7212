"""The recipe of BoostRegressor: what the user set, else the settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sklearn.base import is_classifier

from pacboost.boosters.booster import Booster
from pacboost.boosters.choose import as_loss
from pacboost.boosters.loss import Loss
from pacboost.errors import ParameterError, invalid
from pacboost.estimators.boosting.boosting import EstimatorChooser
from pacboost.estimators.fitting.constraints import tree_changes
from pacboost.estimators.fitting.nested import with_fields
from pacboost.estimators.fitting.rounds import most_rounds
from pacboost.estimators.parameters.values import Values
from pacboost.fit.ask import Ask, FitRows
from pacboost.fit.recipe import Candidate, Recipe
from pacboost.fit.settings import PATIENCE_OF_NUMBERS, Settings
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import RegressorLearner
from pacboost.learners.tree import Tree

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False)
class NumbersChooser(EstimatorChooser):
    """Chooses for BoostRegressor."""

    asked: Values

    patience = PATIENCE_OF_NUMBERS

    def _usual(self, rows: int, columns: int) -> Settings:
        asked = self.asked
        trees = asked.learner is None or isinstance(asked.learner, Tree | str)
        leaf = as_loss(asked.loss).min_leaf_rows
        return Settings.for_numbers(rows, columns, trees=trees, leaf=leaf, quality=asked.quality)

    def candidate(self, rows: FitRows, ask: Ask) -> Candidate:
        """Return the loss with trees, or with another regressor."""
        asked, examples = self.asked, rows.learn
        columns = examples.table.n_columns
        pairs, usual = asked.interactions, self._usual(examples.counting().n_rows, columns)
        if pairs is not None:
            usual = usual.for_single_columns(pairs, asked.quality)
        # l2 counts rows: where weights are scaled, a row weighs less than 1
        booster = self.booster(replace(usual, l2=usual.l2 * examples.one_row))
        changes = tree_changes(asked, examples)
        if asked.learner in (None, "tree"):
            names = ("max_leaves", "max_features", "min_leaf_rows")
            changes = {name: getattr(usual, name) for name in names} | changes
        learner = with_fields(self._learner(), changes, "the learner")
        # few rows are tried on, and boosted on in the end, unless a later fit goes on from here
        few_share = 0.0 if asked.warm_start else self._usual(examples.n_rows, columns).trial_share
        rounds = usual.max_rounds if ask.stops(examples.n_rows, few_share) else usual.n_estimators
        rounds = most_rounds(asked, rounds, booster)
        share = usual.subsample if asked.subsample is None else asked.subsample
        chosen = None if pairs is None else ()
        recipe = Recipe(learner, booster, rounds, subsample=share, interactions=chosen)
        return Candidate(recipe, held_share=few_share, pairs=pairs or 0)

    def _learner(self) -> Learner:
        choice = self.asked.learner
        if choice is None or isinstance(choice, Tree) or choice == "tree":
            return choice if isinstance(choice, Tree) else Tree()
        if not hasattr(choice, "fit") or isinstance(choice, type) or is_classifier(choice):
            raise invalid(
                "learner",
                choice,
                "may be None or 'tree', a Tree of pacboost, or a "
                "scikit-learn regressor (an object, not a class)",
            )
        return RegressorLearner(choice)

    def booster(self, usual: Settings) -> Booster[Any]:
        """Return the loss, with automatic values where parameters are not set."""
        asked = self.asked
        chosen, rate = as_loss(asked.loss), asked.learning_rate
        changes = {"learning_rate": usual.learning_rate if rate is None else rate}
        if hasattr(chosen, "grows_after"):
            # what took 2,000 rounds takes half of the time, at the same error (docs/decisions/0035)
            changes["grows_after"] = usual.even_steps / changes["learning_rate"]
        if asked.l2 is not None:
            changes["l2"] = asked.l2
        elif chosen.l2_counts_rows:
            changes["l2"] = usual.l2
        changes |= self._settings(chosen)
        return with_fields(chosen, changes, f"loss={asked.loss!r}")  # type: ignore[no-any-return]

    def _settings(self, loss: Loss[Any]) -> dict[str, Any]:
        """Return the parameters that only some losses have."""
        asked = self.asked
        if "quantile" not in loss.parameters and asked.quantile is not None:
            raise ParameterError(
                f"quantile is {asked.quantile}, but loss is {asked.loss!r}; quantile belongs to "
                "the loss 'quantile'",
                parameter="quantile",
            )
        settings = {name: getattr(asked, name, value) for name, value in loss.parameters.items()}
        for name, value in settings.items():
            if value is None:
                raise ParameterError(
                    f"{name} is None, but loss is {asked.loss!r}; give a number between 0 and 1",
                    parameter=name,
                )
        return settings
