"""The trial: candidates race on a part of the rows, and the best is repeated on all of them.

Most of the rows are boosted on, and the rest are measured after each round. They choose between
candidates (fit/stages.py), and say how many rounds are best and how steep probabilities should be.
Then all rows are boosted on, unless the rest are a small share of them (docs/decisions/0030).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.adaboost import AdaBoost
from pacboost.errors import DataError
from pacboost.fit.ask import AUTO, REFIT, Ask, FitRows, spared_share
from pacboost.fit.continuing import go_on
from pacboost.fit.recipe import Candidate, Recipe
from pacboost.fit.roles import split_by_class
from pacboost.fit.rows import LabelledRows, has_one_class, training_sample, validation_sample
from pacboost.fit.settings import (
    MANY_ROWS,
    MIN_REFIT_SHARE,
    MORE_ROUNDS,
    Settings,
    ramp,
    trial_share,
)
from pacboost.hypotheses.stump import StumpRule
from pacboost.learners.learner import FunctionLearner
from pacboost.models import calibration
from pacboost.models.calibration import Calibration
from pacboost.samples.sample import Sample
from pacboost.training.metrics import metric, metric_of
from pacboost.training.run.early_stopping import EarlyStopping
from pacboost.training.run.loop import Run


@dataclass(frozen=True, eq=False)
class Trial:
    """The first candidate of a fit, and the rows that candidates may use."""

    ask: Ask
    rows: FitRows
    first: Candidate
    learn: LabelledRows
    """The rows that candidates are boosted on."""
    validation: LabelledRows | None
    """The rows that they are measured on, if any."""
    refits: bool = False
    """Whether all rows are boosted on in the end, those held back included."""
    is_drawn: bool = False
    """Whether the validation rows were drawn to choose between candidates."""
    repeat_share: float = 0.0
    """The share of rows that further trials of quality="best" hold back; 0 for no such trials."""
    slope_trust: float = 0.0
    """How far a slope that held-back rows find is trusted, from 0 to 1."""
    bins_from: LabelledRows | None = None
    """Other rows that give the bins, if any."""


def plan(rows: FitRows, first: Candidate, ask: Ask) -> Trial:
    """Say which rows are boosted on first, which of them validate, and whether all are in the end.

    Where a trial has something to choose, it draws its rows; else early stopping does.
    """
    everyone, settings, drawn = rows.learn, _settings_of_trial(rows, first, ask), None
    if settings is not None and _has_a_choice(settings, first.recipe.rounds, ask):
        drawn = hold_back(everyone, ask.seed, ask.validates)
        # a class is too rare to be measured: nothing would stop the maximum number of rounds
        if drawn is None and not ask.sets_rounds:
            first = first.having(rounds=settings.n_estimators)
    learn, validation = drawn or _held_to_stop(rows, ask, first.held_share)
    if drawn is not None:
        # 100,000 rows, a tenth of them held back, gain 1.7 % of log loss by a second fit, for twice
        # the time; from 200,000 rows on, the trial is the fit (docs/decisions/0028)
        refits = drawn[1].n_rows >= MIN_REFIT_SHARE * everyone.n_rows
    else:
        held_back = validation is not None and rows.validate is None
        refits = held_back and _refits(everyone.n_rows, ask)
    if ask.predicts_numbers:
        repeat_share = ask.held_share(everyone.n_rows, first.held_share) if refits else 0.0
    else:
        repeat_share = 0.0 if settings is None else trial_share(everyone.n_rows)
        min_rounds = _min_rounds(rows, first, ask, None if drawn is None else settings)
        first = replace(first, min_rounds=min_rounds)
    return Trial(
        ask,
        rows,
        first,
        learn,
        validation,
        refits=refits,
        is_drawn=drawn is not None,
        repeat_share=repeat_share,
        slope_trust=settings.slope_trust if settings is not None and ask.calibrate == AUTO else 0.0,
    )


def _settings_of_trial(rows: FitRows, first: Candidate, ask: Ask) -> Settings | None:
    """Return the automatic values of a trial; None where validation rows take its place."""
    settings = first.settings if rows.validate is None else None
    if settings is None or settings.needs_slope or ask.early_stopping:
        return settings
    # with fixed rounds a trial finds the slope alone, which trees do not need on many rows
    return replace(settings, slope_trust=settings.slope_trust * (1 - ramp(rows.learn.n_rows)))


def _has_a_choice(settings: Settings, rounds: int, ask: Ask) -> bool:
    """Check whether a trial has something to choose: the number of rounds, or the slope."""
    # True, "refit" and a patience ask for early stopping, which holds its own rows back
    if not settings.trial_share or ask.early_stopping not in (AUTO, False):
        return False
    slope = ask.calibrate == AUTO and settings.slope_trust > 0
    return slope or (ask.is_auto and rounds > settings.min_rounds)


def _held_to_stop(
    rows: FitRows, ask: Ask, few_share: float
) -> tuple[LabelledRows, LabelledRows | None]:
    """Return the training rows, and the validation rows if any."""
    if rows.validate is not None:
        return rows.learn, rows.validate
    if not ask.stops(rows.learn.n_rows, few_share):
        return rows.learn, None
    if ask.validates is not None:
        return rows.learn.divided(ask.validates)
    share = ask.held_share(rows.learn.n_rows, few_share)
    return split_by_class(rows.learn, "validation_fraction", share, ask.seed)


def _min_rounds(rows: FitRows, first: Candidate, ask: Ask, drawn: Settings | None) -> int:
    """Return how many rounds are kept whatever held-back rows say; ``drawn`` if by a trial."""
    rounds = first.recipe.rounds
    if ask.is_auto and rows.validate is None:
        if drawn is not None:
            return min(drawn.min_rounds, rounds)
        # few held-back rows are mostly noise: the fewer they are, the more rounds are kept
        return math.ceil((1 - spared_share(rows.learn.n_rows, 1.0, first.held_share)) * rounds)
    # a trial without early stopping is for the slope: it measures the rounds that will be kept
    return first.min_rounds if drawn is None else rounds


def _refits(rows: int, ask: Ask) -> bool:
    """Check whether rows held back to find the number of rounds are boosted on after all."""
    # classes have a trial for this, which has decided before
    few = ask.is_auto and ask.predicts_numbers and rows < MANY_ROWS
    # a refit starts from nothing, so there would be no run for a warm start to continue
    return not ask.warm_start and (few or ask.early_stopping == REFIT)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a race has found so far: the best candidate with its run."""

    candidate: Candidate
    run: Run
    repeats: tuple[Run, ...] = ()
    """Runs of the same candidate on other rows, whose rounds are averaged."""
    calibration: Calibration | None = None
    """The slope, if held-back rows were to find one."""

    @property
    def recipe(self) -> Recipe:
        """The recipe of the best candidate."""
        return self.candidate.recipe

    @property
    def rounds(self) -> int:
        """The best number of rounds."""
        counts = [len(run.done) for run in (self.run, *self.repeats)]
        return round(sum(counts) / len(counts))


