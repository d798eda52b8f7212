"""Many rounds in one call of compiled code (kernels/quick_rounds.py).

Their records are turned into rules and entries of the ledger, equal to the last bit to those of
rounds that run one by one.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Booster, Measured, grown
from pacboost.boosters.logit import MAX_STEP, Logit
from pacboost.boosters.regression import Square
from pacboost.hypotheses.hypothesis import Cells
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import grow_team, measure, quick_rounds, row_costs, update
from pacboost.kernels.layout import CATEGORY, MISSING_LEFT
from pacboost.kernels.quick_rounds import RoundSums
from pacboost.kernels.row_draws import KEY_BITS
from pacboost.kernels.runtime import jit
from pacboost.kernels.runtime.board import LINE
from pacboost.kernels.runtime.entry import Bundle, is_compiled
from pacboost.kernels.runtime.team import Steps, in_turn
from pacboost.kernels.runtime.threads import ROWS_PER_SUM, sum_count
from pacboost.learners.growing import MAX_SUM
from pacboost.learners.tree import DenseTreeSearch, ManyTrees
from pacboost.ledgers.ledger import Round
from pacboost.numerics.exact import FRESH_TOTAL, VOTE_UNIT
from pacboost.numerics.same_bits import totals
from pacboost.samples.bins import Bins
from pacboost.training.run.early_stopping import QuickWatch
from pacboost.training.run.potentials import (
    MIN_NORMALISER,
    Logistic,
    Loss,
    MeasuredPotential,
    Unmeasured,
)
from pacboost.training.run.rounds import MIN_EDGE, CellRounds, FinishedRound
from pacboost.training.run.scores import MIN_COST, Margins

if TYPE_CHECKING:
    from pacboost.training.run.loop import Run

MAX_ROUNDS_PER_CALL = 64
"""Maximum number of rounds of one call; Ctrl-C is handled between calls."""
MAX_ROWS_PER_CALL = 200_000
"""Maximum number of rows times rounds of one call and thread, which take about 0.1 s."""
ROUNDS_TO_COMPILE = 4_000
"""Compiling takes about 2 s, as long as this number of rounds saves."""
ROUNDS_TO_COMPILE_IN_A_FIRST_RUN = 40_000
"""The same in a process that has just compiled all other kernels: its user has waited enough."""


class QuickLoss(ABC):
    """A loss that has kernels: how it gives values to leaves, moves scores and measures them."""

    potential: ClassVar[type[MeasuredPotential]]
    unit: ClassVar[float] = 1.0
    """The unit of the potential."""
    min_cost: ClassVar[float] = 0.0
    has_mistakes: ClassVar[bool] = False
    """Whether the training error counts mistakes; otherwise it is the potential."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.booster: Any = run.booster

    @property
    @abstractmethod
    def limits(self) -> tuple[float, float]:
        """The maximum mean of a leaf, and the unit of values."""

    @property
    @abstractmethod
    def progress(self) -> tuple[float, float]:
        """The factor from residuals to pulls, and the largest residual."""

    @abstractmethod
    def rates(self, rounds: int) -> NDArray[np.float64]:
        """Return the learning rates of the next rounds."""

    @abstractmethod
    def follow(
        self, cells: Cells, values: NDArray[np.float64], settings: Any, sums: RoundSums
    ) -> Steps:
        """Return the kernels that move scores, weights and pulls, and count mistakes."""

    @abstractmethod
    def measure(self, sums: NDArray[np.float64]) -> Steps:
        """Return the kernels that measure the potential, span by span."""

    @abstractmethod
    def validate(
        self, watched: QuickWatch, room: NDArray[np.float64], result: NDArray[np.float64]
    ) -> Steps:
        """Return the kernels that measure validation rows, whose margins are in ``room``."""

    def state_after(self, weight: int, pull: int, settings: NDArray[np.float64]) -> Any:
        return replace(self.run.state, weight=weight, pull=pull)


