"""The trial: its rows, and what is repeated on all rows."""

from dataclasses import replace

import numpy as np
import pytest

from pacboost.fit.ask import AUTO, REFIT, Ask, FitRows, Stopping
from pacboost.fit.rows import LabelledRows
from pacboost.fit.settings import Settings
from pacboost.fit.stages import STAGES
from pacboost.fit.trial import hold_back, plan, race, refit
from pacboost.models.schema import ColumnOptions, Schema
from tests.fit.trials import LARGE, NoChooser, Noted, labelled, of_classes, trial_of

ROWS = 200
ASK = Ask(
    NoChooser(),
    ColumnOptions("tests"),
    0,
    Stopping("error", 20),
    early_stopping=AUTO,
    calibrate=AUTO,
)


def rows_of(learn: LabelledRows, validate: LabelledRows | None = None) -> FitRows:
    return FitRows(Schema(3), learn, np.arange(2), validate)


def test_without_automatic_values_there_is_no_trial() -> None:
    trial = plan(rows_of(labelled(ROWS)), of_classes(), ASK)
    assert trial.validation is None
    assert not trial.refits
    assert not trial.is_drawn


def test_a_trial_draws_its_rows_and_refits() -> None:
    usual = Settings.for_classes(ROWS, 2)
    trial = plan(rows_of(labelled(ROWS)), of_classes(settings=usual), ASK)
    assert trial.is_drawn
    assert trial.refits
    assert trial.validation is not None
    assert trial.validation.n_rows + trial.learn.n_rows == ROWS
    assert trial.first.min_rounds == usual.min_rounds


def test_validation_rows_of_the_user_take_the_place_of_a_trial() -> None:
    usual, validation = Settings.for_classes(ROWS, 2), labelled(30)
    trial = plan(rows_of(labelled(ROWS), validation), of_classes(settings=usual), ASK)
    assert trial.validation is validation
    assert trial.learn.n_rows == ROWS
    assert not trial.refits


def test_rows_that_are_named_validate() -> None:
    validates = np.arange(ROWS) % 4 == 0
    for usual in (None, Settings.for_classes(ROWS, 2)):
        ask = replace(ASK, early_stopping=True, validates=validates)
        trial = plan(rows_of(labelled(ROWS)), of_classes(settings=usual), ask)
        assert trial.validation is not None
        assert trial.validation.numbers is not None
        assert np.array_equal(trial.validation.numbers, np.flatnonzero(validates))


def test_refit_is_what_was_asked_for_except_with_a_warm_start() -> None:
    ask = replace(ASK, early_stopping=REFIT)
    assert plan(rows_of(labelled(ROWS)), of_classes(), ask).refits
    assert not plan(rows_of(labelled(ROWS)), of_classes(), replace(ask, warm_start=True)).refits


def test_all_rows_are_boosted_on_for_a_tenth_more_rounds() -> None:
    everyone = labelled(300)
    trial, watcher = trial_of(everyone, of_classes()), Noted()
    outcome = race(trial, STAGES, watcher)
    run = refit(trial, outcome, watcher).run
    assert run.sample.n_rows == 300
    assert run.watch is None
    assert len(run.done) == min(40, int(np.ceil(1.1 * outcome.rounds)))
    assert [last for _, last in watcher.runs] == [False] * (len(watcher.runs) - 1) + [True]
    assert watcher.leading[-1] == (outcome.candidate, True)


def test_a_fit_without_refit_has_one_run() -> None:
    watcher = Noted()
    outcome = race(trial_of(labelled(300), of_classes(larger=LARGE), refits=False), STAGES, watcher)
    assert [(run is outcome.run, last) for run, last in watcher.runs] == [(True, True)]


@pytest.mark.parametrize(("rows", "measured"), [(500, 100), (60_000, 10_000)])
def test_the_rows_of_a_trial_are_apart(rows: int, measured: int) -> None:
    parts = hold_back(labelled(rows), 5)
    assert parts is not None
    learned, held = parts
    assert learned.n_rows + held.n_rows == rows
    assert abs(held.n_rows - measured) <= 1
    assert learned.numbers is not None
    assert held.numbers is not None
    assert not set(learned.numbers.tolist()) & set(held.numbers.tolist())
