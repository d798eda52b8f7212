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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.adaboost import AdaBoost
from pacboost.errors import DataError
from pacboost.fit.recipe import Recipe
from pacboost.fit.roles import split_by_class
from pacboost.fit.rows import LabelledRows, has_one_class, training_sample, validation_sample
from pacboost.fit.settings import MAX_TRIAL_ROWS, MORE_ROUNDS, TRIAL_SHARE, TRIALS_OF_BEST
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.vote import Vote
from pacboost.learners.learner import FunctionLearner
from pacboost.models import calibration
from pacboost.models.calibration import TEMPERATURE, Calibration
from pacboost.samples.sample import Sample
from pacboost.training.metrics import metric, metric_of
from pacboost.training.run.early_stopping import EarlyStopping
from pacboost.training.run.loop import Run
from pacboost.training.run.pairs import best_pairs


@dataclass(frozen=True)
class Stopping:
    """How a run is measured on validation rows, and when it stops."""

    eval_metric: Any
    patience: int | None
    """Rounds without progress after which a run stops; None for never."""
    needs_rows: bool = True
    """Whether validation rows without any weight are an error; else they are not measured."""


@dataclass(frozen=True, eq=False)
class Trial:
    """The first recipe of a fit, the rows that it may use, and what may follow."""

    recipe: Recipe
    everyone: LabelledRows
    learn: LabelledRows
    held: LabelledRows | None
    """Validation rows, if any."""
    stopping: Stopping
    classes: NDArray[Any]
    max_bins: int
    seed: int
    quality: str = "auto"
    refits: bool = False
    """Whether all rows are boosted on in the end, those held back included."""
    repeat_share: float = 0.0
    """The share of rows that further trials of quality="best" hold back; 0 for no such trials."""
    trusted: float = 0.0
    """How far a slope that held-back rows find is trusted, from 0 to 1."""
    kept_share: float = 0.0
    """The share of the first run's rounds that the run on all rows begins with."""
    bins_from: LabelledRows | None = None
    """Other rows that give the bins, if any."""
    is_drawn: bool = False
    """Whether the validation rows were drawn to choose between candidates."""

    def stages(self) -> Sequence[TrialStage]:
        """Return what is compared with the best so far, one stage after the other."""
        return (LargerTrees(), LinesFirst(self.everyone, self.quality)) if self.refits else ()


class TrialStage(ABC):
    """Candidates that follow from the best recipe of the stages before."""

    @abstractmethod
    def recipes(self, best: Recipe) -> list[Recipe]:
        """Return the candidates, perhaps none."""


class LargerTrees(TrialStage):
    """The same with larger trees."""

    def recipes(self, best: Recipe) -> list[Recipe]:
        """Return one candidate, where trees may be larger."""
        return best.with_larger_trees()


@dataclass(frozen=True, eq=False)
class LinesFirst(TrialStage):
    """The same with straight lines first."""

    everyone: LabelledRows
    quality: str

    def recipes(self, best: Recipe) -> list[Recipe]:
        """Return a candidate for every strength of lines."""
        return best.with_lines(self.everyone, self.quality)


class Watcher(ABC):
    """Whoever follows a fit: it advances the runs, and knows which one would be kept."""

    @abstractmethod
    def leads(self, recipe: Recipe, run: Run, *, last: bool) -> None:
        """Note that this run is kept from now on, if the fit is interrupted.

        The ``last`` run is the one whose rounds become the model.
        """

    @abstractmethod
    def advance(self, run: Run, rounds: int, *, last: bool) -> None:
        """Advance a run until so many rounds are done or it stops, and keep the best of them."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a race has found: the best recipe with its run, the best number of rounds, a slope."""

    recipe: Recipe
    run: Run
    rounds: int
    slope: float | None = None

    @property
    def calibration(self) -> Calibration | None:
        """The calibration of that slope."""
        return None if self.slope is None else Calibration(TEMPERATURE, (), self.slope)


def race(trial: Trial, watcher: Watcher) -> Outcome:
    """Run all candidates, and return the one with the least loss on the validation rows."""
    last = not trial.refits
    recipe, best = trial.recipe, start(trial, trial.recipe)
    watcher.leads(recipe, best, last=last)
    watcher.advance(best, recipe.rounds, last=last)
    for stage in trial.stages():
        for candidate in stage.recipes(recipe):
            run = start(trial, candidate, best.sample)
            watcher.advance(run, candidate.rounds, last=last)
            if _loss(run) < _loss(best):
                recipe, best = candidate, run
                watcher.leads(recipe, best, last=last)
    if recipe.pairs and not has_one_class(best.sample):
        rows = validation_sample(trial.everyone.counting(), best.sample)
        pairs = best_pairs(recipe.pairs, best.vote(), recipe.booster, rows)
        recipe = recipe.with_pairs(pairs, trial.everyone)
        best = start(trial, recipe, best.sample)
        watcher.leads(recipe, best, last=last)
        watcher.advance(best, recipe.rounds, last=last)
    runs, slopes = [best], [_slope(trial, trial.held, best)]
    for learn, held in _repeats(trial):
        runs.append(start(replace(trial, learn=learn, held=held), recipe))
        watcher.advance(runs[-1], recipe.rounds, last=last)
        slopes.append(_slope(trial, held, runs[-1]))
    measured = [slope for slope in slopes if slope is not None]
    slope = sum(measured) / len(measured) if measured else None
    return Outcome(recipe, best, round(sum(len(run.done) for run in runs) / len(runs)), slope)


