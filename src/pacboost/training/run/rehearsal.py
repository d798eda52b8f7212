"""Compile the kernels of boosting on two cores, by using each of them once on a tiny sample.

Run as a program, this module compiles what grows a tree, or finds a stump, and then what scores
rows. kernels/runtime/compile_helper.py starts it on the first fit of an installation. The process
that fits compiles the rest meanwhile.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import Booster, Moved
from pacboost.boosters.logit import Logit
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.kernels import bins, grow_team, measure, split
from pacboost.kernels.measure import LOGISTIC
from pacboost.kernels.runtime import compile_helper
from pacboost.kernels.runtime.board import board_for, take_turns
from pacboost.kernels.runtime.entry import address_of, entry_of
from pacboost.kernels.runtime.team import Steps, Team
from pacboost.learners import growing, tree
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Request, Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.training.metrics import mean_cost, metric
from pacboost.training.run import scores
from pacboost.training.run.early_stopping import EarlyStopping

ROWS = 600
"""Enough for trees to be scored by masks: see hypotheses/scored_trees.py."""


def finish_compiling(sample: Sample, learner: Learner, booster: Booster[Any]) -> None:
    """If a second process compiles what grows trees, compile the rest, and wait for it.

    Where the run will need other kernels, the second process is ended.
    """
    if not compile_helper.at_work():
        return
    plain = sample.sparse is None and sample.bins is not None and not sample.bins.levels.any()
    if plain and sample.signs.shape[1] == 1:
        kinds = type(learner), type(booster)
        if kinds == (Tree, Logit):
            address_of(split.scan, split.KINDS)
            weigh_and_measure()
            call_a_team()
            compile_helper.wait_for(compile_helper.TREES)
            return
        if kinds == (Stump, AdaBoost):
            vote_and_measure()
            call_a_team()
            compile_helper.wait_for(compile_helper.STUMPS)
            return
    compile_helper.stop()


def tiny_sample() -> Sample:
    """Draw rows of two classes, whose features have two values each."""
    generator = np.random.default_rng(0)
    table = ArrayTable(np.sign(generator.normal(size=(ROWS, 2))))
    signs = np.where(table.rows()[:, :1] > 0, np.int8(1), np.int8(-1))
    return Sample(table, signs, bins=fit_bins(table))


class Compiled(Exception):  # noqa: N818 - not an error
    """What a kernel would have been run for is compiled."""


def grow() -> None:
    """Compile what grows a tree; do not grow one: what searches splits is compiled elsewhere."""
    sample = tiny_sample()
    ones = np.ones(sample.signs.shape, dtype=np.int64)

    def compile_only(body: Any, *arguments: Any, **_: Any) -> None:
        entry_of(body, (board_for(1), *arguments))
        if body is grow_team.grow_tree:
            raise Compiled

    for module in (growing, tree):
        vars(module)["together"] = compile_only
    vars(tree)["_scan"] = lambda _: 0
    with suppress(Compiled):
        Tree().on(sample).partition(Request(ones, ones * sample.signs, ROWS, ROWS), 0, None)


def many_rounds() -> None:
    """Compile what does many rounds at a time, after ``grow``; do none.

    The first fit does without: see training/run/quick.py.
    """
    from pacboost.training.run import quick  # it comes after this module
    from pacboost.training.run.loop import Run

    def compile_only(steps: Steps, team: int, course: NDArray[np.int64]) -> None:
        own = board_for(1)
        for body, arguments in steps:
            entry_of(body, (own, *arguments))
        entry_of(take_turns, (own, np.zeros((1, 2), dtype=np.int64), course))

    vars(quick)["in_turn"] = compile_only
    sample = tiny_sample()
    watch = EarlyStopping(sample, metric("log_loss"), None)
    run = Run(sample, Tree(), Logit(), subsample=0.5, watch=watch)
    quick_rounds = quick.QuickRounds.of(run, quick.ROUNDS_THAT_PAY + 1)
    assert quick_rounds is not None
    quick_rounds.advance(1)


def find_stump() -> None:
    """Find a stump."""
    sample = tiny_sample()
    Stump().on(sample).find(np.ones(ROWS, dtype=np.int64), sample.signs[:, 0])


def interpret_what_others_compile() -> None:
    """Let Python itself read rows, of which there are few.

    The process that fits compiles the kernel for it. What it calls is not needed here: features
    of two values have one cut.
    """
    compiled: Any = bins.encode
    vars(bins)["encode"] = compiled.py_func


def weigh_and_measure() -> None:
    """Weigh rows by a round of LogitBoost, and measure it."""
    sample, booster = tiny_sample(), Logit()
    state = booster.init(sample.signs, sample.base)
    cells = np.zeros(ROWS, dtype=np.uint8)
    sums, _ = scores.cell_sums(booster.request(state), cells, 1)
    values = booster.values(state, sums, cells)
    state = booster.move(state, Moved(cells, values, 1.0, None))
    mean_cost(LOGISTIC, state.margins, sample.base)
    scores.training_error(state.margins, sample, np.ones(1, dtype=np.int64))


def vote_and_measure() -> None:
    """Weigh rows by a round of AdaBoost with a stump, and measure it."""
    sample, booster = tiny_sample(), AdaBoost()
    state = booster.init(sample.signs, sample.base)
    agree = StumpRule(0, 0.0, 0, 1, 1).agreement(sample)
    measured, _ = scores.masses(booster.request(state).weights[:, 0], agree)
    booster.step(state, agree[:, None], measured)
    scores.training_error(state.margins, sample, np.ones(1, dtype=np.int64))


def call_a_team() -> None:
    """Have a team of two do nothing."""
    team = Team()
    totals = np.zeros((2, 1), dtype=np.int64)
    team.run(measure.mistakes, 2, np.ones(2), np.ones(1, dtype=np.int64), totals)
    team.close()


def score_by_stumps() -> None:
    """Score rows by a stump."""
    Vote([StumpRule(0, 0.0, 0, 1, 1)], np.ones(1), 1).scores(tiny_sample().table)


def score_by_trees() -> None:
    """Score rows by a tree of two leaves: many of them by masks, and few by a walk."""
    sample, one = tiny_sample(), np.array([0], dtype=np.int32)
    tree = TreeRule(
        fit_bins(sample.table), one, one, np.array([False]), ~one, ~one - 1, one - 1,
        np.empty((0, 256), dtype=np.uint8), np.zeros(1), np.ones(3), np.array([[-1.0], [1.0]]),
    )  # fmt: skip
    vote = Vote([tree], np.ones(1), 1)
    vote.scores(sample.table)
    vote.scores(sample.table.take(np.arange(2)))


if __name__ == "__main__":
    interpret_what_others_compile()
    if sys.argv[1] == compile_helper.TREES:
        grow()
        score_by_trees()
        many_rounds()
    else:
        find_stump()
        score_by_stumps()