class Watcher(ABC):
    """Whoever follows a fit: it advances the runs, and knows which one would be kept."""

    leader: Outcome | None = None
    """What is kept if the fit is interrupted."""

    @abstractmethod
    def begins(self, rows: FitRows) -> None:
        """Note that the rows are read, and boosting begins."""

    @abstractmethod
    def leads(self, best: Outcome, *, last: bool) -> None:
        """Note that this run leads; the rounds of the ``last`` one become the model."""

    @abstractmethod
    def advance(self, run: Run, rounds: int, *, last: bool) -> None:
        """Advance a run to this number of rounds, or until it stops."""

    @abstractmethod
    def complete(self, run: Run, rounds: int, *, last: bool) -> None:
        """Advance a run to its end, after this number of rounds at most, and keep the best."""


class TrialStage(ABC):
    """One question of a trial, such as whether larger trees are better (fit/stages.py)."""

    @abstractmethod
    def run(self, best: Outcome, trial: Trial, watcher: Watcher) -> Outcome:
        """Return the best candidate after this stage; most return the one they were given."""


def race(trial: Trial, stages: Sequence[TrialStage], watcher: Watcher) -> Outcome:
    """Run the stages one after the other, and return what is best by the validation rows."""
    # There are few stages, and each wins by a lot on some tables: a fifth of few rows cannot
    # rank similar settings, and choosing among four was worse than the best (docs/decisions/0016).
    best = lead(trial, trial.first, start(trial, trial.first), watcher, last=not trial.refits)
    for stage in stages:
        best = stage.run(best, trial, watcher)
    return best