def refit(trial: Trial, outcome: Outcome, watcher: Watcher) -> Run:
    """Boost on all rows, a tenth more rounds than were best with a part of them held back."""
    recipe, done, share = outcome.recipe, len(outcome.run.done), trial.kept_share
    rounds = min(recipe.rounds, math.ceil(MORE_ROUNDS * outcome.rounds))
    longer = replace(recipe, rounds=rounds - round(share * (rounds - done)))
    kept = round(share * done)
    if kept > len(outcome.run.opening):
        longer = replace(longer, openings=(outcome.run.first_rules(kept),))
    whole = replace(trial, learn=trial.everyone, held=None)
    if share and trial.bins_from is None:
        whole = replace(whole, bins_from=trial.learn.counting())
    run = start(whole, longer)
    watcher.leads(recipe, run, last=True)
    watcher.advance(run, longer.rounds, last=True)
    if longer.rounds < recipe.rounds:
        assert run.stopped is not None
        run.stopped = replace(run.stopped, best_round=outcome.rounds)
    return run


def start(trial: Trial, recipe: Recipe, sample: Sample | None = None) -> Run:
    """Set up the run of a recipe; ``sample`` holds its rows, where they were binned before."""
    if sample is None:
        sample = training_sample(
            trial.learn.counting(), trial.classes, trial.max_bins,
            codes=recipe.learner.codes, bins_from=trial.bins_from,
        )  # fmt: skip
    if has_one_class(sample):
        constant = StumpRule.constant(int(sample.signs[0, 0]))
        always = FunctionLearner(lambda X, y, weights: constant)
        recipe = replace(recipe, learner=always, booster=AdaBoost(), openings=())
    return Run(
        sample,
        recipe.learner,
        recipe.booster,
        seed=trial.seed,
        resample=recipe.resample,
        subsample=recipe.subsample,
        watch=_watch(trial, recipe, sample),
        openings=recipe.openings,
    )


def _watch(trial: Trial, recipe: Recipe, training: Sample) -> EarlyStopping | None:
    stopping, held, booster = trial.stopping, trial.held, recipe.booster
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
    rows = validation_sample(held.counting(), training)
    return EarlyStopping(rows, measure, stopping.patience, recipe.least)


def _loss(run: Run) -> float:
    return math.inf if run.watch is None else run.watch.loss


def _repeats(trial: Trial) -> Iterator[tuple[LabelledRows, LabelledRows]]:
    """Return other divisions of the rows, for trials whose rounds and slopes are averaged."""
    if not (trial.refits and trial.repeat_share and trial.quality == "best"):
        return
    for number in range(1, TRIALS_OF_BEST):
        learn, held = split_by_class(
            trial.everyone, "validation_fraction", trial.repeat_share, trial.seed + number
        )
        if trial.everyone.targets is not None or can_measure(held, learn):
            yield learn, held


def hold_back(
    examples: LabelledRows, seed: int, watching: NDArray[np.bool_] | None = None
) -> tuple[LabelledRows, LabelledRows] | None:
    """Divide rows into those that a trial boosts on and measures; None if a class is rare.

    ``watching`` says which are measured, where that is not left to chance.
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


def _slope(trial: Trial, held: LabelledRows | None, run: Run) -> float | None:
    """Return how steep probabilities should be by the rows held back; None if they are too few."""
    if not trial.trusted or held is None or not can_measure(held.counting(), trial.everyone):
        return None
    return steepness(held.counting(), trial.trusted, run.vote())


def steepness(held: LabelledRows, trusted: float, vote: Vote) -> float:
    """Find how steep the probabilities of rows that were not boosted on should be.

    A trial on a part of the rows fits them more closely than the fit that follows fits all, so the
    slope moves by a part of the way. With more than three classes scores are too steep by more than
    that, and half of the rows are enough to be trusted.
    """
    scores = vote.scores(held.table)
    slope = calibration.fit(TEMPERATURE, scores, held.classes(), held.weights).slope
    assert slope is not None
    usual = 2.0 if scores.ndim == 1 else 1.0
    return usual + trusted * (slope - usual)
