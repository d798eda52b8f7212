"""The trial: candidates race on a part of the rows, and the best is repeated on all of them.

Most of the rows are boosted on, and the rest are measured after each round. They choose between
candidates, and say how many rounds are best and how steep probabilities should be. Then all rows
are boosted on, unless the rest are a small share of them (docs/decisions/0030).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.adaboost import AdaBoost
from pacboost.errors import DataError
from pacboost.fit import derive
from pacboost.fit.ask import AUTO, REFIT, Ask, FitRows, spared_share
from pacboost.fit.continuing import go_on
from pacboost.fit.recipe import Recipe
from pacboost.fit.roles import split_by_class
from pacboost.fit.rows import LabelledRows, has_one_class, training_sample, validation_sample
from pacboost.fit.settings import (
    DERIVED_MARGIN,
    MANY_ROWS,
    MAX_TRIAL_ROWS,
    MIN_REFIT_SHARE,
    MORE_ROUNDS,
    ROUNDS_OF_A_HEAT,
    ROUNDS_OF_A_SEARCH,
    ROUNDS_OF_THE_FIRST_HEAT,
    TRIAL_SHARE,
    TRIALS_OF_BEST,
    Settings,
    ramp,
)
from pacboost.hypotheses.stump import StumpRule
from pacboost.learners.learner import FunctionLearner
from pacboost.models import calibration
from pacboost.models.calibration import TEMPERATURE, Calibration
from pacboost.samples.sample import Sample
from pacboost.training.metrics import metric, metric_of
from pacboost.training.run.early_stopping import EarlyStopping
from pacboost.training.run.loop import Run


@dataclass(frozen=True, eq=False)
class Trial:
    """The first recipe of a fit, the rows that it may use, and what may follow."""

    ask: Ask
    rows: FitRows
    recipe: Recipe
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
    trusted: float = 0.0
    """How far a slope that held-back rows find is trusted, from 0 to 1."""
    bins_from: LabelledRows | None = None
    """Other rows that give the bins, if any."""

    def stages(self) -> Sequence[TrialStage]:
        """Return what is compared with the best so far, one stage after the other."""
        # without a refit, rows that chose between candidates would be lost to learning
        return (LargerTrees(), LinesFirst()) if self.refits else ()


def plan(rows: FitRows, recipe: Recipe, ask: Ask) -> Trial:
    """Say which rows are boosted on first, which of them validate, and whether all are in the end.

    Where a trial has something to choose, it draws its rows; else early stopping does.
    """
    everyone, settings, drawn = rows.learn, _settings_of_trial(rows, recipe, ask), None
    if settings is not None and _has_a_choice(settings, recipe.rounds, ask):
        drawn = hold_back(everyone, ask.seed, ask.validates)
        # a class is too rare to be measured: nothing would stop the maximum number of rounds
        if drawn is None and not ask.sets_rounds:
            recipe = replace(recipe, rounds=settings.n_estimators)
    learn, validation = drawn or _held_to_stop(rows, ask, recipe.tried)
    if drawn is not None:
        # 100,000 rows, a tenth of them held back, gain 1.7 % of log loss by a second fit, for twice
        # the time; from 200,000 rows on, the trial is the fit (docs/decisions/0028)
        refits = drawn[1].n_rows >= MIN_REFIT_SHARE * everyone.n_rows
    else:
        held_back = validation is not None and rows.validate is None
        refits = held_back and _refits(everyone.n_rows, ask)
    if ask.predicts_numbers:
        repeat_share = ask.held_share(everyone.n_rows, recipe.tried) if refits else 0.0
    else:
        repeat_share = 0.0 if settings is None else trial_share(everyone)
        least = _least_rounds(rows, recipe, ask, None if drawn is None else settings)
        recipe = replace(recipe, least=least)
    return Trial(
        ask,
        rows,
        recipe,
        learn,
        validation,
        refits=refits,
        is_drawn=drawn is not None,
        repeat_share=repeat_share,
        trusted=settings.trusted if settings is not None and ask.calibrate == AUTO else 0.0,
    )


def _settings_of_trial(rows: FitRows, recipe: Recipe, ask: Ask) -> Settings | None:
    """Return the automatic values of a trial; None where validation rows take its place."""
    settings = recipe.usual if rows.validate is None else None
    if settings is None or ask.early_stopping:
        return settings
    # with fixed rounds a trial finds the slope alone, which is not worth its time on many rows
    return replace(settings, trusted=settings.trusted * (1 - ramp(rows.learn.n_rows)))


def _has_a_choice(settings: Settings, rounds: int, ask: Ask) -> bool:
    """Check whether a trial has something to choose: the number of rounds, or the slope."""
    # True, "refit" and a patience ask for early stopping, which holds its own rows back
    if not settings.tried or ask.early_stopping not in (AUTO, False):
        return False
    slope = ask.calibrate == AUTO and settings.trusted > 0
    return slope or (ask.is_auto and rounds > settings.least)


def _held_to_stop(
    rows: FitRows, ask: Ask, tried: float
) -> tuple[LabelledRows, LabelledRows | None]:
    """Return the training rows, and the validation rows if any."""
    if rows.validate is not None:
        return rows.learn, rows.validate
    if not ask.stops(rows.learn.n_rows, tried):
        return rows.learn, None
    if ask.validates is not None:
        return rows.learn.divided(ask.validates)
    share = ask.held_share(rows.learn.n_rows, tried)
    return split_by_class(rows.learn, "validation_fraction", share, ask.seed)


def _least_rounds(rows: FitRows, recipe: Recipe, ask: Ask, drawn: Settings | None) -> int:
    """Return how many rounds are kept whatever held-back rows say; ``drawn`` if by a trial."""
    if ask.is_auto and rows.validate is None:
        if drawn is not None:
            return min(drawn.least, recipe.rounds)
        # few held-back rows are mostly noise: the fewer they are, the more rounds are kept
        return math.ceil((1 - spared_share(rows.learn.n_rows, 1.0, recipe.tried)) * recipe.rounds)
    # a trial without early stopping is for the slope: it measures the rounds that will be kept
    return recipe.least if drawn is None else recipe.rounds


def _refits(rows: int, ask: Ask) -> bool:
    """Check whether rows held back to find the number of rounds are boosted on after all."""
    # classes have a trial for this, which has decided before
    few = ask.is_auto and ask.predicts_numbers and rows < MANY_ROWS
    # a refit starts from nothing, so there would be no run for a warm start to continue
    return not ask.warm_start and (few or ask.early_stopping == REFIT)


class TrialStage(ABC):
    """Candidates that follow from the best recipe of the stages before."""

    @abstractmethod
    def recipes(self, best: Recipe, trial: Trial) -> list[Recipe]:
        """Return the candidates, perhaps none."""


class LargerTrees(TrialStage):
    """The same with larger trees."""

    def recipes(self, best: Recipe, trial: Trial) -> list[Recipe]:
        """Return one candidate, if there are many classes."""
        # large trees have .94 of the log loss where many classes are clear, and 1.41 of it where
        # labels are noisy (docs/decisions/0027), which numbers of rows and classes do not show
        return best.with_larger_trees()


class LinesFirst(TrialStage):
    """The same with straight lines first."""

    def recipes(self, best: Recipe, trial: Trial) -> list[Recipe]:
        """Return a candidate for every strength of lines."""
        # trees follow a slope in steps; lines chosen by a trial have .939 of the error without
        # them and never lose, lines without a trial lose up to 22 % (docs/decisions/0022)
        return best.with_lines(best.widened(trial.rows.learn), trial.ask.quality)


class Watcher(ABC):
    """Whoever follows a fit: it advances the runs, and knows which one would be kept."""

    leader: tuple[Recipe, Run] | None = None
    """The recipe and the run that are kept if the fit is interrupted."""

    @abstractmethod
    def begins(self, rows: FitRows) -> None:
        """Note that the rows are read, and boosting begins."""

    @abstractmethod
    def leads(self, recipe: Recipe, run: Run, *, last: bool) -> None:
        """Note that this run leads; the rounds of the ``last`` one become the model."""

    @abstractmethod
    def advance(self, run: Run, rounds: int, *, last: bool) -> None:
        """Advance a run to this number of rounds, or until it stops."""

    @abstractmethod
    def complete(self, run: Run, rounds: int, *, last: bool) -> None:
        """Advance a run to its end, after this number of rounds at most, and keep the best."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a race has found: the best recipe with its run, the best number of rounds, a slope."""

    recipe: Recipe
    run: Run
    rounds: int
    calibration: Calibration | None = None
    """The slope, if held-back rows were to find one."""


