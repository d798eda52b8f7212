"""Sums over all rows, with which a run measures rules, errors and costs.

Sums of integers are exact. Sums of floats are added span by span, so that they do not depend on the
number of threads either.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Measured
from pacboost.hypotheses.hypothesis import Answers, Cells, CellValues
from pacboost.kernels import measure
from pacboost.kernels.runtime.team import team_for, together
from pacboost.kernels.runtime.threads import (
    ROWS_FOR_CHEAP_KERNELS,
    ROWS_PER_SPAN,
    each_rows,
    span_count,
    span_size,
)
from pacboost.numerics.exact import FRESH_TOTAL, wrong_margins
from pacboost.numerics.same_bits import exp, mean, row_totals, total
from pacboost.samples.sample import Request, Sample, Sums, Wholes

MIN_COST = 2.0**-60
"""Minimum mean cost: the logarithm of a mean that was rounded to 0 would be infinite."""


def masses(weights: Wholes, agree: Answers) -> tuple[Measured, float]:
    """Measure a rule that is right (+1) or wrong (-1) on each row; also return the effective size.

    The effective size is the number of equally weighted rows with the same concentration.
    """
    sums = np.zeros((span_count(weights.size), 2), dtype=np.int64)
    squares = np.zeros(sums.shape[0])
    team = min(team_for(weights.size), max(1, squares.size))
    together(measure.masses, weights, agree, ROWS_PER_SPAN, sums, squares, at_most=team)
    weight, wrong = (int(number) for number in sums.sum(axis=0))
    return Measured(weight, wrong), weight**2 / total(squares)


def cell_sums(request: Request, cells: Cells, count: int) -> tuple[Sums, float]:
    """Return the sums of pulls and weights in every cell, and the effective size of the pulls."""
    rows, outputs = request.weights.shape
    size = span_size(outputs)
    squares = np.zeros(span_count(rows, outputs))
    team = min(team_for(rows * outputs), max(1, squares.size))
    parts = np.zeros((team, 2, count, outputs), dtype=np.int64)
    if outputs == 1:
        columns = request.weights.reshape(-1), request.pulls.reshape(-1)
        arguments = cells, *columns, request.signed, size, parts[..., 0], squares
        together(measure.cell_sums_of_one, *arguments, at_most=team)
    else:
        arguments = cells, request.weights, request.pulls, request.signed, size, parts, squares
        together(measure.cell_sums, *arguments, at_most=team)
    pulls, weights = parts.sum(axis=0)
    sums = Sums(pulls, weights, int(weights.sum()), request.pull, rows)
    return sums, effective_size(request, squares)


def effective_size(request: Request, squares: NDArray[np.float64]) -> float:
    """Return the number of equal pulls with the same sum, given parts of the sum of squares."""
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
    plus, minus = (sums.weights + sums.pulls) / 2, (sums.weights - sums.pulls) / 2
    return math.fsum((plus * exp(-values) + minus * exp(values)).ravel()) / sums.weight


def mean_of_costs(
    costs: NDArray[np.float64], margins: NDArray[np.float64], base: NDArray[np.float64]
) -> float:
    """Return the mean of costs that a booster computed, after checking that they bound the error.

    They do if no cost is negative, and none is below 1 at a margin of 0 or less.
    """
    if (costs < wrong_margins(margins)).any():
        raise ArithmeticError("a margin of 0 or less costs less than 1, so costs bound nothing")
    rows = row_totals(costs) / costs.shape[1]
    weighted = mean(rows) if base.size == 1 else total(base * rows) / total(base)
    return max(weighted, MIN_COST)


def base_weights(sample: Sample) -> Wholes:
    """Return the base weights in whole units, one for each row."""
    shares = np.broadcast_to(sample.base / total(sample.base), (sample.n_rows,))
    units: Wholes = np.maximum(np.rint(shares * FRESH_TOTAL), 1).astype(np.int64)
    return units


def training_error(margins: NDArray[np.float64], sample: Sample, first_weights: Wholes) -> float:
    """Return the share of the sample, under D_1, on which the vote is wrong or tied.

    With several labels per row it is the share of pairs of row and label: the Hamming loss.
    """
    rows, outputs = margins.shape
    weighted = first_weights.size > 1
    mass = int(first_weights.sum()) if weighted else rows
    wrong = np.zeros((team_for(margins.size), 1), dtype=np.int64)
    if outputs == 1 or sample.labels is None:
        weights = np.repeat(first_weights, outputs) if weighted and outputs > 1 else first_weights
        together(measure.mistakes, margins.reshape(-1), weights, wrong, at_most=len(wrong))
        return int(wrong.sum()) / int(mass * outputs)
    arguments = margins, sample.signs, first_weights, wrong
    together(measure.wrong_classes, *arguments, at_most=len(wrong))
    return int(wrong.sum()) / mass
