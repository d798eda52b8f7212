"""The sums over all rows by which a run measures rules, errors and costs.

The run measures them itself: learners and boosters never report their own success. Sums of whole
numbers are exact. Sums of floats are made span by span, so they do not depend on the number of
threads either.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.base.booster import Measured
from pacboost.hypotheses.hypothesis import Answers, Cells, CellValues
from pacboost.kernels import team_measures
from pacboost.kernels.cuda.device import flat
from pacboost.kernels.team import team_for, together
from pacboost.kernels.threads import (
    ROWS_FOR_CHEAP_KERNELS,
    ROWS_PER_SPAN,
    each_rows,
    span_count,
    span_size,
)
from pacboost.numerics.exact import FRESH_TOTAL
from pacboost.numerics.mistakes import wrong_margins
from pacboost.numerics.same_bits import exp, row_totals
from pacboost.numerics.same_bits import mean as mean_of
from pacboost.numerics.same_bits import total as sum_of
from pacboost.samples.request import Request, Sums, Wholes
from pacboost.samples.sample import Sample

LEAST_COST = 2.0**-60
"""The least mean cost: the logarithm of a mean that was rounded to 0 would be infinite."""


def masses(weights: Wholes, agree: Answers) -> tuple[Measured, float]:
    """Measure a rule that is right (+1) or wrong (-1) on each row; also give the effective size.

    The effective size is the number of equally weighted rows that the weights are worth.
    """
    sums = np.zeros((span_count(weights.size), 2), dtype=np.int64)
    squares = np.zeros(sums.shape[0])
    team = min(team_for(weights.size), max(1, squares.size))
    together(team_measures.masses, weights, agree, ROWS_PER_SPAN, sums, squares, at_most=team)
    total, wrong = (int(number) for number in sums.sum(axis=0))
    return Measured(total, wrong), total**2 / sum_of(squares)


def cell_sums(request: Request, cells: Cells, count: int) -> tuple[Sums, float]:
    """Add up pulls and weights in every cell; also give the effective size of the pulls."""
    rows, outputs = request.weights.shape
    size = span_size(outputs)
    squares = np.zeros(span_count(rows, outputs))
    team = min(team_for(rows * outputs), max(1, squares.size))
    parts = np.zeros((team, 2, count, outputs), dtype=np.int64)
    given = cells, request.weights, request.pulls, request.signed, size, parts, squares
    if outputs == 1:
        own = flat(request.weights), flat(request.pulls)
        given = cells, *own, request.signed, size, parts[..., 0], squares
    kernel = team_measures.cell_sums_of_one if outputs == 1 else team_measures.cell_sums
    together(kernel, *given, at_most=team)
    pulls, weights = parts.sum(axis=0)
    square = sum_of(squares)
    worth = request.pull**2 / square if square > 0 else 0.0
    return Sums(pulls, weights, int(weights.sum()), request.pull, rows), worth


def total(request: Request) -> int:
    """Add up all weights."""
    parts: list[int] = []
    each_rows(
        lambda start, stop: parts.append(int(request.weights[start:stop].sum())),
        request.weights.shape[0],
        at_least=ROWS_FOR_CHEAP_KERNELS,
    )
    return sum(parts)


def edge_of(sums: Sums, values: CellValues) -> float:
    """Give the correlation of the signs of the values with the pulls of the rows."""
    return float((np.sign(values) * sums.pulls).sum()) / sums.pull


def exponential_normaliser(sums: Sums, values: CellValues) -> float:
    """Give Z = Σ D exp(-y·value), from the weights of the two signs in every cell."""
    plus, minus = (sums.weights + sums.pulls) / 2, (sums.weights - sums.pulls) / 2
    return math.fsum((plus * exp(-values) + minus * exp(values)).ravel()) / sums.weight


def mean_of_costs(
    costs: NDArray[np.float64], margins: NDArray[np.float64], base: NDArray[np.float64]
) -> float:
    """Give the mean of costs that a booster computed, after checking that they bound the error.

    They do if no cost is negative, and none is below 1 where the margin is 0 or less.
    """
    if (costs < wrong_margins(margins)).any():
        raise ArithmeticError("a margin of 0 or less costs less than 1, so costs bound nothing")
    rows = row_totals(costs) / costs.shape[1]
    mean = mean_of(rows) if base.size == 1 else sum_of(base * rows) / sum_of(base)
    return max(mean, LEAST_COST)


def base_weights(sample: Sample) -> Wholes:
    """Give the base weights in whole units, one for each row."""
    shares = np.broadcast_to(sample.base / sum_of(sample.base), (sample.n_rows,))
    units: Wholes = np.maximum(np.rint(shares * FRESH_TOTAL), 1).astype(np.int64)
    return units


def training_error(margins: NDArray[np.float64], sample: Sample, first_weights: Wholes) -> float:
    """Give the share of the sample, under D_1, on which the vote is wrong or tied.

    With several labels per row it is the share of pairs of row and label: the Hamming loss.
    """
    rows, outputs = margins.shape
    weighted = first_weights.size > 1
    total = int(first_weights.sum()) if weighted else rows
    if outputs == 1 or sample.labels is None:
        each = np.repeat(first_weights, outputs) if weighted and outputs > 1 else first_weights
        totals = np.zeros((team_for(margins.size), 1), dtype=np.int64)
        together(team_measures.mistakes, flat(margins), each, totals, at_most=len(totals))
        return int(totals.sum()) / int(total * outputs)
    totals = np.zeros((team_for(margins.size), 1), dtype=np.int64)
    together(
        team_measures.wrong_classes,
        margins,
        sample.signs,
        first_weights,
        totals,
        at_most=len(totals),
    )
    return int(totals.sum()) / total