def race(trial: Trial, watcher: Watcher) -> Outcome:
    """Run all candidates, and return the one with the least loss on the validation rows."""
    # There are few candidates, and each wins by a lot on some tables: a fifth of few rows cannot
    # rank similar settings, and choosing among four was worse than the best (docs/decisions/0016).
    last = not trial.refits
    recipe, best = trial.recipe, start(trial, trial.recipe)
    _lead(trial, recipe, best, watcher, last=last)
    if trial.ask.derives and trial.refits and derive.is_possible(recipe, best):
        recipe, best = _race_of_columns(trial, recipe, best, watcher)
    watcher.complete(best, recipe.rounds, last=last)
    for stage in trial.stages():
        for candidate in stage.recipes(recipe, trial):
            run = start(trial, candidate, best.sample)
            if run.watch is not None and best.watch is not None:
                run.watch.race_with(best.watch, ROUNDS_OF_A_HEAT + len(run.opening))
            watcher.complete(run, candidate.rounds, last=last)
            if _loss(run) < _loss(best):
                recipe, best = candidate, run
                _lead(trial, recipe, best, watcher, last=last)
    if recipe.pairs and not has_one_class(best.sample):
        from pacboost.training.run.pairs import best_pairs

        # pairs are judged by what single columns leave unexplained, so these are boosted first
        rows = validation_sample(trial.rows.learn.counting(), best.sample)
        pairs = best_pairs(recipe.pairs, best.vote(), recipe.booster, rows)
        recipe = recipe.with_pairs(pairs, trial.rows.learn)
        best = start(trial, recipe, best.sample)
        _lead(trial, recipe, best, watcher, last=last)
        watcher.complete(best, recipe.rounds, last=last)
    runs, slopes = [best], [_slope(trial, trial.validation, recipe, best)]
    # the mean of five trials has .985 of the log loss and .90 of the calibration error of one
    for learn, validation in _repeats(trial):
        runs.append(start(replace(trial, learn=learn, validation=validation), recipe))
        watcher.complete(runs[-1], recipe.rounds, last=last)
        slopes.append(_slope(trial, validation, recipe, runs[-1]))
    measured = [slope for slope in slopes if slope is not None]
    curve = Calibration(TEMPERATURE, (), sum(measured) / len(measured)) if measured else None
    return Outcome(recipe, best, round(sum(len(run.done) for run in runs) / len(runs)), curve)


