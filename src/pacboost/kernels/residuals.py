"""Follow the residuals, target minus score, from round to round.

All arrays are (rows,). Each member of a team writes its result to its place in ``results``.
"""

from __future__ import annotations

import numpy as np

from pacboost.kernels.runtime import Cells, Floats, Signs, Wholes
from pacboost.kernels.runtime.board import own_share
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import part_of_kernels, team_kernel


@part_of_kernels
def add_values(cells: Cells, values: Floats, targets: Floats, scores: Floats) -> float:
    """Add the values of cells to the scores, and return the largest absolute residual."""
    largest = 0.0
    for i in range(cells.size):
        score = scores[i] + values[cells[i]]
        scores[i] = score
        largest = max(largest, abs(targets[i] - score))
    return largest


@part_of_kernels
def write_pulls(
    targets: Floats, scores: Floats, weights: Wholes, cut: float, scale: float, out: Wholes
) -> np.int64:
    """Write weight times residual as integers, and return the sum of their absolute values.

    Residuals are clipped to ±``cut``. ``scale`` brings each of them to 1 or less, so that a pull is
    at most as large as its weight.
    """
    total = np.int64(0)
    for i in range(targets.size):
        gap = min(max(targets[i] - scores[i], -cut), cut)
        pull = np.int64(np.rint(weights[i] * (gap * scale)))
        out[i] = pull
        total += abs(pull)
    return total


@team_kernel(allocates=False)
def advance(
    member: Member, cells: Cells, values: Floats, targets: Floats, scores: Floats, results: Floats
) -> None:
    """Add the values of cells to the scores, and find the largest absolute residual."""
    a, b = own_share(cells.size, member)
    results[member.number] = add_values(cells[a:b], values, targets[a:b], scores[a:b])


@team_kernel(allocates=False)
def pulls(
    member: Member, targets: Floats, scores: Floats, weights: Wholes, cut: float, scale: float,
    out: Wholes, results: Wholes,
) -> None:  # fmt: skip
    """Write the clipped pulls of rows, and sum their absolute values: see ``write_pulls``."""
    a, b = own_share(targets.size, member)
    results[member.number] = write_pulls(
        targets[a:b], scores[a:b], weights[a:b], cut, scale, out[a:b]
    )


@team_kernel(allocates=False)
def sides(
    member: Member, targets: Floats, scores: Floats, weights: Wholes, above: float, below: float,
    unit: float, out: Wholes | Signs, results: Wholes,
) -> None:  # fmt: skip
    """Write ``above`` times the weight, or ``below`` times it for negative residuals.

    Residuals of less than a unit give 0. Also sum the absolute values. If ``out`` holds signs, it
    gets the factors without the weights.
    """
    a, b = own_share(targets.size, member)
    targets, scores, weights, out = targets[a:b], scores[a:b], weights[a:b], out[a:b]
    total = np.int64(0)
    for i in range(targets.size):
        gap = targets[i] - scores[i]
        side = 0.0 if abs(gap) < unit else (above if gap > 0 else below)
        pull = np.int64(np.rint(weights[i] * side))
        out[i] = np.int64(side) if out.itemsize == 1 else pull
        total += abs(pull)
    results[member.number] = total
