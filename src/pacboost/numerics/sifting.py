"""The votes with the largest soft margin, by linear programs that look at few rows.

Over weights d that sum to 1 with d ≤ cap, and votes w that sum to 1,

    max over w of min over d of d·Aw   =   min γ  such that no rule has an edge d·A_q above γ,

a linear program with one constraint for each rule and one variable for each kind of rows, of which
there are far more. Sifting (Bixby, Gregory, Lustig, Marsten and Shanno 1992) leaves most d where
they are and solves for the others. That gives votes w and a threshold ρ; a row that was left has
to join only if its margin is below ρ though its d could be larger, or above ρ though d could be
smaller. Rows that joined stay, or they would come and go. By duality, what the others lack,

    Σ max(0, ρ - margin)·(cap - d) + max(0, margin - ρ)·d,

is at least as much as γ can still fall. Started from the d of the last round, one or two programs
of some hundred rows do instead of one of all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from pacboost.numerics.soft_margin import (
    Columns,
    Floats,
    edges_of,
    margins_of,
    soft_margin,
    whole_votes,
    whole_weights,
)

AT_ONCE = 400
"""How many kinds of rows join at a time; four times as many take a fifth longer."""
MOST_PROGRAMS = 200
ROUNDING = 2.0**-50
"""Weights nearer to 0 or to the cap than this are there."""


@dataclass(frozen=True, eq=False)
class Balance:
    """Votes and weights that are best against each other, but for ``gap``."""

    votes: Floats
    weights: Floats
    gap: float
    """The largest edge less the soft margin."""


def balance(
    columns: Columns, base: Floats, share: float, start: Balance, accuracy: float
) -> Balance:
    """Solve the program, starting from votes and weights that are allowed.

    >>> columns = np.array([[1, 1, -1], [-1, 1, 1], [1, -1, 1]], dtype=np.int8)
    >>> thirds = whole_weights(np.full(3, 1 / 3))
    >>> found = balance(columns, thirds, 0.0, Balance(np.array([1.0, 0, 0]), thirds, 2.0), 1e-9)
    >>> found.votes.round(6).tolist(), round(float(margins_of(columns, found.votes).min()), 6)
    ([0.333333, 0.333333, 0.333333], 0.333333)
    """
    cap = np.ones(base.size) if share <= 0 else np.minimum(base / share, 1.0)
    d, best, most = start.weights, start.votes, -np.inf
    margins = margins_of(columns, best)
    chosen = _nearest(margins, _threshold(margins, cap))
    for _ in range(MOST_PROGRAMS):
        chosen |= (d > ROUNDING) & (d < cap - ROUNDING)
        d, votes, rho = _program(columns, cap, d, np.flatnonzero(chosen))
        margins = margins_of(columns, votes)
        margin = soft_margin(margins[:, None], base, share)
        if margin > most:
            best, most = votes, margin
        gap = float(edges_of(columns, d).max()) - most
        if gap <= accuracy:
            break
        lack = np.maximum(rho - margins, 0) * (cap - d) + np.maximum(margins - rho, 0) * d
        lack[chosen] = 0.0
        worst = np.argsort(-lack, kind="stable")[:AT_ONCE]
        chosen[worst[lack[worst] > 0]] = True
    return Balance(best, d, gap)


def _program(
    columns: Columns, cap: Floats, d: Floats, rows: NDArray[np.intp]
) -> tuple[Floats, Floats, float]:
    """Solve for the weights of some rows; give all weights, the votes, and the threshold."""
    rules, count = len(columns), rows.size
    rest = d.copy()
    rest[rows] = 0.0
    answer = linprog(
        np.append(np.zeros(count), 1.0),
        A_ub=np.hstack([columns[:, rows].astype(np.float64), np.full((rules, 1), -1.0)]),
        b_ub=-edges_of(columns, rest),
        A_eq=np.append(np.ones(count), 0.0)[None],
        b_eq=[float(d[rows].sum())],
        bounds=[(0.0, most) for most in cap[rows].tolist()] + [(-2.0, 2.0)],
        method="highs-ds",
        options={"presolve": False},  # finds nothing in dense columns, and takes a quarter longer
    )
    if answer.x is None or answer.status != 0:
        raise ArithmeticError(f"HiGHS could not solve a linear program: {answer.message}")
    rest[rows] = whole_weights(np.clip(answer.x[:-1], 0.0, cap[rows]))
    votes = np.maximum(-answer.ineqlin.marginals, 0.0)
    return rest, whole_votes(votes / float(votes.sum())), float(answer.eqlin.marginals[0])


def _threshold(margins: Floats, cap: Floats) -> float:
    """The margin of the last row that the worst weights reach."""
    order = np.argsort(margins, kind="stable")
    last = int(np.searchsorted(np.cumsum(cap[order]), 1 - 1e-12))
    return float(margins[order[min(last, order.size - 1)]])


def _nearest(margins: Floats, rho: float) -> NDArray[np.bool_]:
    """Choose rows near the threshold; of those equally near, by numbers that look random."""
    mixed = np.arange(margins.size, dtype=np.uint32) * np.uint32(2654435761)
    chosen = np.zeros(margins.size, dtype=np.bool_)
    chosen[np.lexsort((mixed, np.abs(margins - rho)))[:AT_ONCE]] = True
    return chosen
