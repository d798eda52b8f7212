"""The stages of a trial: columns, larger trees, lines, pairs and repeats, in this order.

A stage takes the best candidate of those before, and returns the best after it. A further one is a
class and its place in ``STAGES``.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace

from pacboost.fit import derive
from pacboost.fit.recipe import Candidate
from pacboost.fit.roles import split_by_class
from pacboost.fit.rows import LabelledRows, has_one_class, validation_sample
from pacboost.fit.settings import (
    DERIVED_MARGIN,
    LINE_STRENGTHS,
    MIN_ROUNDS_PER_LINE,
    ROUNDS_OF_A_HEAT,
    ROUNDS_OF_A_SEARCH,
    ROUNDS_OF_THE_FIRST_HEAT,
    TRIALS_OF_BEST,
    ramp,
)
from pacboost.fit.trial import Outcome, Trial, TrialStage, Watcher, can_measure, lead, start
from pacboost.learners.tree import Tree
from pacboost.models import calibration
from pacboost.models.calibration import TEMPERATURE, Calibration
from pacboost.training.run.loop import Run


class DerivedFirst(TrialStage):
    """Columns derived from others against none; the winner runs to its end."""

    def run(self, best: Outcome, trial: Trial, watcher: Watcher) -> Outcome:
        """Race over the first rounds: a run of a trial is long, and columns show early."""
        if trial.ask.derive and trial.refits and derive.is_possible(best.recipe, best.run):
            best = self._race(best, trial, watcher)
        watcher.complete(best.run, best.recipe.rounds, last=not trial.refits)
        return best

    def _race(self, best: Outcome, trial: Trial, watcher: Watcher) -> Outcome:
        run = best.run
        watcher.advance(run, ROUNDS_OF_A_HEAT, last=False)
        if not (every := derive.candidates(run)):
            return best
        some = replace(trial, learn=derive.searched(trial.learn), validation=None)
        wide = start(some, best.candidate.having(derived=every))
        watcher.advance(wide, min(ROUNDS_OF_A_SEARCH, best.recipe.rounds), last=False)
        if not (used := derive.most_used(wide, every)):
            return best
        candidate = best.candidate.having(derived=used)
        other = start(trial, candidate)
        assert run.watch is not None
        assert other.watch is not None
        other.watch.race_with(run.watch, ROUNDS_OF_THE_FIRST_HEAT)
        watcher.advance(other, ROUNDS_OF_A_HEAT, last=False)
        loss = run.watch.best_after(ROUNDS_OF_A_HEAT)
        if other.watch.best_after(ROUNDS_OF_A_HEAT) >= loss - DERIVED_MARGIN * abs(loss):
            return best
        return lead(trial, candidate, other, watcher, last=False)


class Challenge(TrialStage):
    """Candidates that follow from the best so far, and win with less loss on the held-back rows."""

    @abstractmethod
    def challengers(self, best: Candidate, trial: Trial) -> list[Candidate]:
        """Return the candidates, perhaps none."""

    def run(self, best: Outcome, trial: Trial, watcher: Watcher) -> Outcome:
        """Run each challenger to its end, or until it is behind after a heat."""
        # without a refit, rows that chose between candidates would be lost to learning
        for candidate in self.challengers(best.candidate, trial) if trial.refits else ():
            run = start(trial, candidate, best.run.sample)
            if run.watch is not None and best.run.watch is not None:
                run.watch.race_with(best.run.watch, ROUNDS_OF_A_HEAT + len(run.opening))
            watcher.complete(run, candidate.recipe.rounds, last=False)
            if _loss(run) < _loss(best.run):
                best = lead(trial, candidate, run, watcher, last=False)
        return best


class LargerTrees(Challenge):
    """The same with larger trees."""

    def challengers(self, best: Candidate, trial: Trial) -> list[Candidate]:
        """Return one candidate, if there are many classes."""
        # large trees have .94 of the log loss where many classes are clear, and 1.41 of it where
        # labels are noisy (docs/decisions/0027), which numbers of rows and classes do not show
        if best.larger is None:
            return []
        return [replace(best.having(learner=best.larger), larger=None)]


class LinesFirst(Challenge):
    """The same with straight lines first."""

    def challengers(self, best: Candidate, trial: Trial) -> list[Candidate]:
        """Return a candidate for every strength of lines, if learner and table allow them."""
        # trees follow a slope in steps; lines chosen by a trial have .939 of the error without
        # them and never lose, lines without a trial lose up to 22 % (docs/decisions/0022)
        recipe = best.recipe
        table = recipe.widened(trial.rows.learn).table
        columns, learner, name = table.n_columns, recipe.learner, recipe.booster.name
        # lines break monotone constraints, and of a sparse table they would ask for every column
        free = isinstance(learner, Tree) and not learner.monotone and table.entries is None
        if recipe.openings or not free or recipe.rounds < MIN_ROUNDS_PER_LINE * columns:
            return []
        from pacboost.training.run.straight_lines import StraightLines

        # with 40,000 rows lines gain half a percent of the log loss and double the time, so that
        # they fade out before 30,000 (docs/decisions/0028)
        share = 1 - ramp(trial.rows.learn.n_rows)
        # early stopping may not cut lines off
        longer = replace(best, min_rounds=max(best.min_rounds, columns + len(recipe.derived) + 1))
        is_best = trial.ask.quality == "best" and name in LINE_STRENGTHS
        strengths = LINE_STRENGTHS.get("square" if is_best else name, ()) if share else ()
        return [longer.having(openings=(StraightLines(share * each),)) for each in strengths]


class ChosenPairs(TrialStage):
    """Pairs of columns that may interact, where only chosen ones may."""

    def run(self, best: Outcome, trial: Trial, watcher: Watcher) -> Outcome:
        """Choose the pairs by a run of single columns, and run again with them."""
        sample, rows = best.run.sample, trial.rows.learn
        if not best.candidate.pairs or has_one_class(sample):
            return best
        from pacboost.training.run.pairs import best_pairs

        # pairs are judged by what single columns leave unexplained, so these are boosted first
        residuals = validation_sample(rows.counting(), sample)
        vote, booster = best.run.vote(), best.recipe.booster
        pairs = best_pairs(best.candidate.pairs, vote, booster, residuals)
        learner, table = best.recipe.learner, rows.table
        assert isinstance(learner, Tree)
        mixed = replace(learner, interactions=[*((j,) for j in range(table.n_columns)), *pairs])
        names = tuple((table.name(i), table.name(j)) for i, j in pairs)
        candidate = replace(best.candidate, pairs=0).having(learner=mixed, interactions=names)
        last = not trial.refits
        best = lead(trial, candidate, start(trial, candidate, sample), watcher, last=last)
        watcher.complete(best.run, best.recipe.rounds, last=last)
        return best


class Repeats(TrialStage):
    """The best candidate on other divisions of the rows, whose rounds and slopes are averaged."""

    def run(self, best: Outcome, trial: Trial, watcher: Watcher) -> Outcome:
        """Repeat the trial with quality="best", and measure how steep probabilities should be."""
        # the mean of five trials has .985 of the log loss and .90 of the calibration error of one
        runs, slopes = [], [_slope(trial, best.candidate, best.run)]
        for learn, validation in self._divisions(trial):
            other = replace(trial, learn=learn, validation=validation)
            runs.append(start(other, best.candidate))
            watcher.complete(runs[-1], best.recipe.rounds, last=False)
            slopes.append(_slope(other, best.candidate, runs[-1]))
        measured = [slope for slope in slopes if slope is not None]
        curve = Calibration(TEMPERATURE, (), sum(measured) / len(measured)) if measured else None
        return replace(best, repeats=tuple(runs), calibration=curve)

    def _divisions(self, trial: Trial) -> Iterator[tuple[LabelledRows, LabelledRows]]:
        if not (trial.refits and trial.repeat_share and trial.ask.quality == "best"):
            return
        for number in range(1, TRIALS_OF_BEST):
            learn, held = split_by_class(
                trial.rows.learn, "validation_fraction", trial.repeat_share, trial.ask.seed + number
            )
            if trial.ask.predicts_numbers or can_measure(held, learn):
                yield learn, held


STAGES: tuple[TrialStage, ...] = (
    DerivedFirst(),
    LargerTrees(),
    LinesFirst(),
    ChosenPairs(),
    Repeats(),
)


def _loss(run: Run) -> float:
    return math.inf if run.watch is None else run.watch.loss


def _slope(trial: Trial, candidate: Candidate, run: Run) -> float | None:
    """Return how steep probabilities should be by the rows held back; None if they are too few."""
    if not trial.slope_trust or trial.validation is None:
        return None
    rows = candidate.recipe.widened(trial.validation.counting())
    if not can_measure(rows, trial.rows.learn):
        return None
    scores = run.vote().scores(rows.table)
    slope = calibration.fit(TEMPERATURE, scores, rows.classes(), rows.weights).slope
    assert slope is not None
    # A trial on a part of the rows fits them more closely than the fit that follows fits all, so
    # the slope moves by a part of the way from its value without calibration: F is half of the log
    # odds of two classes, and of more classes the logarithm of a probability.
    uncalibrated = 2.0 if scores.ndim == 1 else 1.0
    return uncalibrated + trial.slope_trust * (slope - uncalibrated)
