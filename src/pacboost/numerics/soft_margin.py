"""The soft margin of a vote, exact products of votes and rules, and the votes that maximise it.

Products of a matrix of -1, 0 and +1 with votes or weights are the same in any order. Votes are
multiples of 2^-40 and weights of 2^-52 (exact.py). Sums of either that stay below 1 need at most 52
bits, so a double holds every partial sum exactly: a library may multiply in any order and on any
number of threads, without rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.exact import FRESH_TOTAL, VOTE_UNIT
from pacboost.numerics.same_bits import total

Floats = NDArray[np.float64]


def soft_margin(margins: Floats, base: Floats, share: float) -> float:
    """Return the mean margin of the worst ``share`` of the rows; of the single worst row if 0.

    It is the least mean that weights of at most base/share can give, and so the dual of boosting
    with capped weights: max over ρ of ρ - mean(max(0, ρ - margin))/share. Margins are (rows,
    outputs), and ``base`` has one weight per row, or one for all.
    """
    if share <= 0:
        return float(margins.min())
    flat = margins.reshape(-1)
    masses = np.repeat(np.broadcast_to(base, margins.shape[:1]), margins.shape[1])
    worst_mass = share * total(masses)
    if base.size == 1 and worst_mass <= masses[0]:
        return float(flat.min())
    order = np.argsort(flat, kind="stable")
    # the last row of the worst share counts in part, or the mean would jump as the share grows
    before = np.concatenate([[0.0], np.cumsum(masses[order])[:-1]])
    taken = np.minimum(masses[order], np.maximum(worst_mass - before, 0.0))
    return total(taken * flat[order]) / worst_mass


Columns = NDArray[np.int8]
"""Agreement of each rule (a line) with each kind of rows: +1 right, -1 wrong, 0 silent."""

CELLS_PER_BLOCK = 2**17
"""Cells that are converted to doubles at a time: a megabyte, which fits into the cache."""
MAX_STEPS_OF_ONE_THREAD = 2**18
"""Multiplications for which OpenBLAS uses one thread. Its threads wait by spinning, which made
larger products up to 30 times slower on a busy machine."""


def margins_of(columns: Columns, votes: Floats) -> Floats:
    """Return Σ_t votes[t] columns[t] for every kind of rows."""
    margins = np.empty(columns.shape[1])
    for part, block in _blocks(columns, np.flatnonzero(votes)):
        margins[part] = votes[votes != 0] @ block
    return margins


def edges_of(columns: Columns, weights: Floats) -> Floats:
    """Return the correlation of every rule with the labels, under weights that sum to 1."""
    edges = np.zeros(len(columns))
    for part, block in _blocks(columns):
        edges += block @ weights[part]
    return edges


def products_of(columns: Columns, weights: Floats) -> Floats:
    """Return the weighted mean of the product of every two rules."""
    products = np.zeros((len(columns), len(columns)))
    positive = np.flatnonzero(weights)
    positive_weights = weights[positive]
    width = max(8, MAX_STEPS_OF_ONE_THREAD // max(1, len(columns)) ** 2)
    for part, block in _blocks(columns[:, positive]):
        weighted = block * positive_weights[part]
        for start in range(0, weighted.shape[1], width):
            columns_of_block = slice(start, start + width)
            products += weighted[:, columns_of_block] @ block[:, columns_of_block].T
    return products


def whole_votes(votes: Floats) -> Floats:
    """Round to multiples of 2^-40."""
    rounded: Floats = np.rint(votes / VOTE_UNIT) * VOTE_UNIT
    return rounded


def whole_weights(weights: Floats) -> Floats:
    """Round to multiples of 2^-52."""
    rounded: Floats = np.rint(weights * FRESH_TOTAL) / FRESH_TOTAL
    return rounded


def _blocks(
    columns: Columns, lines: NDArray[np.intp] | None = None
) -> Iterator[tuple[slice, Floats]]:
    count = len(columns) if lines is None else lines.size
    width = max(1, CELLS_PER_BLOCK // max(1, count))
    for start in range(0, columns.shape[1], width):
        part = slice(start, start + width)
        block = columns[:, part] if lines is None else columns[lines, part]
        yield part, block.astype(np.float64)


KINDS_PER_STEP = 400
"""Number of kinds of rows that join at a time; four times as many take a fifth longer."""
MAX_PROGRAMS = 200
ROUNDING = 2.0**-50
"""Weights closer than this to 0 or to the cap count as equal to it."""


@dataclass(frozen=True, eq=False)
class Balance:
    """Votes and weights that are optimal against each other up to ``gap``."""

    votes: Floats
    weights: Floats
    gap: float


def balance(
    columns: Columns, base: Floats, share: float, start: Balance, accuracy: float
) -> Balance:
    """Return the votes with the largest soft margin, starting from feasible votes and weights.

    Over weights d that sum to 1 with d ≤ cap, and votes w that sum to 1,

        max over w of min over d of d·Aw   =   min γ  such that no rule has an edge d·A_q above γ,

    a linear program with one constraint for each rule and one variable for each kind of rows, which
    are far more numerous. Sifting (Bixby, Gregory, Lustig, Marsten and Shanno 1992) fixes most d
    and solves for the others. That gives votes w and a threshold ρ; a fixed row has to join only if
    its margin is below ρ though its d could be larger, or above ρ though d could be smaller. Rows
    that joined stay, or they would come and go. By duality, the slack of the fixed rows,

        Σ max(0, ρ - margin)·(cap - d) + max(0, margin - ρ)·d,

    bounds how far γ can still fall. Started from the d of the last round, one or two programs of
    some hundred rows replace one of all rows.
    """
    cap = np.ones(base.size) if share <= 0 else np.minimum(base / share, 1.0)
    d, best, best_margin = start.weights, start.votes, -np.inf
    margins = margins_of(columns, best)
    chosen = _nearest(margins, _threshold(margins, cap))
    for _ in range(MAX_PROGRAMS):
        chosen |= (d > ROUNDING) & (d < cap - ROUNDING)
        d, votes, rho = _program(columns, cap, d, np.flatnonzero(chosen))
        margins = margins_of(columns, votes)
        margin = soft_margin(margins[:, None], base, share)
        if margin > best_margin:
            best, best_margin = votes, margin
        gap = float(edges_of(columns, d).max()) - best_margin
        if gap <= accuracy:
            break
        slack = np.maximum(rho - margins, 0) * (cap - d) + np.maximum(margins - rho, 0) * d
        slack[chosen] = 0.0
        worst = np.argsort(-slack, kind="stable")[:KINDS_PER_STEP]
        chosen[worst[slack[worst] > 0]] = True
    return Balance(best, d, gap)


def _program(
    columns: Columns, cap: Floats, d: Floats, rows: NDArray[np.intp]
) -> tuple[Floats, Floats, float]:
    """Solve for the weights of some rows; return all weights, the votes and the threshold."""
    from scipy.optimize import linprog

    rules, count = len(columns), rows.size
    rest = d.copy()
    rest[rows] = 0.0
    answer = linprog(
        np.append(np.zeros(count), 1.0),
        A_ub=np.hstack([columns[:, rows].astype(np.float64), np.full((rules, 1), -1.0)]),
        b_ub=-edges_of(columns, rest),
        A_eq=np.append(np.ones(count), 0.0)[None],
        b_eq=[float(d[rows].sum())],
        bounds=[(0.0, limit) for limit in cap[rows].tolist()] + [(-2.0, 2.0)],
        method="highs-ds",
        options={"presolve": False},  # finds nothing in dense columns, and takes a quarter longer
    )
    if answer.x is None or answer.status != 0:
        raise ArithmeticError(f"HiGHS could not solve a linear program: {answer.message}")
    rest[rows] = whole_weights(np.clip(answer.x[:-1], 0.0, cap[rows]))
    votes = np.maximum(-answer.ineqlin.marginals, 0.0)
    return rest, whole_votes(votes / float(votes.sum())), float(answer.eqlin.marginals[0])


def _threshold(margins: Floats, cap: Floats) -> float:
    """Return the margin of the last row that the worst weights reach."""
    order = np.argsort(margins, kind="stable")
    last = int(np.searchsorted(np.cumsum(cap[order]), 1 - 1e-12))
    return float(margins[order[min(last, order.size - 1)]])


def _nearest(margins: Floats, rho: float) -> NDArray[np.bool_]:
    """Choose the rows nearest to the threshold, with ties broken by a hash of the row number."""
    mixed = np.arange(margins.size, dtype=np.uint32) * np.uint32(2654435761)
    chosen = np.zeros(margins.size, dtype=np.bool_)
    chosen[np.lexsort((mixed, np.abs(margins - rho)))[:KINDS_PER_STEP]] = True
    return chosen
