"""Follow mistakes row by row, and boost rules that distinguish new rows from old ones.

Rows are processed one by one, in order, so the result does not depend on how they are batched.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.runtime import Bytes, Floats, Signs, Wholes
from pacboost.kernels.runtime.jit import kernel, part_of_kernels
from pacboost.kernels.same_bits import exp_below_0, natural_exp, natural_log

BINS = 40
"""Codes of a column are smaller than this."""


@kernel
def follow(
    mistakes: NDArray[np.bool_], counts: Wholes, squares: Floats, logs: Floats, goal: float,
    levels: Floats, weights: Floats, run_length: float, marks: Wholes,
) -> None:  # fmt: skip
    """Count rows and mistakes, and record when the capital or the detector reaches its goal.

    ``counts`` are rows and mistakes; ``logs`` the logarithms of each bet's factors, in the first
    row after no mistake; ``weights`` the share of each bet in the detector; ``marks`` the row of
    refutation, the first and last row at which the detector gave an alarm, and the number of
    alarms. The detector restarts after each.
    """
    bets = levels.size
    factors = np.empty(logs.shape)
    for j in range(bets):
        factors[0, j], factors[1, j] = natural_exp(logs[0, j]), natural_exp(logs[1, j])
    for wrong in mistakes:
        mean = (counts[1] + 0.5) / (counts[0] + 1.0)
        counts[0] += 1
        if wrong:
            counts[1] += 1
            squares[0] += (1.0 - mean) ** 2
            if marks[0] == 0:  # the capital grows at mistakes only
                right = counts[0] - counts[1]
                top = -np.inf
                for j in range(bets):
                    top = max(top, counts[1] * logs[1, j] + right * logs[0, j])
                if top >= goal:
                    sum_of_bets = 0.0
                    for j in range(bets):
                        sum_of_bets += exp_below_0(
                            counts[1] * logs[1, j] + right * logs[0, j] - top
                        )
                    if top + natural_log(sum_of_bets / bets) >= goal:
                        marks[0] = counts[0]
        else:
            squares[0] += mean**2
        factors_of_row = factors[1] if wrong else factors[0]
        total = 0.0
        for j in range(bets):
            levels[j] = (levels[j] + 1.0) * factors_of_row[j]
            total += weights[j] * levels[j]
        if total >= run_length:
            levels[:] = 0.0
            marks[1] = counts[0] if marks[1] == 0 else marks[1]
            marks[2] = counts[0]
            marks[3] += 1


@part_of_kernels
def best_cut(codes: Bytes, weights: Floats, node: Signs, asked: int, half: int) -> tuple[int, int]:
    """Return the column and code of the best cut; rows up to that code go left.

    Rows before ``half`` are new, the others old. The criterion is Σ √(W₊W₋) over both sides.
    """
    columns = codes.shape[1]
    sums = np.zeros((columns, BINS, 2))
    for i in range(codes.shape[0]):
        if node[i] == asked:
            side = 0 if i < half else 1
            for c in range(columns):
                sums[c, codes[i, c], side] += weights[i]
    best, column, cut = np.inf, 0, 0
    for c in range(columns):
        new, old = sums[c, :, 0].sum(), sums[c, :, 1].sum()
        left_new = left_old = 0.0
        for k in range(BINS - 1):
            left_new += sums[c, k, 0]
            left_old += sums[c, k, 1]
            right_new, right_old = max(new - left_new, 0.0), max(old - left_old, 0.0)
            z = math.sqrt(left_new * left_old) + math.sqrt(right_new * right_old)
            if z < best - 1e-12:
                best, column, cut = z, c, k
    return column, cut


@kernel
def boost_rules(codes: Bytes, half: int, shrink: float, rules: Wholes, values: Floats) -> None:
    """Boost trees of four leaves that distinguish new rows (before ``half``) from old ones.

    ``rules`` holds column and cut of the root, of its left and of its right child; ``values`` are
    those of the four leaves.
    """
    rows = codes.shape[0]
    scores = np.zeros(rows)
    weights = np.ones(rows)
    node = np.zeros(rows, dtype=np.int8)
    for t in range(rules.shape[0]):
        node[:] = 0
        rules[t, 0], rules[t, 1] = best_cut(codes, weights, node, 0, half)
        for i in range(rows):
            node[i] = 1 if codes[i, rules[t, 0]] <= rules[t, 1] else 2
        rules[t, 2], rules[t, 3] = best_cut(codes, weights, node, 1, half)
        rules[t, 4], rules[t, 5] = best_cut(codes, weights, node, 2, half)
        sums = np.zeros((4, 2))
        for i in range(rows):
            leaf = leaf_of(codes[i], rules[t])
            node[i] = leaf
            sums[leaf, 0 if i < half else 1] += weights[i]
        smooth = 4.0 * weights.sum() / rows  # as if every leaf held four more rows of each kind
        for leaf in range(4):
            ratio = (sums[leaf, 0] + smooth) / (sums[leaf, 1] + smooth)
            values[t, leaf] = shrink * 0.5 * natural_log(ratio)
        for i in range(rows):
            scores[i] += values[t, node[i]]
            weights[i] = natural_exp(-scores[i] if i < half else scores[i])


@part_of_kernels
def leaf_of(codes: Bytes, rule: Wholes) -> int:
    """Find the leaf of a row."""
    if codes[rule[0]] <= rule[1]:
        return 0 if codes[rule[2]] <= rule[3] else 1
    return 2 if codes[rule[4]] <= rule[5] else 3


@part_of_kernels
def tanh(x: float) -> float:
    """Return the hyperbolic tangent, which lies in [-1, 1]."""
    small = exp_below_0(-2.0 * abs(x))
    size = (1.0 - small) / (1.0 + small)
    return size if x >= 0 else -size


@kernel
def pay(
    new: Bytes, old: Bytes, rules: Wholes, values: Floats, payoffs: Floats, won: Floats
) -> None:
    """Write the payoff of a bet on each pair of rows, and add it to the gains of the columns.

    The bet is tanh of the score, which lies in [-1, 1]; it pays half the difference between the new
    and the old row. A leaf's value is shared by the column of the root and that of its child.
    """
    for i in range(new.shape[0]):
        high = low = 0.0
        for t in range(rules.shape[0]):
            a, b = leaf_of(new[i], rules[t]), leaf_of(old[i], rules[t])
            high += values[t, a]
            low += values[t, b]
            won[rules[t, 0]] += 0.25 * (values[t, a] - values[t, b])
            won[rules[t, 2 if a < 2 else 4]] += 0.25 * values[t, a]
            won[rules[t, 2 if b < 2 else 4]] -= 0.25 * values[t, b]
        payoffs[i] = 0.5 * (tanh(high) - tanh(low))