def refit(trial: Trial, best: Outcome, watcher: Watcher) -> Outcome:
    """Boost on all rows, a tenth more rounds than were best with a part of them held back."""
    recipe, done, ask = best.recipe, len(best.run.done), trial.ask
    # from 20,000 rows to 30,000 a regressor goes over from a refit to early stopping alone: so that
    # nothing jumps, the refit begins with a growing share of the first run's rounds
    share = ramp(trial.rows.learn.n_rows) if ask.predicts_numbers and ask.is_auto else 0.0
    rounds = min(recipe.rounds, math.ceil(MORE_ROUNDS * best.rounds))
    longer = replace(recipe, rounds=rounds - round(share * (rounds - done)))
    kept = round(share * done)
    if kept > len(best.run.opening):
        longer = replace(longer, openings=(best.run.first_rules(kept),))
    whole = replace(trial, learn=trial.rows.learn, validation=None)
    if share:  # rules of the first run ask by its bins
        whole = replace(whole, bins_from=recipe.widened(trial.learn.counting()))
    run = start(whole, replace(best.candidate, recipe=longer))
    lead(trial, best.candidate, run, watcher, last=True)
    watcher.complete(run, longer.rounds, last=True)
    if longer.rounds < recipe.rounds:
        assert run.stopped is not None
        run.stopped = replace(run.stopped, best_round=best.rounds)
    return replace(best, run=run, repeats=())


def lead(trial: Trial, candidate: Candidate, run: Run, watcher: Watcher, *, last: bool) -> Outcome:
    """Tell the watcher which run would be kept; the last one may go on from an earlier fit."""
    if last:
        # hashed on another thread meanwhile: the model holds the fingerprint of its rows
        run.fingerprint.begin()
        if trial.ask.earlier is not None:
            go_on(run, candidate.recipe, trial.ask.earlier, trial.rows)
    watcher.leader = Outcome(candidate, run)
    watcher.leads(watcher.leader, last=last)
    return watcher.leader


def start(trial: Trial, candidate: Candidate, sample: Sample | None = None) -> Run:
    """Set up the run of a candidate; ``sample`` holds its rows, where they were binned before."""
    recipe = candidate.recipe
    if sample is None:
        sample = training_sample(
            recipe.widened(trial.learn.counting()), trial.rows.classes, trial.ask.max_bins,
            codes=recipe.learner.codes, bins_from=trial.bins_from,
        )  # fmt: skip
    if has_one_class(sample):
        # no booster can weigh rows of one class; a vote of one constant rule keeps the path equal
        constant = StumpRule.constant(int(sample.signs[0, 0]))
        always = FunctionLearner(lambda X, y, weights: constant)
        candidate = candidate.having(learner=always, booster=AdaBoost(), openings=())
        recipe = candidate.recipe
    return Run(
        sample,
        recipe.learner,
        recipe.booster,
        seed=trial.ask.seed,
        resample=recipe.resample,
        subsample=recipe.subsample,
        watch=_watch(trial, candidate, sample),
        openings=recipe.openings,
    )


def _watch(trial: Trial, candidate: Candidate, training: Sample) -> EarlyStopping | None:
    stopping, held, recipe = trial.ask.stopping, trial.validation, candidate.recipe
    # looked up without validation rows, too, so that a wrong eval_metric is always refused
    if training.targets is not None:
        measure = metric_of(stopping.eval_metric, recipe.booster)
    else:
        measure = metric(stopping.eval_metric, recipe.booster.potential)
    if held is None:
        return None
    if held.weights is not None and not held.weights.any():
        if not stopping.needs_rows:
            return None
        raise DataError(
            "all rows held back for validation have a sample_weight of 0; give more rows a "
            "weight, or give validation rows of your own (X_val)"
        )
    rows = validation_sample(recipe.widened(held.counting()), training)
    return EarlyStopping(rows, measure, stopping.patience, candidate.min_rounds)


def hold_back(
    examples: LabelledRows, seed: int, watching: NDArray[np.bool_] | None = None
) -> tuple[LabelledRows, LabelledRows] | None:
    """Divide rows into those that a trial boosts on and measures; None if a class is rare.

    ``watching`` marks the rows to measure; by default they are drawn.
    """
    if watching is None:
        parts = split_by_class(examples, "the share of a trial", trial_share(examples.n_rows), seed)
    else:
        parts = examples.divided(watching)
    learn, held = parts
    return parts if can_measure(held, learn) else None


def can_measure(held: LabelledRows, examples: LabelledRows) -> bool:
    """Check whether held-back rows can say how steep probabilities are: ten, of every class."""
    classes = [np.unique(part.classes()).size for part in (held, examples)]
    return classes[0] == classes[1] and held.n_rows >= calibration.MIN_ROWS
