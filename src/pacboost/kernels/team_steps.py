"""New weights of rows by a team: what each member does, and what it adds up.

A member writes its sums to a line of its own; Python adds the lines. Sums of whole numbers do not
depend on how rows are divided.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import cuts, measure, update
from pacboost.kernels.runtime.board import share, share_of_spans
from pacboost.kernels.runtime.jit import team_kernel

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
    """Pair pulls and weights: see kernels/cuts.py."""
    a, b = share(weights.shape[0], member, team)
    cuts.pair_up(
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
    """Pair pulls and weights of one output: see kernels/cuts.py."""
    a, b = share(weights.size, member, team)
    cuts.pair_up_one(weights[a:b], pulls[a:b], times_weight, pull_scale, weight_scale, pairs[a:b])


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
    """Weigh rows by the logistic loss: see kernels/update.py."""
    a, b = share(cells.size, member, team)
    own = base if base.size == 1 else base[a:b]
    totals[member, 0], totals[member, 1] = update.logistic(
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
    """Weigh the chosen rows by the loss of many classes: see kernels/update.py."""
    a, b = share(chosen.size, member, team)
    totals[member, 0], totals[member, 1] = update.softmax(
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


# What a team measures of rows: each member adds up its share.
#
# Sums of whole numbers do not depend on how rows are divided, and sums of floats are made span by
# span.


@team_kernel(allocates=False)
def stump_agreement(
    member: int,
    team: int,
    board: Wholes,
    codes: Cells,
    cut: int,
    above: int,
    missing: int,
    if_missing: int,
    signs: Signs,
    agree: Signs,
) -> None:
    """Write +1 where a stump's answer is the sign of the row, and -1 where it is not."""
    a, b = share(codes.size, member, team)
    own, side, out = codes[a:b], signs[a:b], agree[a:b]
    for i in range(own.size):
        answer = above if own[i] > cut else -above
        out[i] = side[i] * (if_missing if own[i] == missing else answer)


@team_kernel(allocates=False)
def masses(
    member: int,
    team: int,
    board: Wholes,
    weights: Wholes,
    agree: Signs,
    size: int,
    sums: Wholes,
    squares: Floats,
) -> None:
    """Add up the weights of right and of wrong rows: see kernels/measure.py."""
    a, b = share_of_spans(weights.size, size, member, team)
    first, last = a // size, (b + size - 1) // size
    if a < b:
        measure.masses(weights[a:b], agree[a:b], size, sums[first:last], squares[first:last])


@team_kernel()
def cell_sums(
    member: int,
    team: int,
    board: Wholes,
    cells: Cells,
    weights: Wholes,
    pulls: NDArray[np.integer],
    times_weight: bool,
    size: int,
    sums: Wholes,
    squares: Floats,
) -> None:
    """Add up pulls and weights in every cell: see kernels/measure.py."""
    a, b = share_of_spans(cells.size, size, member, team)
    own = squares[a // size : (b + size - 1) // size]
    if a < b:
        measure.cell_sums(
            cells[a:b], weights[a:b], pulls[a:b], times_weight, size, sums[member], own
        )


@team_kernel(allocates=False)
def cell_sums_of_one(
    member: int,
    team: int,
    board: Wholes,
    cells: Cells,
    weights: Wholes,
    pulls: NDArray[np.integer],
    times_weight: bool,
    size: int,
    sums: Wholes,
    squares: Floats,
) -> None:
    """Add up pulls and weights of one output in every cell: see kernels/measure.py."""
    a, b = share_of_spans(cells.size, size, member, team)
    own = squares[a // size : (b + size - 1) // size]
    if a < b:
        measure.cell_sums_of_one(
            cells[a:b], weights[a:b], pulls[a:b], times_weight, size, sums[member], own
        )


@team_kernel()
def class_sums(
    member: int,
    team: int,
    board: Wholes,
    chosen: Rows,
    cells: Cells,
    weights: Wholes,
    pulls: Wholes,
    sums: Wholes,
) -> None:
    """Add up pulls and weights of the chosen rows in every cell: see kernels/measure.py."""
    a, b = share(chosen.size, member, team)
    measure.class_sums(chosen[a:b], cells, weights, pulls, sums[member])


@team_kernel()
def class_rows(
    member: int,
    team: int,
    board: Wholes,
    chosen: Rows,
    margins: Floats,
    signs: Signs,
    pulls: Wholes,
    raised_sums: Floats,
    costs: Floats,
    wrong: NDArray[np.bool_],
    squares: Floats,
) -> None:
    """Write what the chosen rows cost: see kernels/measure.py."""
    a, b = share(chosen.size, member, team)
    measure.class_rows(chosen[a:b], margins, signs, pulls, raised_sums, costs, wrong, squares)


@team_kernel(allocates=False)
def log_costs(
    member: int, team: int, board: Wholes, margins: Floats, size: int, sums: Floats
) -> None:
    """Add up the logistic costs of rows, span by span: see kernels/measure.py."""
    a, b = share_of_spans(margins.size, size, member, team)
    if a < b:
        measure.log_costs(margins[a:b], size, sums[a // size : (b + size - 1) // size])


@team_kernel()
def potential(
    member: int,
    team: int,
    board: Wholes,
    kind: int,
    margins: Floats,
    base: Floats,
    size: int,
    sums: Floats,
) -> None:
    """Add up what the margins of rows cost, span by span: see kernels/measure.py."""
    a, b = share_of_spans(margins.shape[0], size, member, team)
    own = base if base.size == 1 else base[a:b]
    if a < b:
        first, last = a // size, (b + size - 1) // size
        measure.potential(kind, margins[a:b], own, size, sums[first:last])


@team_kernel(allocates=False)
def mistakes(
    member: int, team: int, board: Wholes, margins: Floats, first_weights: Wholes, totals: Wholes
) -> None:
    """Add up the first weights of wrong rows: see kernels/measure.py."""
    a, b = share(margins.size, member, team)
    own = first_weights if first_weights.size == 1 else first_weights[a:b]
    totals[member, 0] = measure.mistakes(margins[a:b], own)


@team_kernel()
def wrong_classes(
    member: int,
    team: int,
    board: Wholes,
    margins: Floats,
    signs: Signs,
    first_weights: Wholes,
    totals: Wholes,
) -> None:
    """Add up the first weights of rows of many classes that are wrong: see kernels/measure.py."""
    a, b = share(margins.shape[0], member, team)
    own = first_weights if first_weights.size == 1 else first_weights[a:b]
    totals[member, 0] = measure.wrong_classes(margins[a:b], signs[a:b], own)
