"""What the loop measures on its own account: sums, errors and potentials over all rows.

Learners and boosters never report their own success. Sums of whole numbers are exact; sums of
floats are made span by span, so they do not depend on the number of threads either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Answers, Cells, CellValues
from pacboost.kernels import measure
from pacboost.kernels.threads import (
    ROWS_FOR_CHEAP_KERNELS,
    ROWS_PER_SPAN,
    each_rows,
    span_count,
    span_size,
)
from pacboost.numerics.exact import FRESH_TOTAL
from pacboost.samples.request import Request, Sums
from pacboost.samples.sample import Sample

KINDS = {
    "logistic": measure.LOGISTIC,
    "clipped": measure.CLIPPED,
    "square": measure.SQUARE,
    "absolute": measure.ABSOLUTE,
}

BY_NORMALISER = ("exponential", "projected")
"""Potentials whose Z_t is Σ D_t exp(-what round t added), known from sums over cells."""

BY_WEIGHT = ("weight", "projected")
"""Potentials that are the weights themselves. "projected": held to the same mean all the time."""

OWN = ("hinge", "binomial", "error function")
"""Potentials whose booster says what a margin costs; ``mean_cost`` sees to it that they bound."""

CONVEX = ("exponential", "logistic", "clipped", "hinge")
"""Where pairs of row and class are wrong, two of them cost as much as two margins of 0."""

LEAST_COST = 2.0**-60
"""Costs far below the rounding of 1 come out as nothing, or less; ratios need something."""


@dataclass(frozen=True)
class Masses:
    """The weight of all rows, of those a rule got wrong, and how many rows it is worth."""

    total: int
    wrong: int
    effective_size: float


def masses(weights: NDArray[np.int64], agree: Answers) -> Masses:
    """Weigh a rule that is right or wrong on each row."""
    sums = np.zeros((span_count(weights.size), 2), dtype=np.int64)
    squares = np.zeros(sums.shape[0])

    def task(start: int, stop: int) -> None:
        a, b = start // ROWS_PER_SPAN, span_count(stop)
        own = agree[start:stop]
        measure.masses(weights[start:stop], own, ROWS_PER_SPAN, sums[a:b], squares[a:b])

    each_rows(task, weights.size, at_least=ROWS_FOR_CHEAP_KERNELS)
    total, wrong = (int(number) for number in sums.sum(axis=0))
    return Masses(total, wrong, total**2 / float(squares.sum()))


def cell_sums(request: Request, cells: Cells, count: int) -> tuple[Sums, float]:
    """Add up pulls and weights in every cell; also give how many rows the pulls are worth."""
    rows, outputs = request.weights.shape
    size = span_size(outputs)
    squares = np.zeros(span_count(rows, outputs))
    parts: list[NDArray[np.int64]] = []

    def task(start: int, stop: int) -> None:
        a, b = start // size, span_count(stop, outputs)
        own = np.zeros((2, count, outputs), dtype=np.int64)
        parts.append(own)
        measure.cell_sums(
            cells[start:stop],
            request.weights[start:stop],
            request.pulls[start:stop],
            request.signed,
            size,
            own,
            squares[a:b],
        )

    each_rows(task, rows, width=outputs)
    pulls, weights = sum(parts[1:], parts[0])
    square = float(squares.sum())
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
    """The correlation of the signs of the values with what the rows ask for."""
    return float((np.sign(values) * sums.pulls).sum()) / sums.pull


def exponential_normaliser(sums: Sums, values: CellValues) -> float:
    """Z = Σ D exp(-y·value), from the weights of the two signs in every cell."""
    plus, minus = (sums.weights + sums.pulls) / 2, (sums.weights - sums.pulls) / 2
    return math.fsum((plus * np.exp(-values) + minus * np.exp(values)).ravel()) / sums.weight


def mean_potential(kind: str, margins: NDArray[np.float64], sample: Sample) -> float:
    """The mean cost of the margins of pairs of row and output, in a unit that is 1 where all are 0.

    In regression, the mean loss of the scores that stand for margins there.
    """
    rows, outputs = margins.shape
    if sample.targets is not None:
        margins = sample.targets[:, None] - margins
    size = span_size(outputs)
    sums = np.zeros(span_count(rows, outputs))

    def task(start: int, stop: int) -> None:
        a, b = start // size, span_count(stop, outputs)
        base = np.ones(1) if sample.base.size == 1 else sample.base[start:stop]
        own = margins[start:stop]
        if kind == "logistic" and outputs == base.size == 1:
            measure.log_costs(own[:, 0], size, sums[a:b])
        else:
            measure.potential(KINDS[kind], own, base, size, sums[a:b])

    each_rows(task, rows, width=outputs)
    mass = float(sample.base.sum()) if sample.base.size > 1 else float(rows)
    unit = math.log(2) if kind == "logistic" else 1.0
    mean = float(sums.sum()) / float(unit * mass * outputs)
    return max(mean, LEAST_COST) if sample.targets is None else mean


def mean_cost(costs: NDArray[np.float64], margins: NDArray[np.float64], sample: Sample) -> float:
    """The mean of what margins cost by a booster's own reckoning.

    It bounds the error if no cost is negative, and none below 1 where the margin is 0 or less.
    Nobody has to take that on trust.
    """
    if (costs < (margins <= 0)).any():
        raise ArithmeticError("a margin of 0 or less costs less than 1, so costs bound nothing")
    rows = costs.mean(axis=1)
    base = sample.base
    mean = float(rows.mean()) if base.size == 1 else float((base * rows).sum() / base.sum())
    return max(mean, LEAST_COST)


def base_weights(sample: Sample) -> NDArray[np.int64]:
    """D_1 in whole units: what ``mean_cost`` goes by, whatever the booster starts with."""
    shares = np.broadcast_to(sample.base / sample.base.sum(), (sample.n_rows,))
    units: NDArray[np.int64] = np.maximum(np.rint(shares * FRESH_TOTAL), 1).astype(np.int64)
    return units


def training_error(
    margins: NDArray[np.float64], sample: Sample, first_weights: NDArray[np.int64]
) -> float:
    """The share of the sample, under D_1, on which the vote errs or ties.

    With several labels a row, the share of pairs of row and label: the Hamming loss.
    """
    rows, outputs = margins.shape
    one_class = outputs == 1 or sample.labels is None
    weighted = first_weights.size > 1
    wrong: list[int] = []

    def task(start: int, stop: int) -> None:
        own = first_weights[start:stop] if weighted else first_weights
        if one_class and outputs == 1:
            wrong.append(int(measure.mistakes(margins[start:stop, 0], own)))
        elif one_class:
            flat = np.repeat(own, outputs) if weighted else own
            wrong.append(int(measure.mistakes(margins[start:stop].reshape(-1), flat)))
        else:
            signs = sample.signs[start:stop]
            wrong.append(int(measure.wrong_classes(margins[start:stop], signs, own)))

    each_rows(task, rows, at_least=ROWS_FOR_CHEAP_KERNELS // outputs, width=outputs)
    total = int(first_weights.sum()) if weighted else rows
    return sum(wrong) / (total * (outputs if one_class else 1))
