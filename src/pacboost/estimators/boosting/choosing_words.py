"""The recipe of TextBoostClassifier: lists of words, after a linear round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import Booster
from pacboost.boosters.choose import as_booster
from pacboost.boosters.logit import Logit
from pacboost.estimators.boosting.boosting import EstimatorChooser
from pacboost.estimators.fitting.nested import with_fields
from pacboost.estimators.fitting.rounds import begins_by_prior, most_rounds
from pacboost.estimators.parameters.values import Values
from pacboost.fit.ask import Ask, FitRows
from pacboost.fit.recipe import Candidate, Recipe
from pacboost.fit.settings import (
    PATIENCE_OF_TEXTS,
    TEXT_ROUNDS,
    TEXT_ROUNDS_AFTER_LINEAR,
    Settings,
)
from pacboost.learners.words import Words
from pacboost.numerics.checks import positive_whole, real_number
from pacboost.sources.text import TextFeatures
from pacboost.training.run.linear_words import LinearWords


@dataclass(frozen=True, eq=False)
class WordsChooser(EstimatorChooser):
    """Makes the recipe of TextBoostClassifier."""

    asked: Values

    patience = PATIENCE_OF_TEXTS

    def candidate(self, rows: FitRows, ask: Ask) -> Candidate:
        """Return lists of words; if rows are texts alone, a linear round comes first."""
        asked = self.asked
        length = positive_whole("length", asked.length)
        drawn = asked.candidates
        drawn = None if drawn is None else positive_whole("candidates", drawn)
        learner = Words(length, drawn, bool(asked.abstain))
        booster = self._booster(rows)
        # not beside other columns, nor with a booster that the user has made
        linear = isinstance(rows.schema.text, TextFeatures) and isinstance(asked.booster, str)
        openings = (LinearWords(),) if linear and isinstance(booster, Logit) else ()
        # after a linear round training rows are nearly all right, and with each further list more
        # rows are given to the large classes (docs/decisions/0037)
        usual = TEXT_ROUNDS_AFTER_LINEAR if openings else TEXT_ROUNDS
        rounds = most_rounds(asked, usual, booster)
        # several labels have a score each, which no single slope fits
        logistic = isinstance(booster, Logit) and not rows.has_several_labels
        settings = Settings.for_words(rows.learn.n_rows, rounds) if logistic else None
        return Candidate(Recipe(learner, booster, rounds, openings=openings), settings)

    def _booster(self, rows: FitRows) -> Booster[Any]:
        asked, choice = self.asked, self.asked.booster
        if choice == "logit" and rows.has_several_labels:
            choice = "adaboost"
        booster = as_booster(choice)
        changes: dict[str, Any] = {}
        if isinstance(choice, str):
            if hasattr(booster, "learning_rate"):
                changes["learning_rate"] = asked.learning_rate
            if isinstance(booster, Logit):  # which counts l2 in rows of its first weight
                classes = max(2, rows.learn.signs.shape[1])
                l2 = real_number("l2", asked.l2) * classes**2 / (4 * (classes - 1))
                changes |= {"prior": begins_by_prior(asked), "l2": l2}
            if isinstance(booster, AdaBoost):
                changes["confidence_rated"] = True
        return with_fields(booster, changes, "booster")  # type: ignore[no-any-return]