def refit(trial: Trial, outcome: Outcome, watcher: Watcher) -> Run:
    """Boost on all rows, a tenth more rounds than were best with a part of them held back."""
    recipe, done, ask = outcome.recipe, len(outcome.run.done), trial.ask
    # from 20,000 rows to 30,000 a regressor goes over from a refit to early stopping alone: so that
    # nothing jumps, the refit begins with a growing share of the first run's rounds
    share = ramp(trial.rows.learn.n_rows) if ask.predicts_numbers and ask.is_auto else 0.0
    rounds = min(recipe.rounds, math.ceil(MORE_ROUNDS * outcome.rounds))
    longer = replace(recipe, rounds=rounds - round(share * (rounds - done)))
    kept = round(share * done)
    if kept > len(outcome.run.opening):
        longer = replace(longer, openings=(outcome.run.first_rules(kept),))
    whole = replace(trial, learn=trial.rows.learn, validation=None)
    if share:  # rules of the first run ask by its bins
        whole = replace(whole, bins_from=recipe.widened(trial.learn.counting()))
    run = start(whole, longer)
    _lead(trial, recipe, run, watcher, last=True)
    watcher.complete(run, longer.rounds, last=True)
    if longer.rounds < recipe.rounds:
        assert run.stopped is not None
        run.stopped = replace(run.stopped, best_round=outcome.rounds)
    return run


def _race_of_columns(
    trial: Trial, recipe: Recipe, run: Run, watcher: Watcher
) -> tuple[Recipe, Run]:
    """Race a run with columns derived from others against the one without; return the winner."""
    watcher.advance(run, ROUNDS_OF_A_HEAT, last=False)
    if not (every := derive.candidates(run)):
        return recipe, run
    some = replace(trial, learn=derive.searched(trial.learn), validation=None)
    wide = start(some, replace(recipe, derived=every))
    watcher.advance(wide, min(ROUNDS_OF_A_SEARCH, recipe.rounds), last=False)
    if not (used := derive.most_used(wide, every)):
        return recipe, run
    candidate = replace(recipe, derived=used)
    other = start(trial, candidate)
    assert run.watch is not None
    assert other.watch is not None
    other.watch.race_with(run.watch, ROUNDS_OF_THE_FIRST_HEAT)
    watcher.advance(other, ROUNDS_OF_A_HEAT, last=False)
    loss = run.watch.best_after(ROUNDS_OF_A_HEAT)
    if other.watch.best_after(ROUNDS_OF_A_HEAT) >= loss - DERIVED_MARGIN * abs(loss):
        return recipe, run
    _lead(trial, candidate, other, watcher, last=False)
    return candidate, other


