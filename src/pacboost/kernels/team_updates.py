"""New weights of rows by a team: what each member does, and what it adds up.

A member writes its sums to a line of its own; Python adds the lines. Sums of whole numbers do not
depend on how rows are divided.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import pairing, update, update_logistic
from pacboost.kernels.board import share
from pacboost.kernels.jit import team_kernel

Wholes = NDArray[np.int64]
Floats = NDArray[np.float64]
Signs = NDArray[np.int8]
Cells = NDArray[np.unsignedinteger]
Rows = NDArray[np.intp]


@team_kernel()
def pair_up(
    member: int,
    team: int,
    board: Wholes,
    weights: Wholes,
    pulls: NDArray[np.integer],
    times_weight: bool,
    flips: Signs,
    pull_scale: float,
    weight_scale: float,
    pairs: Wholes,
) -> None:
    """Pair pulls and weights: see kernels/pairing.py."""
    a, b = share(weights.shape[0], member, team)
    pairing.pair_up(
        weights[a:b], pulls[a:b], times_weight, flips, pull_scale, weight_scale, pairs[:, a:b]
    )


@team_kernel(allocates=False)
def pair_up_one(
    member: int,
    team: int,
    board: Wholes,
    weights: Wholes,
    pulls: NDArray[np.integer],
    times_weight: bool,
    pull_scale: float,
    weight_scale: float,
    pairs: Wholes,
) -> None:
    """Pair pulls and weights of one output: see kernels/pairing.py."""
    a, b = share(weights.size, member, team)
    pairing.pair_up_one(
        weights[a:b], pulls[a:b], times_weight, pull_scale, weight_scale, pairs[a:b]
    )


@team_kernel(allocates=False)
def logistic(
    member: int,
    team: int,
    board: Wholes,
    cells: Cells,
    values: Floats,
    signs: Signs,
    base: Floats,
    most: float,
    margins: Floats,
    weights: Wholes,
    pulls: Wholes,
    totals: Wholes,
) -> None:
    """Weigh rows by the logistic loss: see kernels/update_logistic.py."""
    a, b = share(cells.size, member, team)
    own = base if base.size == 1 else base[a:b]
    totals[member, 0], totals[member, 1] = update_logistic.logistic(
        cells[a:b], values, signs[a:b], own, most, margins[a:b], weights[a:b], pulls[a:b]
    )


@team_kernel()
def softmax(
    member: int,
    team: int,
    board: Wholes,
    chosen: Rows,
    cells: Cells,
    values: Floats,
    signs: Signs,
    base: Floats,
    most: float,
    margins: Floats,
    weights: Wholes,
    pulls: Wholes,
    raised_sums: Floats,
    totals: Wholes,
) -> None:
    """Weigh the chosen rows by the loss of many classes: see kernels/update_logistic.py."""
    a, b = share(chosen.size, member, team)
    totals[member, 0], totals[member, 1] = update_logistic.softmax(
        chosen[a:b], cells, values, signs, base, most, margins, weights, pulls, raised_sums
    )


@team_kernel(allocates=False)
def exponential(
    member: int,
    team: int,
    board: Wholes,
    agree: Signs,
    vote: float,
    total_vote: float,
    log_base: Floats,
    log_scale: float,
    margins: Floats,
    weights: Wholes,
    totals: Wholes,
) -> None:
    """Weigh rows by the exponential loss after the vote of a rule: see kernels/update.py."""
    a, b = share(weights.size, member, team)
    own = log_base if log_base.size == 1 else log_base[a:b]
    totals[member, 0] = update.exponential(
        agree[a:b], vote, total_vote, own, log_scale, margins[a:b], weights[a:b]
    )


@team_kernel()
def exponential_cells(
    member: int,
    team: int,
    board: Wholes,
    cells: Cells,
    values: Floats,
    signs: Signs,
    log_base: Floats,
    log_scale: float,
    margins: Floats,
    weights: Wholes,
    totals: Wholes,
) -> None:
    """Weigh rows by the exponential loss: see kernels/update.py."""
    a, b = share(cells.size, member, team)
    outputs = signs.shape[1]
    own = log_base if log_base.size == 1 else log_base[a * outputs : b * outputs]
    totals[member, 0] = update.exponential_cells(
        cells[a:b], values, signs[a:b], own, log_scale, margins[a:b], weights[a:b]
    )
