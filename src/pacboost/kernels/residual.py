"""Follow the residuals, target minus score, from round to round: passes over the rows by a team.

All arrays are (rows,). A member writes what it found to its own place of ``found``.
"""

from __future__ import annotations

import numpy as np

from pacboost.kernels.runtime import Cells, Floats, Signs, Wholes
from pacboost.kernels.runtime.board import own_share
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import team_kernel


@team_kernel(allocates=False)
def advance(
    member: Member, cells: Cells, values: Floats, targets: Floats, scores: Floats, found: Floats
) -> None:
    """Add each cell's value to the scores, and find the largest absolute residual."""
    first, last = own_share(cells.size, member)
    largest = 0.0
    for i in range(first, last):
        score = scores[i] + values[cells[i]]
        scores[i] = score
        largest = max(largest, abs(targets[i] - score))
    found[member.number] = largest


@team_kernel(allocates=False)
def pulls(
    member: Member,
    targets: Floats,
    scores: Floats,
    weights: Wholes,
    cut: float,
    scale: float,
    out: Wholes,
    found: Wholes,
) -> None:
    """Write weight times residual as whole numbers, and add up their absolute values.

    Residuals are cut off at ±``cut``. ``scale`` brings each of them to 1 or less, so that a pull is
    no larger than its weight.
    """
    first, last = own_share(targets.size, member)
    total = np.int64(0)
    for i in range(first, last):
        gap = min(max(targets[i] - scores[i], -cut), cut)
        pull = np.int64(np.rint(weights[i] * (gap * scale)))
        out[i] = pull
        total += abs(pull)
    found[member.number] = total


@team_kernel(allocates=False)
def sides(
    member: Member,
    targets: Floats,
    scores: Floats,
    weights: Wholes,
    above: float,
    below: float,
    unit: float,
    out: Wholes | Signs,
    found: Wholes,
) -> None:
    """Write ``above`` times the weight, or ``below`` times it where a residual is negative.

    0 where the residual is less than a unit; add up the sizes. To signs, the weights are not
    written: the rows pull with them.
    """
    first, last = own_share(targets.size, member)
    total = np.int64(0)
    for i in range(first, last):
        gap = targets[i] - scores[i]
        side = 0.0 if abs(gap) < unit else (above if gap > 0 else below)
        pull = np.int64(np.rint(weights[i] * side))
        out[i] = np.int64(side) if out.itemsize == 1 else pull
        total += abs(pull)
    found[member.number] = total