def _lead(trial: Trial, recipe: Recipe, run: Run, watcher: Watcher, *, last: bool) -> None:
    """Tell the watcher which run would be kept; the last one may go on from an earlier fit."""
    if last:
        # hashed on another thread meanwhile: the model holds the fingerprint of its rows
        run.fingerprint.begin()
        if trial.ask.earlier is not None:
            go_on(run, recipe, trial.ask.earlier, trial.rows)
    watcher.leader = (recipe, run)
    watcher.leads(recipe, run, last=last)


def start(trial: Trial, recipe: Recipe, sample: Sample | None = None) -> Run:
    """Set up the run of a recipe; ``sample`` holds its rows, where they were binned before."""
    if sample is None:
        sample = training_sample(
            recipe.widened(trial.learn.counting()), trial.rows.classes, trial.ask.max_bins,
            codes=recipe.learner.codes, bins_from=trial.bins_from,
        )  # fmt: skip
    if has_one_class(sample):
        # no booster can weigh rows of one class; a vote of one constant rule keeps the path equal
        constant = StumpRule.constant(int(sample.signs[0, 0]))
        always = FunctionLearner(lambda X, y, weights: constant)
        recipe = replace(recipe, learner=always, booster=AdaBoost(), openings=())
    return Run(
        sample,
        recipe.learner,
        recipe.booster,
        seed=trial.ask.seed,
        resample=recipe.resample,
        subsample=recipe.subsample,
        watch=_watch(trial, recipe, sample),
        openings=recipe.openings,
    )


def _watch(trial: Trial, recipe: Recipe, training: Sample) -> EarlyStopping | None:
    stopping, held, booster = trial.ask.stopping, trial.validation, recipe.booster
    # looked up without validation rows, too, so that a wrong eval_metric is always refused
    if training.targets is not None:
        measure = metric_of(stopping.eval_metric, booster)
    else:
        measure = metric(stopping.eval_metric, booster.potential)
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
    return EarlyStopping(rows, measure, stopping.patience, recipe.least)


def _loss(run: Run) -> float:
    return math.inf if run.watch is None else run.watch.loss


def _repeats(trial: Trial) -> Iterator[tuple[LabelledRows, LabelledRows]]:
    """Return other divisions of the rows, for trials whose rounds and slopes are averaged."""
    if not (trial.refits and trial.repeat_share and trial.ask.quality == "best"):
        return
    for number in range(1, TRIALS_OF_BEST):
        learn, held = split_by_class(
            trial.rows.learn, "validation_fraction", trial.repeat_share, trial.ask.seed + number
        )
        if trial.ask.predicts_numbers or can_measure(held, learn):
            yield learn, held


def hold_back(
    examples: LabelledRows, seed: int, watching: NDArray[np.bool_] | None = None
) -> tuple[LabelledRows, LabelledRows] | None:
    """Divide rows into those that a trial boosts on and measures; None if a class is rare.

    ``watching`` marks the rows to measure; by default they are drawn.
    """
    if watching is None:
        parts = split_by_class(examples, "the share of a trial", trial_share(examples), seed)
    else:
        parts = examples.divided(watching)
    learn, held = parts
    return parts if can_measure(held, learn) else None


def trial_share(examples: LabelledRows) -> float:
    """Return the share of rows that a trial of classes measures."""
    return min(TRIAL_SHARE, MAX_TRIAL_ROWS / examples.n_rows)


def can_measure(held: LabelledRows, examples: LabelledRows) -> bool:
    """Check whether held-back rows can say how steep probabilities are: ten, of every class."""
    classes = [np.unique(part.classes()).size for part in (held, examples)]
    return classes[0] == classes[1] and held.n_rows >= calibration.MIN_ROWS


def _slope(trial: Trial, validation: LabelledRows | None, recipe: Recipe, run: Run) -> float | None:
    """Return how steep probabilities should be by the rows held back; None if they are too few."""
    if not trial.trusted or validation is None:
        return None
    rows = recipe.widened(validation.counting())
    if not can_measure(rows, trial.rows.learn):
        return None
    scores = run.vote().scores(rows.table)
    slope = calibration.fit(TEMPERATURE, scores, rows.classes(), rows.weights).slope
    assert slope is not None
    # A trial on a part of the rows fits them more closely than the fit that follows fits all, so
    # the slope moves by a part of the way from its value without calibration: F is half of the log
    # odds of two classes, and of more classes the logarithm of a probability.
    uncalibrated = 2.0 if scores.ndim == 1 else 1.0
    return uncalibrated + trial.trusted * (slope - uncalibrated)
