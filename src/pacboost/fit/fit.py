"""A fit, step by step, from rows that have been read to a run that is kept.

An estimator divides its rows (fit/roles.py), reads those that it may learn from, and chooses a
recipe. Then every fit goes the same way: plan, race, refit. What differs between classifiers,
regressors and texts is data in ``Ask``. The estimator turns the run into a model, and certifies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.fit.recipe import Recipe
from pacboost.fit.roles import split_by_class
from pacboost.fit.rows import LabelledRows
from pacboost.fit.settings import MIN_REFIT_SHARE, Settings, ramp
from pacboost.fit.trial import (
    Outcome,
    Stopping,
    Trial,
    Watcher,
    hold_back,
    race,
    refit,
    trial_share,
)
from pacboost.models.calibration import Calibration
from pacboost.numerics.checks import real_number
from pacboost.training.run.loop import Run

AUTO, REFIT = "auto", "refit"


@dataclass(frozen=True, eq=False)
class Ask:
    """What a fit is asked for besides rows and recipe: its parameters as values."""

    seed: int
    classes: NDArray[Any]
    max_bins: int
    quality: str
    stopping: Stopping
    early_stopping: Any
    stops: bool
    """Whether rows are held back to stop early, unless validation rows are given."""
    validation_fraction: Any
    warm_start: bool
    sets_rounds: bool = False
    """Whether the number of rounds was set, so that nothing but early stopping changes it."""
    finds_slope: bool = False
    """Whether held-back rows say how steep probabilities are."""
    tried: float = 0.0
    """The share of rows that early_stopping="auto" holds back of few rows."""
    refits_below: int = 0
    """With early_stopping="auto" and fewer rows, all of them are boosted on in the end."""
    keeps_rounds: bool = False
    """Whether a refit on many rows begins with rounds of the first run."""


@dataclass(frozen=True, eq=False)
class FitRows:
    """The rows that a fit may learn from, and those that validate it if they are known."""

    learn: LabelledRows
    validation: LabelledRows | None = None
    """Further rows, which validate."""
    validates: NDArray[np.bool_] | None = None
    """Which of the rows to learn from validate, where that is not left to chance."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """The run that is kept, and what the race has found."""

    run: Run
    outcome: Outcome

    @property
    def calibration(self) -> Calibration | None:
        """The calibration that held-back rows of the race suggest."""
        return self.outcome.calibration


def fit(trial: Trial, watcher: Watcher) -> Fitted:
    """Race the candidates, and boost on all rows if some were held back only for the race."""
    outcome = race(trial, watcher)
    run = refit(trial, outcome, watcher) if trial.refits else outcome.run
    return Fitted(run, outcome)


def plan(rows: FitRows, recipe: Recipe, ask: Ask) -> Trial:
    """Say which rows are boosted on first, which of them validate, and whether all are in the end.

    Where a trial has something to choose, it draws its rows; else early stopping does.
    """
    everyone = rows.learn
    usual = _settings_of_trial(rows, recipe, ask)
    parts = None
    if usual is not None and _has_a_choice(usual, recipe.rounds, ask):
        parts = hold_back(everyone, ask.seed, rows.validates)
        if parts is None and not ask.sets_rounds:  # nothing stops it
            recipe = replace(recipe, rounds=usual.n_estimators)
    learn, held = parts or _held_to_stop(rows, ask)
    if everyone.targets is None:
        least = _least_rounds(rows, recipe, ask, None if parts is None else usual)
        recipe = replace(recipe, least=least)
    refits = rows.validation is None and held is not None and _refits(everyone.n_rows, ask)
    if parts is not None:
        refits = parts[1].n_rows >= MIN_REFIT_SHARE * everyone.n_rows
    if everyone.targets is not None:
        repeat_share = held_share(everyone.n_rows, ask) if refits else 0.0
    else:
        repeat_share = 0.0 if usual is None else trial_share(everyone)
    return Trial(
        recipe,
        everyone,
        learn,
        held,
        ask.stopping,
        ask.classes,
        ask.max_bins,
        ask.seed,
        ask.quality,
        refits=refits,
        repeat_share=repeat_share,
        trusted=usual.trusted if usual is not None and ask.finds_slope else 0.0,
        kept_share=ramp(everyone.n_rows) if ask.keeps_rounds else 0.0,
        is_drawn=parts is not None,
    )


def _settings_of_trial(rows: FitRows, recipe: Recipe, ask: Ask) -> Settings | None:
    """Return the automatic values of a trial; None where validation rows take its place."""
    usual = recipe.usual if rows.validation is None else None
    if usual is None or ask.early_stopping:
        return usual
    # of many rows, a slope is not worth it
    return replace(usual, trusted=usual.trusted * (1 - ramp(rows.learn.n_rows)))


def _has_a_choice(usual: Settings, rounds: int, ask: Ask) -> bool:
    """Check whether a trial has something to choose: the number of rounds, or the slope."""
    if not usual.tried or ask.early_stopping not in (AUTO, False):
        return False
    slope = ask.finds_slope and usual.trusted > 0
    return slope or (ask.early_stopping == AUTO and rounds > usual.least)


def _held_to_stop(rows: FitRows, ask: Ask) -> tuple[LabelledRows, LabelledRows | None]:
    """Return the training rows, and the validation rows if any."""
    if rows.validation is not None:
        return rows.learn, rows.validation
    if not ask.stops:
        return rows.learn, None
    if rows.validates is not None:
        return rows.learn.divided(rows.validates)
    share = held_share(rows.learn.n_rows, ask)
    return split_by_class(rows.learn, "validation_fraction", share, ask.seed)


def held_share(rows: int, ask: Ask) -> float:
    """Return the share of rows that is held back to stop early."""
    share = float(real_number("validation_fraction", ask.validation_fraction))
    if ask.early_stopping == AUTO and 0 < share < 1:
        return spared_share(rows, share, ask.tried)
    return share


def spared_share(rows: int, share: float, tried: float) -> float:
    """Return what early_stopping="auto" holds back, where many rows can spare ``share``.

    >>> [spared_share(rows, 0.1, 0.0) for rows in (1_000, 25_000, 30_000)]
    [0.0, 0.05, 0.1]
    """
    return share * ramp(rows) + tried


def _least_rounds(rows: FitRows, recipe: Recipe, ask: Ask, tried: Settings | None) -> int:
    """Return how many rounds are kept whatever held-back rows say; ``tried`` if by a trial."""
    if ask.early_stopping == AUTO and rows.validation is None:
        if tried is not None:
            return min(tried.least, recipe.rounds)
        return math.ceil((1 - spared_share(rows.learn.n_rows, 1.0, ask.tried)) * recipe.rounds)
    return recipe.least if tried is None else recipe.rounds


def _refits(rows: int, ask: Ask) -> bool:
    """Check whether rows held back to find the number of rounds are boosted on after all."""
    few = ask.early_stopping == AUTO and rows < ask.refits_below
    return not ask.warm_start and (few or ask.early_stopping == REFIT)