class LogitLoss(QuickLoss):
    """The logistic loss of two classes."""

    potential, unit, min_cost, has_mistakes = Logistic, Logistic.unit, MIN_COST, True
    limits, progress = (MAX_STEP, VOTE_UNIT), (1.0, math.inf)

    def rates(self, rounds: int) -> NDArray[np.float64]:
        return np.full(rounds, 0.5 * self.booster.learning_rate)

    def follow(
        self, cells: Cells, values: NDArray[np.float64], settings: Any, sums: RoundSums
    ) -> Steps:
        state, limit = self.run.state, float(self.booster.max_target)
        columns = state.signs, state.margins, state.weights, state.pulls
        signs, margins, weights, pulls = (column.reshape(-1) for column in columns)
        arguments = cells, values, signs, state.base, limit, margins, weights, pulls, sums.totals
        return [
            (update.logistic, arguments),
            (measure.mistakes, (margins, self.run.rounds.first_weights, sums.wrong)),
        ]

    def measure(self, sums: NDArray[np.float64]) -> Steps:
        margins = self.run.state.margins.reshape(-1)
        return [(row_costs.log_costs, (margins, ROWS_PER_SUM, sums))]

    def validate(
        self, watched: QuickWatch, room: NDArray[np.float64], result: NDArray[np.float64]
    ) -> Steps:
        costs = np.zeros(sum_count(room.size))
        return [
            (row_costs.log_costs, (room, ROWS_PER_SUM, costs)),
            (quick_rounds.add_up, (costs, result)),
        ]


class SquareLoss(QuickLoss):
    """The squared error."""

    potential = Loss

    @property
    def limits(self) -> tuple[float, float]:
        return math.inf, self.run.state.unit

    @property
    def progress(self) -> tuple[float, float]:
        return self.run.state.scale, self.run.state.largest

    def rates(self, rounds: int) -> NDArray[np.float64]:
        booster, done = self.booster, len(self.run.state.cast)
        rates = [grown(booster.learning_rate, done + k, booster.grows_after) for k in range(rounds)]
        return np.array(rates)

    def follow(
        self, cells: Cells, values: NDArray[np.float64], settings: Any, sums: RoundSums
    ) -> Steps:
        state = self.run.state
        columns = state.margins, state.weights, state.pulls
        scores, weights, pulls = (column.reshape(-1) for column in columns)
        arguments = settings, cells, values, state.targets, scores, weights, pulls, Bundle(sums)
        return [(quick_rounds.follow_residuals, arguments)]

    def measure(self, sums: NDArray[np.float64]) -> Steps:
        state = self.run.state
        arguments = state.targets, state.margins.reshape(-1), ROWS_PER_SUM, sums
        return [(quick_rounds.square_costs, arguments)]

    def validate(
        self, watched: QuickWatch, room: NDArray[np.float64], result: NDArray[np.float64]
    ) -> Steps:
        return [
            (quick_rounds.square_residuals, (watched.targets, watched.scores, room)),
            (quick_rounds.add_up, (room, result)),
        ]

    def state_after(self, weight: int, pull: int, settings: NDArray[np.float64]) -> Any:
        scale, largest = settings[[quick_rounds.SCALE, quick_rounds.LARGEST]].tolist()
        return replace(self.run.state, pull=max(1, pull), scale=scale, largest=largest)


LOSSES: dict[type[Booster[Any]], type[QuickLoss]] = {Logit: LogitLoss, Square: SquareLoss}


