"""The scores of all rows under the vote so far: three kinds behind one interface.

``Margins`` are y·F(x) of every row and output, which the booster's state holds. ``NamedClasses``
are for rules that name one of many classes: the booster then only knows on which rows each rule was
right, so the scores of the classes are stored here. ``SoftmaxRows`` are margins of classes that
share one softmax, with a cost for each row, so that a round updates only the rows that moved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Booster, Measured, State
from pacboost.boosters.multiclass import method_of
from pacboost.hypotheses.hypothesis import Answers, Cells, CellValues, Hypothesis, Rule
from pacboost.hypotheses.vote import Vote
from pacboost.kernels.native import LINE, native
from pacboost.kernels.team import team_for, together
from pacboost.kernels.threads import (
    ROWS_FOR_CHEAP_KERNELS,
    ROWS_PER_SUM,
    each_rows,
    sum_count,
    sum_size,
)
from pacboost.numerics.exact import wrong_margins
from pacboost.numerics.memory import in_host_memory, lies_on_gpu
from pacboost.numerics.same_bits import exp, mean, row_totals, total
from pacboost.samples.sample import Request, Sample, Signs, Sums, Wholes, whole_weights

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
MIN_COST = 2.0**-60
"""Minimum mean cost: the logarithm of a mean that was rounded to 0 would be infinite."""


def masses(weights: Wholes, agree: Answers) -> tuple[Measured, float]:
    """Return total and wrong weight of a rule's rows (+1 right, -1 wrong), and the effective size.

    That is the number of equally weighted rows with the same concentration.
    """
    sums = np.zeros((sum_count(weights.size), 2), dtype=np.int64)
    squares = np.zeros(sums.shape[0])
    team = min(team_for(weights.size), max(1, squares.size))
    together(native.masses, weights, agree, ROWS_PER_SUM, sums, squares, at_most=team)
    weight, wrong = (int(number) for number in sums.sum(axis=0))
    return Measured(weight, wrong), weight**2 / total(squares)


def cell_sums(request: Request, cells: Cells, count: int) -> tuple[Sums, float]:
    """Return the sums of pulls and weights in every cell, and the effective size of the pulls."""
    rows, outputs = request.weights.shape
    size = sum_size(outputs)
    squares = np.zeros(sum_count(rows, outputs))
    team = min(team_for(rows * outputs), max(1, squares.size))
    parts = _room_for_sums(request, team, count)
    arguments = cells, request.weights, request.pulls, request.signed, size, parts, squares
    together(native.cell_sums, *arguments, at_most=team)
    pulls, weights = parts.sum(axis=0)[:, :count]
    sums = Sums(pulls, weights, int(weights.sum()), request.pull, rows)
    return sums, effective_size(request, squares)


def _room_for_sums(request: Request, team: int, count: int) -> Wholes:
    """Return (members, 2, cells, outputs); on the CPU, with cells that keep members apart."""
    apart = 0 if lies_on_gpu(request.weights) else LINE
    return np.zeros((team, 2, count + apart, request.weights.shape[1]), dtype=np.int64)


def effective_size(request: Request, squares: Floats) -> float:
    """Return the effective size: the number of equal pulls with this sum and sum of squares."""
    square = total(squares)
    return request.pull**2 / square if square > 0 else 0.0


def exact_total(request: Request) -> int:
    """Add up all weights."""
    parts: list[int] = []
    each_rows(
        lambda start, stop: parts.append(int(request.weights[start:stop].sum())),
        request.weights.shape[0],
        at_least=ROWS_FOR_CHEAP_KERNELS,
    )
    return sum(parts)


def edge_of(sums: Sums, values: CellValues) -> float:
    """Return the correlation of the signs of the values with the pulls of the rows."""
    return float((np.sign(values) * sums.pulls).sum()) / sums.pull


def exponential_normaliser(sums: Sums, values: CellValues) -> float:
    """Return Z = Σ D exp(-y·value), from the weights of the two signs in every cell."""
    # weights are plus + minus, and pulls plus - minus
    plus, minus = (sums.weights + sums.pulls) / 2, (sums.weights - sums.pulls) / 2
    return math.fsum((plus * exp(-values) + minus * exp(values)).ravel()) / sums.weight


def mean_of_costs(costs: Floats, margins: Floats, base: Floats) -> float:
    """Return the mean of the costs of a booster, after checking that they bound the error."""
    if (costs < wrong_margins(margins)).any():
        raise ArithmeticError("a margin of 0 or less costs less than 1, so costs bound nothing")
    rows = row_totals(costs) / costs.shape[1]
    weighted = mean(rows) if base.size == 1 else total(base * rows) / total(base)
    return max(weighted, MIN_COST)


def base_weights(sample: Sample) -> Wholes:
    """Return the base weights in whole units, one for each row."""
    return whole_weights(sample.base, sample.n_rows)


def training_error(margins: Floats, sample: Sample, first_weights: Wholes) -> float:
    """Return the share of the sample, under D_1, on which the vote is wrong or tied.

    With several labels per row it is the share of pairs of row and label: the Hamming loss.
    """
    rows, outputs = margins.shape
    weighted = first_weights.size > 1
    mass = int(first_weights.sum()) if weighted else rows
    wrong = np.zeros((team_for(margins.size), 1), dtype=np.int64)
    if outputs == 1 or sample.labels is None:
        weights = np.repeat(first_weights, outputs) if weighted and outputs > 1 else first_weights
        together(native.mistakes, margins.reshape(-1), weights, wrong, at_most=len(wrong))
        return int(wrong.sum()) / int(mass * outputs)
    arguments = margins, sample.signs, first_weights, wrong
    together(native.wrong_classes, *arguments, at_most=len(wrong))
    return int(wrong.sum()) / mass


class Margins:
    """Scores that are the margins of the booster's state."""

    class_scores: Floats | None = None
    """F(x) of every class, if the margins do not determine it."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample

    @property
    def signs(self) -> Signs:
        """The signs that the booster's margins refer to, (rows, outputs)."""
        return self._sample.signs

    @property
    def paired_classes(self) -> int:
        """The number of classes if the margins are those of pairs of row and class, else 1."""
        return 1 if self._sample.labels is None else self._sample.signs.shape[1]

    def recomputed(self, hypotheses: Sequence[Hypothesis], votes: Sequence[float]) -> Floats:
        """Replace all scores by those of a vote, and return its margins."""
        return self._scores(hypotheses, votes) * self._sample.signs

    def _scores(self, hypotheses: Sequence[Hypothesis], votes: Sequence[float]) -> Floats:
        vote = Vote(hypotheses, np.array(votes), self._sample.signs.shape[1])
        return vote.scores(self._sample.table).reshape(self._sample.n_rows, -1)

    def add(self, rule: Hypothesis, vote: float) -> None:
        """Add the vote of a rule."""

    def look(self, booster: Booster[Any], state: State, moved: Rows | None) -> None:
        """Update the rows that moved in a round (None: all)."""

    def error(self, margins: Floats, first_weights: Wholes) -> float:
        return training_error(margins, self._sample, first_weights)

    def cell_sums(
        self, request: Request, rule: Hypothesis, cells: Cells
    ) -> tuple[Rows | None, Sums, float]:
        """Return rows that a rule moves (None: all), sums over its cells, and effective size."""
        return None, *cell_sums(request, cells, len(rule.values))


