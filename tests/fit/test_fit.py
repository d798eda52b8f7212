"""Plans of fits: who validates, whether there is a trial, and whether all rows are boosted on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pacboost.boosters.logit import Logit
from pacboost.fit.ask import AUTO, REFIT, Ask, Chooser, FitRows, Stopping
from pacboost.fit.recipe import Recipe
from pacboost.fit.rows import LabelledRows
from pacboost.fit.settings import Settings
from pacboost.fit.trial import plan
from pacboost.learners.tree import Tree
from pacboost.models.schema import ColumnOptions, Schema
from pacboost.sources.arrays import ArrayTable

ROWS = 200


class Fixed(Chooser):
    def recipe(self, rows: FitRows, ask: Ask) -> Recipe:
        return recipe()


ASK = Ask(
    Fixed(), ColumnOptions("tests"), 0, Stopping("error", 20), early_stopping=AUTO, calibrate=AUTO
)


def rows_of(learn: LabelledRows, validate: LabelledRows | None = None) -> FitRows:
    return FitRows(Schema(2), learn, np.arange(2), validate)


def labelled(rows: int = ROWS) -> LabelledRows:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(rows, 2))
    signs = np.where(X[:, :1] > 0, np.int8(1), np.int8(-1))
    return LabelledRows(ArrayTable(X, None), signs)


def recipe(usual: Settings | None = None) -> Recipe:
    return Recipe(Tree(), Logit(), 300, usual=usual)


def test_without_automatic_values_there_is_no_trial() -> None:
    trial = plan(rows_of(labelled()), recipe(), ASK)
    assert trial.validation is None
    assert not trial.refits
    assert not trial.is_drawn


def test_a_trial_draws_its_rows_and_refits() -> None:
    usual = Settings.for_classes(ROWS, 2)
    trial = plan(rows_of(labelled()), recipe(usual), ASK)
    assert trial.is_drawn
    assert trial.refits
    assert trial.validation is not None
    assert trial.validation.n_rows + trial.learn.n_rows == ROWS
    assert trial.recipe.least == usual.least


def test_validation_rows_of_the_user_take_the_place_of_a_trial() -> None:
    usual, validation = Settings.for_classes(ROWS, 2), labelled(30)
    trial = plan(rows_of(labelled(), validation), recipe(usual), ASK)
    assert trial.validation is validation
    assert trial.learn.n_rows == ROWS
    assert not trial.refits


def test_rows_that_are_named_validate() -> None:
    validates = np.arange(ROWS) % 4 == 0
    for usual in (None, Settings.for_classes(ROWS, 2)):
        ask = replace(ASK, early_stopping=True, validates=validates)
        trial = plan(rows_of(labelled()), recipe(usual), ask)
        assert trial.validation is not None
        assert trial.validation.numbers is not None
        assert np.array_equal(trial.validation.numbers, np.flatnonzero(validates))


def test_refit_is_what_was_asked_for_except_with_a_warm_start() -> None:
    ask = replace(ASK, early_stopping=REFIT)
    assert plan(rows_of(labelled()), recipe(), ask).refits
    assert not plan(rows_of(labelled()), recipe(), replace(ask, warm_start=True)).refits
