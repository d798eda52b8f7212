"""Many rounds of LogitBoost in one call of compiled code.

kernels/quick_rounds.py does what a round of training/run/rounds.py does, with the same numbers to
the last bit; here their records are turned into rules and entries of the ledger.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pacboost.boosters.booster import Measured
from pacboost.boosters.logit import MOST_STEP, Logit, LogitState
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import grow_team, measure, quick_rounds, update
from pacboost.kernels import quick_rounds as quick
from pacboost.kernels.cuda.device import gpu_in_use
from pacboost.kernels.numpy_draw import divide_rows
from pacboost.kernels.runtime import compile_helper
from pacboost.kernels.runtime.entry import Bundle, is_compiled
from pacboost.kernels.runtime.team import Steps, in_turn
from pacboost.kernels.runtime.threads import ROWS_PER_SPAN, span_count
from pacboost.kernels.split import MISSING_LEFT
from pacboost.learners.dense_growing import DenseTreeSearch, ManyTrees
from pacboost.learners.growing import MOST_SUM
from pacboost.ledgers.ledger import Round
from pacboost.numerics.exact import FRESH_TOTAL, VOTE_UNIT
from pacboost.numerics.same_bits import total
from pacboost.training.run import scores as exact_sums
from pacboost.training.run.early_stopping import EarlyStopping, QuickWatch
from pacboost.training.run.potentials import LEAST_NORMALISER, Logistic
from pacboost.training.run.record import FinishedRound, Recorder
from pacboost.training.run.rounds import LEAST_EDGE, CellRounds, Rounds
from pacboost.training.run.scores import Margins

AT_ONCE = 64
"""So many rounds at most in one call, between which Ctrl-C is heard."""
ROWS_AT_ONCE = 200_000
"""Rows times rounds of one call, which takes some 0.1 s at most, for each of up to four threads."""


ROUNDS_THAT_PAY = 4_000
"""What is saved in so many rounds takes as long as to compile what saves it: some 2 s."""


@dataclass(frozen=True, eq=False)
class QuickRounds:
    """The rounds of a run, and what they are measured by."""

    rounds: Rounds
    booster: Logit
    recorder: Recorder
    trees: ManyTrees
    watch: EarlyStopping | None
    most: int
    """How many rounds are done at once."""

    @classmethod
    def of(
        cls,
        rounds: Rounds,
        recorder: Recorder,
        watch: EarlyStopping | None,
        state: Any,
        wanted: int,
    ) -> QuickRounds | None:
        """Return them if kernels can do such rounds, and are compiled or worth it; None if not."""
        sample, search, shown = rounds.sample, rounds.search, rounds.shown
        kinds = type(rounds), type(rounds.booster), type(search), type(rounds.scores)
        if kinds != (CellRounds, Logit, DenseTreeSearch, Margins) or gpu_in_use():
            return None
        plain = sample.signs.shape[1] == 1 and sample.base.size == 1 and not shown.resample
        measured = type(rounds.potential) is Logistic
        assert isinstance(search, DenseTreeSearch)
        assert isinstance(rounds.booster, Logit)
        if not (plain and measured) or not _watchable(watch, sample.bins):
            return None
        trees = search.many_trees(rounds.booster.request(state), shown.chosen(0))
        if trees is None or trees.takes_long:
            return None
        most = max(1, min(AT_ONCE, min(trees.team, 4) * ROWS_AT_ONCE // sample.n_rows))
        found = cls(rounds, rounds.booster, recorder, trees, watch, most)
        return found if found._is_ready(state) or _pays(wanted) else None

    def _is_ready(self, state: LogitState) -> bool:
        """Check whether the kernels are compiled, by the last one."""
        records, sums = self._room(1, state)
        course, settings = self._course(state, 1, None)
        return is_compiled(quick.finish, (course, course, settings, sums, 0, records))

    def advance(
        self, state: LogitState, done: int, rounds: int
    ) -> tuple[LogitState, list[FinishedRound]]:
        """Do some rounds, so that there are no more than so many; perhaps none has an edge."""
        started = time.perf_counter()
        wanted = min(self.most, rounds - done)
        drawn = self._drawn(done + 1, wanted)
        records, sums = self._room(wanted, state)
        watched = None
        if self.watch is not None and self.rounds.sample.bins is not None:
            watched = self.watch.quick(self.rounds.sample.bins)
        course, settings = self._course(state, wanted, watched)
        in_turn(
            self._steps(state, course, settings, drawn, records, sums, watched),
            self.trees.team,
            course,
        )
        count = int(course[quick_rounds.ROUND])
        state.cast.extend([1.0] * count)
        weight, pull = sums.now.tolist()
        seconds = (time.perf_counter() - started) / max(1, count)
        found = self._read(records, done, count, seconds)
        return replace(state, weight=weight, pull=pull), found

    def _drawn(self, first: int, wanted: int) -> quick_rounds.DrawnRows:
        """Draw the rows and the features of some rounds."""
        shown = self.rounds.shown
        size = 0 if shown.all_rows else self.trees.work.rows.size
        others = 0 if shown.all_rows else shown.rows - size
        keys = np.empty(wanted, dtype=np.int64)
        chosen, aside = (np.empty((wanted, own), dtype=np.uint32) for own in (size, others))
        divide_rows(shown.entropy(first), keys, chosen, aside)
        return quick_rounds.DrawnRows(keys, chosen, aside)

    def _room(
        self, wanted: int, state: LogitState
    ) -> tuple[quick_rounds.Records, quick_rounds.RoundSums]:
        """Reserve what kernels write to."""
        leaves, team = self.trees.leaves, self.trees.team
        spans = span_count(self.rounds.sample.n_rows)
        records = quick_rounds.Records(
            np.zeros((wanted, 5, leaves), dtype=np.int32), np.zeros((wanted, leaves)),
            np.zeros((wanted, leaves)), np.zeros((wanted, 2 * leaves)),
            np.zeros((wanted, 4), dtype=np.int64), np.zeros((wanted, 2)),
            *np.zeros((2, wanted, spans)),
        )  # fmt: skip
        now = np.array([state.weight, state.pull], dtype=np.int64)
        parts = np.zeros((team, 2, leaves), dtype=np.int64)
        totals, wrong = (np.zeros((team, size), dtype=np.int64) for size in (2, 1))
        return records, quick_rounds.RoundSums(
            now, parts, np.zeros(spans), totals, wrong, np.zeros(spans), np.zeros(1)
        )

    def _course(
        self, state: LogitState, wanted: int, watched: QuickWatch | None
    ) -> tuple[np.ndarray[Any, np.dtype[np.int64]], np.ndarray[Any, np.dtype[np.float64]]]:
        """Return how many rounds to do, when to stop before, and by which numbers."""
        booster = self.booster
        counts = (0, 0, -1, 0) if watched is None else watched.counts
        limits = (math.inf, 0.0) if watched is None else watched.limits
        course = np.array([1, 0, wanted, *counts, 0], dtype=np.int64)
        penalty, rate = booster.request(state).penalty, 0.5 * booster.learning_rate
        fixed = MOST_SUM, penalty, rate, MOST_STEP, VOTE_UNIT, LEAST_EDGE
        return course, np.array([*fixed, *limits], dtype=np.float64)

    def _steps(
        self, state: LogitState, course: Any, settings: Any, drawn: quick_rounds.DrawnRows,
        records: quick_rounds.Records, sums: quick_rounds.RoundSums, watched: QuickWatch | None,
    ) -> Steps:  # fmt: skip
        """Return the kernels of a round in their order, with their arguments."""
        columns = state.signs, state.margins, state.weights, state.pulls
        signs, margins, weights, pulls = (column.reshape(-1) for column in columns)
        cells, values = self.trees.cells, np.zeros(self.trees.leaves)
        tree, records_, sums_, drawn_ = map(Bundle, (self.trees.work, records, sums, drawn))
        most, ones = float(self.booster.max_target), np.ones(1, dtype=np.int64)
        size = ROWS_PER_SPAN
        steps: list[Any] = [
            (quick.begin, (course, settings, drawn_, weights, pulls, tree, sums_)),
            (grow_team.grow_tree, self.trees.given),
            (quick.settle, (course, drawn_, tree, cells)),
            (measure.cell_sums_of_one,
             (cells, weights, pulls, False, size, sums.parts, sums.squares)),
            (quick.give_values, (course, settings, tree, sums_, values, records_)),
            (update.logistic,
             (cells, values, signs, state.base, most, margins, weights, pulls, sums.totals)),
            (measure.log_costs, (margins, size, sums.cost)),
            (measure.mistakes, (margins, ones, sums.wrong)),
        ]  # fmt: skip
        held = 0
        if watched is not None:
            scores, held = watched.scores, watched.scores.size
            own = np.zeros(held)
            shown = watched.codes, watched.signs, tree, values, scores, own
            steps += [
                (quick.validate, shown),
                (measure.log_costs, (own, size, sums.held_cost)),
            ]
        return [*steps, (quick.finish, (course, settings, sums_, held, records_))]

    def _read(
        self, records: quick_rounds.Records, done: int, count: int, seconds: float
    ) -> list[FinishedRound]:
        """Turn records into rules and entries of the ledger; measure what follows from them."""
        rounds, names, potential = self.rounds, self.recorder.names, self.rounds.potential
        rows, none = rounds.sample.n_rows, np.empty((0, 256), dtype=np.uint8)
        no_member = np.full(self.trees.leaves, -1, dtype=np.int32)
        missing_sides = records.made[:, MISSING_LEFT].astype(np.bool_)
        bins = rounds.sample.bins
        assert bins is not None
        largest = np.abs(records.values).max(axis=1, initial=0.0).tolist()
        found = []
        lines = zip(records.wholes[:count].tolist(), records.floats.tolist(), strict=False)
        for k, (wholes, floats) in enumerate(lines):
            leaves, weight, pull, wrong = wholes
            edge, held_cost = floats
            squares, cost = total(records.squares[k]), total(records.costs[k])
            splits, pull = leaves - 1, max(1, pull)
            weight_scale, pull_scale = MOST_SUM / max(1, weight), MOST_SUM / pull
            feature, cut, _, left, right = records.made[k, :, :splits]
            tree = TreeRule(
                bins, feature, cut, missing_sides[k, :splits], left, right,
                no_member[:splits], none,
                records.gains[k, :splits] * (weight_scale / pull_scale**2 / FRESH_TOTAL),
                records.cover[k, : splits + leaves], records.values[k, :leaves, None],
            )  # fmt: skip
            measured = Measured(pull, round(pull * (1 - edge) / 2))
            mean = max(cost / float(Logistic.unit * rows), exact_sums.LEAST_COST)
            before, potential.now = potential.now, mean
            entry = Round(
                number=done + k + 1,
                error=measured.error,
                edge=measured.edge,
                vote=largest[k],
                normaliser=max(mean / before if before > 0 else 1.0, LEAST_NORMALISER),
                training_error=wrong / rows,
                effective_size=pull**2 / squares if squares > 0 else 0.0,
                weight=pull,
                memory=[],
                rule=tree.words(names),
                seconds=seconds,
                validation=None if self.watch is None else self.watch.note(held_cost),
            )
            found.append(FinishedRound(tree, entry))
        return found


_waited = 0
"""How many rounds of this process have been done one by one, since nothing was compiled."""


def _pays(rounds: int) -> bool:
    """Check whether to compile for so many rounds, after those that have done without.

    On the first fit of an installation a second process may compile all this, too, but last.
    """
    global _waited  # noqa: PLW0603 - for the whole process
    if compile_helper.at_work():
        return False
    _waited += rounds
    return _waited > ROUNDS_THAT_PAY


def _watchable(watch: EarlyStopping | None, bins: Any) -> bool:
    return watch is None or watch.quick(bins) is not None