class NamedClasses(Margins):
    """Scores of rules that name one of many classes, and are right or wrong on a row."""

    def __init__(self, sample: Sample) -> None:
        super().__init__(sample)
        self.class_scores: Floats = np.zeros(sample.signs.shape)

    @property
    def signs(self) -> Signs:
        return np.ones((self._sample.n_rows, 1), dtype=np.int8)

    @property
    def paired_classes(self) -> int:
        return 1

    def recomputed(self, hypotheses: Sequence[Hypothesis], votes: Sequence[float]) -> Floats:
        self.class_scores[:] = self._scores(hypotheses, votes)
        margins = np.zeros((self._sample.n_rows, 1))
        for rule, vote in zip(hypotheses, votes, strict=True):
            margins[:, 0] += vote * agreement(rule, self._sample)
        return margins

    def add(self, rule: Hypothesis, vote: float) -> None:
        self.class_scores += vote * rule.said(self._sample)

    def error(self, margins: Floats, first_weights: Wholes) -> float:
        return super().error(self.class_scores * self._sample.signs, first_weights)


class SoftmaxRows(Margins):
    """Costs, mistakes and squared pulls of single rows, for classes that share one softmax."""

    def __init__(self, sample: Sample) -> None:
        super().__init__(sample)
        self._all_rows: Rows = np.arange(sample.n_rows)
        self._costs, self._squares = np.zeros((2, sample.n_rows))
        self._wrong = np.ones(sample.n_rows, dtype=np.bool_)
        self._signs = sample.signs

    def look(self, booster: Booster[Any], state: State, moved: Rows | None) -> None:
        sums = getattr(state, "raised_sums", None)
        self.update(state.margins, booster.request(state), moved, sums)

    def update(
        self, margins: Floats, request: Request, moved: Rows | None, sums: Floats | None = None
    ) -> None:
        """Update the rows that moved (None: all), given their margins and pulls.

        ``sums`` are the sums of exponentials of the margins, if the booster stores them.
        """
        chosen = self._all_rows if moved is None else moved
        signs, pulls = self._sample.signs, request.pulls.astype(np.int64, copy=False)
        if type(margins) is not type(self._costs):  # the margins are in the memory of a GPU
            arrays = self._costs, self._squares, self._wrong, signs
            on_gpu: Any = (np.asarray(array, like=margins) for array in arrays)
            self._costs, self._squares, self._wrong, self._signs = on_gpu
        sums = np.empty((0, 2)) if sums is None else sums
        together(
            native.class_rows, chosen, margins, self._signs, pulls, sums, self._costs,
            self._wrong, self._squares, at_most=team_for(chosen.size * signs.shape[1]),
        )  # fmt: skip

    def mean_cost(self) -> float:
        """Return the mean of -log₂ p(y|x), a bound on the error: a wrong row has p(y|x) ≤ ½."""
        base, costs = self._sample.base, self._costs
        if base.size == 1:
            mean = total(costs) / max(1, costs.size)
        else:
            mean = total(base * in_host_memory(costs)) / total(base)
        return max(mean / math.log(2), MIN_COST)

    def error(self, margins: Floats, first_weights: Wholes) -> float:
        if first_weights.size == 1:
            return int(self._wrong.sum()) / self._wrong.size
        return int(first_weights[self._wrong].sum()) / int(first_weights.sum())

    def cell_sums(
        self, request: Request, rule: Hypothesis, cells: Cells
    ) -> tuple[Rows | None, Sums, float]:
        """Add up only the rows that the rule moves: it is silent on the others."""
        moving = None if rule.silent is None else np.flatnonzero(cells != rule.silent)
        chosen = self._all_rows if moving is None else moving
        count, outputs = len(rule.values), request.weights.shape[1]
        pulls = request.pulls.astype(np.int64, copy=False)
        parts = _room_for_sums(request, team_for(chosen.size * outputs), count)
        arguments = chosen, cells, request.weights, pulls, parts
        together(native.class_sums, *arguments, at_most=len(parts))
        pulls, weights = parts.sum(axis=0)[:, :count]
        sums = Sums(pulls, weights, request.weight, request.pull, self._wrong.size)
        return moving, sums, effective_size(request, self._squares)


def names_class(booster: Booster[Any], sample: Sample) -> bool:
    """Check whether rules name one of many classes, and so are right or wrong on a row."""
    return sample.labels is not None and method_of(booster.multiclass).names_class


def scores_of(booster: Booster[Any], sample: Sample) -> Margins:
    """Choose the kind of scores by how the booster treats more than two classes."""
    if names_class(booster, sample):
        return NamedClasses(sample)
    if method_of(booster.multiclass).shares and sample.signs.shape[1] > 1:
        return SoftmaxRows(sample)
    return Margins(sample)


def agreement(rule: Hypothesis, sample: Sample) -> Answers:
    """Return for every row whether a rule is right (+1) or wrong (-1)."""
    if isinstance(rule, Rule):
        return rule.agreement(sample)
    named = rule.values.argmax(axis=1)[rule.cells(sample)]
    return np.where(named == sample.labels, np.int8(1), np.int8(-1))