class QuickRounds:
    """Rounds of a run in batches: one call of compiled code for each batch."""

    def __init__(self, run: Run, trees: ManyTrees, at_once: int) -> None:
        self.run, self.trees = run, trees
        self.loss = LOSSES[type(run.booster)](run)
        self.room = max(1, min(trees.team, 4) * MAX_ROWS_PER_CALL // run.sample.n_rows)
        self.at_once = at_once
        self.measured = type(run.rounds.potential) is self.loss.potential

    @classmethod
    def of(
        cls, run: Run, rounds_to_do: int, at_once: int = MAX_ROUNDS_PER_CALL
    ) -> QuickRounds | None:
        """Return None if there is no kernel for such rounds, or if compiling it takes too long."""
        rounds, sample, watch = run.rounds, run.sample, run.watch
        search, booster, shown = rounds.search, run.booster, rounds.shown
        kinds = type(rounds), type(search), type(rounds.scores)
        if kinds != (CellRounds, DenseTreeSearch, Margins) or type(booster) not in LOSSES:
            return None
        one_score = sample.signs.shape[1] == 1 and not shown.resample
        measured = type(rounds.potential) is Unmeasured or sample.base.size == 1
        assert isinstance(search, DenseTreeSearch)
        assert sample.bins is not None
        if not (one_score and measured) or (watch is not None and watch.quick(sample.bins) is None):
            return None
        trees = search.many_trees(booster.request(run.state), shown.chosen(0))
        if trees is None or trees.takes_long:
            return None
        batch = cls(run, trees, at_once)
        # arrays of several rounds, because those of one have the layout of another type
        records, sums = batch._room(2)
        course, settings = batch._course(2, None)
        own_steps = batch.loss.follow(trees.cells, np.zeros(trees.leaves), settings, sums)
        finish = quick_rounds.finish, (course, settings, sums, 0, records)
        steps: Steps = [own_steps[0], finish]
        compiled = all(is_compiled(body, (course, *arguments)) for body, arguments in steps)
        return batch if compiled or _pays(rounds_to_do) else None

    def advance(self, rounds: int) -> list[FinishedRound]:
        """Run a batch, up to ``rounds`` rounds in all; it is empty if no rule has an edge.

        A batch ends at the next multiple of ``at_once``, or with a heat.
        """
        run, started = self.run, time.perf_counter()
        done, bins = len(run.done), run.sample.bins
        assert bins is not None
        n_rounds = min(self.room, self.at_once - done % self.at_once, rounds - done)
        if run.watch is not None:
            n_rounds = int(min(n_rounds, run.watch.rounds_to_heat))
        inputs = self._inputs(done + 1, n_rounds)
        records, sums = self._room(n_rounds)
        watched = None if run.watch is None else run.watch.quick(bins)
        course, settings = self._course(n_rounds, watched)
        steps = self._steps(course, settings, inputs, records, sums, watched)
        in_turn(steps, self.trees.team, course)
        count = int(course[quick_rounds.ROUND])
        run.state.cast.extend([1.0] * count)
        weight, pull = sums.now.tolist()
        seconds = (time.perf_counter() - started) / max(1, count)
        finished = self._read(records, done, count, seconds, bins)
        run.state = self.loss.state_after(weight, pull, settings)
        return finished

    def _inputs(self, first: int, n_rounds: int) -> quick_rounds.Inputs:
        shown = self.run.rounds.shown
        keys = [shown.seed_of(first + k, 0) << KEY_BITS for k in range(n_rounds)]
        size = 0 if shown.all_rows else self.trees.work.rows.size
        chosen = np.empty(size, dtype=np.uint32)
        return quick_rounds.Inputs(np.array(keys), self.loss.rates(n_rounds), chosen)

    def _room(self, n_rounds: int) -> tuple[quick_rounds.Records, RoundSums]:
        leaves, team, state = self.trees.leaves, self.trees.team, self.run.state
        spans = sum_count(self.run.sample.n_rows)
        subsets = 0 if self.trees.penalty is None else leaves
        per_leaf = n_rounds, leaves
        records = quick_rounds.Records(
            np.zeros((n_rounds, 5, leaves), dtype=np.int32),
            np.zeros((n_rounds, subsets, 256), dtype=np.uint8),
            np.zeros(per_leaf), np.zeros(per_leaf), np.zeros((n_rounds, 2 * leaves)),
            np.zeros((n_rounds, 4), dtype=np.int64), np.zeros((n_rounds, 2)),
            *np.zeros((2, n_rounds, spans)),
        )  # fmt: skip
        now = np.array([state.weight, state.pull], dtype=np.int64)
        parts = np.zeros((team, 2, leaves + LINE), dtype=np.int64)
        totals, wrong = (np.zeros((team, size), dtype=np.int64) for size in (2, 1))
        return records, RoundSums(
            now, parts, np.zeros(spans), totals, wrong, np.zeros(spans), np.zeros(1),
            np.zeros(team),
        )  # fmt: skip

    def _course(
        self, n_rounds: int, watched: QuickWatch | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        counts = (0, 0, -1, 0) if watched is None else watched.counts
        best = math.inf if watched is None else watched.best
        course = np.array([1, 0, n_rounds, *counts, 0], dtype=np.int64)
        penalty = self.run.booster.request(self.run.state).penalty
        fixed = MAX_SUM, penalty, *self.loss.limits, MIN_EDGE, best
        return course, np.array([*fixed, *self.loss.progress], dtype=np.float64)

    def _steps(
        self,
        course: NDArray[np.int64],
        settings: NDArray[np.float64],
        inputs: quick_rounds.Inputs,
        records: quick_rounds.Records,
        sums: RoundSums,
        watched: QuickWatch | None,
    ) -> Steps:
        """Return the kernels of a round in their order, with their arguments."""
        state = self.run.state
        weights, pulls = state.weights.reshape(-1), state.pulls.reshape(-1)
        cells, values = self.trees.cells, np.zeros(self.trees.leaves)
        tree, records_, sums_, inputs_ = map(Bundle, (self.trees.work, records, sums, inputs))
        steps: list[Any] = [
            (quick_rounds.begin, (course, settings, inputs_, weights, pulls, tree, sums_)),
            (grow_team.grow_tree, self.trees.arguments),
            (quick_rounds.settle, (inputs.chosen, tree, cells)),
            (measure.cell_sums_of_one,
             (cells, weights, pulls, False, ROWS_PER_SUM, sums.parts, sums.squares)),
            (quick_rounds.give_values, (course, settings, inputs_, tree, sums_, values, records_)),
            *self.loss.follow(cells, values, settings, sums),
        ]  # fmt: skip
        if self.trees.penalty is not None:
            steps.insert(1, (quick_rounds.weigh_levels, (self.trees.penalty, tree)))
        if self.measured:
            steps += self.loss.measure(sums.cost)
        n_validated = 0
        if watched is not None:
            n_validated = watched.scores.size
            room = np.zeros(n_validated)
            arguments = watched.codes, watched.signs, tree, values, watched.scores, room
            steps.append((quick_rounds.validate, arguments))
            steps += self.loss.validate(watched, room, sums.validation_cost)
        return [*steps, (quick_rounds.finish, (course, settings, sums_, n_validated, records_))]

    def _read(
        self, records: quick_rounds.Records, done: int, count: int, seconds: float, bins: Bins
    ) -> list[FinishedRound]:
        run, potential = self.run, self.run.rounds.potential
        rows, features = run.sample.n_rows, self.trees.work.codes.features
        first_weights = run.rounds.first_weights
        first_total = int(first_weights.sum()) if first_weights.size > 1 else rows
        member, members = np.full(self.trees.leaves, -1, dtype=np.int32), records.members[0, :0]
        missing_sides = records.splits[:, MISSING_LEFT].astype(np.bool_)
        largest = np.abs(records.values).max(axis=1, initial=0.0).tolist()
        finished = []
        lines = zip(
            records.wholes.tolist(), records.floats.tolist(), totals(records.squares).tolist(),
            totals(records.costs).tolist(), strict=True,
        )  # fmt: skip
        for k, (wholes, floats, squares, cost) in enumerate(islice(lines, count)):
            leaves, weight, pull, wrong = wholes
            edge, validation = floats
            splits, pull = leaves - 1, max(1, pull)
            weight_scale, pull_scale = MAX_SUM / max(1, weight), MAX_SUM / pull
            feature, cut, _, left, right = records.splits[k, :, :splits]
            if self.trees.penalty is not None:
                subsets = features[feature, CATEGORY] != 0
                member = np.where(subsets, np.cumsum(subsets) - 1, -1).astype(np.int32)
                members = records.members[k, :splits][subsets]
            tree = TreeRule(
                bins, feature, cut, missing_sides[k, :splits], left, right,
                member[:splits], members,
                records.gains[k, :splits] * (weight_scale / pull_scale**2 / FRESH_TOTAL),
                records.cover[k, : splits + leaves], records.values[k, :leaves, None],
            )  # fmt: skip
            measured = Measured(pull, round(pull * (1 - edge) / 2))
            before, normaliser = potential.now, 1.0
            if self.measured:
                potential.now = max(cost / float(self.loss.unit * rows), self.loss.min_cost)
                normaliser = max(potential.now / before if before > 0 else 1.0, MIN_NORMALISER)
            training_error = wrong / first_total if self.loss.has_mistakes else potential.now
            entry = Round(
                number=done + k + 1,
                error=measured.error,
                edge=measured.edge,
                vote=largest[k],
                normaliser=normaliser,
                training_error=training_error,
                effective_size=pull**2 / squares if squares > 0 else 0.0,
                weight=pull,
                memory=[],
                rule=tree.words(run.names),
                seconds=seconds,
                validation=None if run.watch is None else run.watch.note(validation),
            )
            finished.append(FinishedRound(tree, entry))
        return finished


_rounds_without = 0
"""Number of rounds of this process that ran one by one because the kernels were not compiled."""


def _pays(rounds: int) -> bool:
    """Check whether compiling pays for these rounds, added to those that ran without it."""
    global _rounds_without  # noqa: PLW0603 - for the whole process
    _rounds_without += rounds
    grow: Any = grow_team.grow_tree
    is_first_run = bool(grow.stats.cache_misses)
    rounds_to_pay = ROUNDS_TO_COMPILE_IN_A_FIRST_RUN if is_first_run else ROUNDS_TO_COMPILE
    return jit.HAS_ENTRIES and _rounds_without > rounds_to_pay
