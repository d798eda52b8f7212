"""Trials of small tables, and a watcher that notes what leads and what runs."""

from typing import Any

import numpy as np

from pacboost.boosters.logit import Logit
from pacboost.boosters.losses.square import Square
from pacboost.fit.ask import Ask, Chooser, FitRows, Stopping
from pacboost.fit.recipe import Candidate, Recipe
from pacboost.fit.roles import split_by_class
from pacboost.fit.rows import LabelledRows
from pacboost.fit.trial import Outcome, Trial, Watcher
from pacboost.learners.tree import Tree
from pacboost.models.schema import ColumnOptions, Schema
from pacboost.samples.sample import signs_of
from pacboost.sources.arrays import ArrayTable
from pacboost.training.run.loop import Run

NUMBERS = np.zeros(0)
SMALL, LARGE = Tree(max_leaves=3), Tree(max_leaves=12)


class Noted(Watcher):
    def __init__(self) -> None:
        self.leading: list[tuple[Candidate, bool]] = []
        self.runs: list[tuple[Run, bool]] = []
        self.advanced: list[Run] = []

    def begins(self, rows: FitRows) -> None:
        raise AssertionError("a race has its rows")

    def leads(self, best: Outcome, *, last: bool) -> None:
        self.leading.append((best.candidate, last))

    def advance(self, run: Run, rounds: int, *, last: bool) -> None:
        list(run.up_to(rounds))
        self.advanced.append(run)

    def complete(self, run: Run, rounds: int, *, last: bool) -> None:
        self.advance(run, rounds, last=last)
        run.keep_best()
        self.runs.append((run, last))


def labelled(rows: int, seed: int = 0) -> LabelledRows:
    """Two classes by a product, and by noise."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 3))
    score = X[:, 0] + 2 * X[:, 1] * X[:, 2] + 0.5 * generator.normal(size=rows)
    signs, labels = signs_of((score > 0.4).astype(int), 2)
    return LabelledRows(ArrayTable(X), signs, None, labels)


def numbers(rows: int, *, straight: bool) -> LabelledRows:
    generator = np.random.default_rng(1)
    X = generator.normal(size=(rows, 3))
    score = X @ np.array([3.0, -2.0, 1.0]) if straight else np.sign(np.abs(X[:, 0]) - 0.7)
    y = score + 0.1 * generator.normal(size=rows)
    return LabelledRows(ArrayTable(X), np.ones((rows, 1), dtype=np.int8), targets=y)


class NoChooser(Chooser):
    def candidate(self, rows: FitRows, ask: Ask) -> Candidate:
        raise AssertionError("a trial has its recipe")


def trial_of(everyone: LabelledRows, first: Candidate, quality: str = "auto", **more: Any) -> Trial:
    learn, held = split_by_class(everyone, "validation_fraction", 0.2, 5)
    metric = "log_loss" if everyone.targets is None else "loss"
    classes = np.arange(2) if everyone.targets is None else NUMBERS
    ask = Ask(NoChooser(), ColumnOptions("tests"), 5, Stopping(metric, 10), quality=quality)
    rows = FitRows(Schema(3), everyone, classes)
    return Trial(ask, rows, first, learn, held, **{"refits": True, **more})


def of_classes(**more: Any) -> Candidate:
    return Candidate(Recipe(SMALL, Logit(0.3, prior=True), 40), **more)


def of_numbers(learner: Tree, rounds: int) -> Candidate:
    return Candidate(Recipe(learner, Square(0.1), rounds))
