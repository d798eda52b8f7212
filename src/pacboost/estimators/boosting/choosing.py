"""The recipe of BoostClassifier: from its parameters if they are set, else from the settings."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from pacboost.boosters.adaboost import AdaBoost, ExponentialWeights
from pacboost.boosters.choose import as_booster
from pacboost.boosters.logit import Logit
from pacboost.boosters.objective import CustomObjective
from pacboost.errors import ParameterError
from pacboost.estimators.boosting.boosting import EstimatorChooser
from pacboost.estimators.fitting.constraints import tree_changes
from pacboost.estimators.fitting.nested import named, with_fields
from pacboost.estimators.fitting.rounds import begins_by_prior, most_rounds
from pacboost.estimators.parameters.values import Values
from pacboost.fit.ask import Ask, FitRows
from pacboost.fit.recipe import Candidate, Recipe
from pacboost.fit.settings import NO_TRIAL_BELOW, Settings
from pacboost.learners.choose import as_learner
from pacboost.learners.growing import WHY_TWO_CLASSES as WHY
from pacboost.learners.learner import Learner
from pacboost.learners.tree import Tree


@dataclass(frozen=True, eq=False)
class TreesChooser(EstimatorChooser):
    """Makes the recipe of BoostClassifier: any booster and learner, else LogitBoost of trees."""

    asked: Values

    def candidate(self, rows: FitRows, ask: Ask) -> Candidate:
        """Return booster, learner and rounds; what is not set depends on the rows."""
        asked, examples = self.asked, rows.learn
        choice, own = named(asked.booster)
        # LogitBoost takes one class a row; AdaBoost.MH boosts all labels at once
        if choice == "logit" and rows.has_several_labels:
            choice = "adaboost"
        booster = as_booster(choice).for_classes(rows.classes.size)
        logistic = choice == "logit" and named(self.asked.learner)[0] == "tree"
        n_rows, classes = examples.counting().n_rows, examples.signs.shape[1]
        quality = ask.quality
        usual = Settings.for_classes(n_rows, classes, logistic=logistic, quality=quality)
        pairs = asked.interactions
        if pairs is not None:
            usual = usual.for_single_columns(
                pairs, quality, stops=logistic and n_rows > NO_TRIAL_BELOW
            )
        learner = self._learner(rows, usual)
        # an object says what it means: only names, and losses without fields, get automatic values
        changes: dict[str, Any] = {}
        if isinstance(choice, str) or isinstance(booster, CustomObjective):
            if isinstance(learner, Tree) and hasattr(booster, "learning_rate"):
                changes["learning_rate"] = usual.learning_rate
            if isinstance(booster, Logit | CustomObjective):
                changes |= {"prior": begins_by_prior(asked), "l2": usual.l2 * examples.one_row}
            if isinstance(booster, AdaBoost) and isinstance(learner, Tree):
                changes["confidence_rated"] = own.get("multiclass", "mh") == "mh"
        given = {name: getattr(asked, name) for name in ("learning_rate", "l2")}
        changes |= {name: value for name, value in given.items() if value is not None}
        booster = with_fields(booster, changes | own, "booster")
        if pairs and not isinstance(booster, Logit | CustomObjective | ExponentialWeights):
            raise ParameterError(
                f"interactions={pairs} chooses pairs by the gradients of a loss, and "
                f"{booster.name} has none; set booster='logit', or interactions=0",
                parameter="interactions",
            )
        # early stopping finds the number of rounds, so the limit is high; else it is the number
        rounds = usual.n_estimators if ask.stopping.patience is None else usual.max_rounds
        rounds = int(booster.last_round) if math.isfinite(booster.last_round) else rounds
        rounds = most_rounds(asked, rounds, booster)
        share = usual.subsample if asked.subsample is None else asked.subsample
        # the trial compares with larger trees; the same learner again would cost a run for nothing
        larger: Learner | None = learner
        if usual.larger_leaves:
            larger = self._learner(rows, replace(usual, max_leaves=usual.larger_leaves))
        chosen = None if pairs is None else ()
        recipe = Recipe(learner, booster, rounds, subsample=share, interactions=chosen)
        larger = None if larger == learner else larger
        return Candidate(recipe, settings=usual, larger=larger, pairs=pairs or 0)

    def _learner(self, rows: FitRows, usual: Settings) -> Learner:
        """Return the learner; what neither it nor the parameters set has its automatic value."""
        changes = tree_changes(self.asked, rows.learn)
        if "monotone" in changes and rows.learn.signs.shape[1] > 1:
            raise ParameterError(
                f"monotone_constraints are for two classes, and y has {rows.classes.size}: {WHY}",
                parameter="monotone_constraints",
            )
        choice, own = named(self.asked.learner)
        if choice == "tree":
            names = ("max_leaves", "max_features", "min_leaf_rows")
            changes = {name: getattr(usual, name) for name in names} | changes
        learner, changes = as_learner(choice, "learner"), changes | own
        return with_fields(learner, changes, "learner") if changes else learner
