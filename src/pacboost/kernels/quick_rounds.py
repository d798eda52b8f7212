"""The steps of a round with trees between its kernels, as kernels.

Python would take longer for these steps than the kernels for their work, on small samples or with
many threads. So a team runs many rounds in a row (``take_turns`` of kernels/runtime/board.py), and
Python reads the results afterwards. This is for LogitBoost with two classes and for squared errors,
with trees without constraints, if rows have equal weights or no cost is measured.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pacboost.kernels import layout
from pacboost.kernels.layout import TreeArrays
from pacboost.kernels.pairs import pairs_of_one
from pacboost.kernels.residuals import add_values, write_pulls
from pacboost.kernels.routing import bin_of, is_left
from pacboost.kernels.row_draws import draw_share, gap
from pacboost.kernels.runtime import Bytes, Cells, Floats, Numbers, Rows, Signs, Wholes
from pacboost.kernels.runtime.board import meet, own_share, share_of_spans
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import team_kernel
from pacboost.kernels.split import LOW

GOES_ON, ROUND, ROUNDS, VALIDATED, BEST_ROUND, PATIENCE, MIN_ROUNDS, NO_EDGE = range(8)
"""Places in ``course``: whether to continue; the round, from 0 on, and the number of rounds;
the number of rounds measured on validation rows, the best of them, the rounds without progress to
stop after (-1: never), and the minimum number of rounds; whether a tree had no edge."""
MAX_SUM, L2, MAX_STEP, UNIT, MIN_EDGE, BEST, SCALE, LARGEST = range(8)
"""Places in ``settings``: the sum of pairs; the penalty on the weight of a leaf; the maximum mean
of a leaf; the unit of values; the minimum edge; the best validation cost; the factor from residuals
to pulls, and the largest residual (1 and infinite for classes)."""
N_LEAVES, WEIGHT, PULL, WRONG = range(4)
"""Columns of ``Records.wholes``."""
EDGE, VALIDATION_COST = range(2)
"""Columns of ``Records.floats``."""


class Inputs(NamedTuple):
    """The key and the learning rate of each round, and room for its rows (none: it uses all)."""

    keys: Wholes
    rates: Floats
    chosen: Rows


class Records(NamedTuple):
    """The results of each round, a line or a table for each."""

    splits: Numbers
    """(rounds, columns, splits)."""
    members: Bytes
    """(rounds, splits, codes), if there are categories."""
    gains: Floats
    values: Floats
    cover: Floats
    wholes: Wholes
    floats: Floats
    squares: Floats
    """(rounds, spans of rows), like the costs."""
    costs: Floats


class RoundSums(NamedTuple):
    """The sums of a round; ``now`` holds those of weights and of absolute pulls."""

    now: Wholes
    parts: Wholes
    squares: Floats
    totals: Wholes
    wrong: Wholes
    cost: Floats
    validation_cost: Floats
    largest: Floats


@team_kernel(allocates=False)
def begin(
    member: Member, course: Wholes, settings: Floats, inputs: Inputs, weights: Wholes,
    pulls: Wholes, tree: TreeArrays, sums: RoundSums,
) -> None:  # fmt: skip
    """Pair pulls and weights, draw the rows of a round, and prepare its tree."""
    weight_scale = settings[MAX_SUM] / float(max(np.int64(1), sums.now[0]))
    pull_scale = settings[MAX_SUM] / float(max(np.int64(1), sums.now[1]))
    a, b = own_share(weights.size, member)
    pairs_of_one(weights[a:b], pulls[a:b], False, pull_scale, weight_scale, tree.pairs[0, a:b])
    key, chosen = inputs.keys[course[ROUND]], inputs.chosen
    if chosen.size > 0:
        first, last = draw_share(member, key, weights.size, chosen)
        for k in range(first, last):
            tree.rows[k] = chosen[k]
    if member.number > 0:
        return
    tree.limits[layout.KEY] = key
    tree.rules[layout.PENALTY] = settings[L2] * weight_scale
    leaves = tree.leaves
    leaves.starts[0], leaves.slots[0], leaves.depths[0] = 0, 0, 0
    leaves.sizes[0] = tree.rows.size
    for k in range(sums.parts.shape[0]):
        for leaf in range(sums.parts.shape[2]):
            sums.parts[k, 0, leaf] = sums.parts[k, 1, leaf] = 0


@team_kernel(allocates=False)
def weigh_levels(member: Member, penalty: float, tree: TreeArrays) -> None:
    """Set the gain of a level by chance: see ``_gain_by_chance`` of learners/growing.py."""
    if member.number > 0:
        return
    squares = weight = np.int64(0)
    pairs = tree.pairs[0]
    for k in range(pairs.size):
        pull = pairs[k] >> 32
        squares += pull * pull
        weight += pairs[k] & LOW
    tree.rules[layout.CHANCE] = float(squares) / max(float(weight), 1.0)
    tree.rules[layout.LEVEL_PENALTY] = penalty * tree.rules[layout.CHANCE]


@team_kernel(allocates=False)
def settle(member: Member, chosen: Rows, tree: TreeArrays, cells: Cells) -> None:
    """Set the leaves of the rows that were not drawn."""
    if chosen.size == 0:
        return
    first, last = own_share(chosen.size + 1, member)
    root = np.int64(-1 if tree.plan[layout.LEAVES] == 1 else 0)
    for k in range(first, last):
        begin, end = gap(chosen, k, cells.size)
        for row in range(begin, end):
            at = root
            while at >= 0:
                split = tree.splits.columns[at]
                feature = tree.codes.features[split[layout.FEATURE]]
                lane = feature[layout.LANE]
                word = tree.codes.words[lane >> 3, row]
                b = bin_of(np.int64((word >> np.uint64(8 * (lane & 7))) & np.uint64(255)), feature)
                goes_left = is_left(b, feature, split, tree.splits.members[at], tree.codes.missing)
                at = split[layout.LEFT] if goes_left else split[layout.RIGHT]
            cells[row] = ~at


@team_kernel(allocates=False)
def give_values(
    member: Member, course: Wholes, settings: Floats, inputs: Inputs, tree: TreeArrays,
    sums: RoundSums, values: Floats, records: Records,
) -> None:  # fmt: skip
    """Set each leaf to the step for its rows, and record the tree.

    If the tree has no edge, its values are 0, so that no score changes; the round is not counted.
    """
    if member.number > 0:
        return
    t, leaves = course[ROUND], tree.plan[layout.LEAVES]
    edge, is_moved = np.int64(0), False
    cover, splits = records.cover[t], leaves - 1
    for leaf in range(leaves):
        pull = weight = np.int64(0)
        for k in range(member.team):
            pull += sums.parts[k, 0, leaf]
            weight += sums.parts[k, 1, leaf]
        below, mean = float(weight) + settings[L2], 0.0
        if below > 0:
            mean = float(pull) / below
        mean = min(max(mean, -settings[MAX_STEP]), settings[MAX_STEP])
        step = inputs.rates[t] * (mean / settings[SCALE])
        value = np.rint(step / settings[UNIT]) * settings[UNIT]
        values[leaf] = records.values[t, leaf] = value
        cover[splits + leaf] = float(weight)
        edge += pull if value > 0 else -pull if value < 0 else 0
        is_moved = is_moved or value != 0
    for split in range(splits - 1, -1, -1):
        for column in range(5):
            records.splits[t, column, split] = tree.splits.columns[split, column]
        records.gains[t, split] = tree.splits.gains[split]
        for code in range(256 if records.members.shape[1] > 0 else 0):
            records.members[t, split, code] = tree.splits.members[split, code]
        a, b = tree.splits.columns[split, layout.LEFT], tree.splits.columns[split, layout.RIGHT]
        cover[split] = cover[a if a >= 0 else splits + ~a] + cover[b if b >= 0 else splits + ~b]
    total = max(np.int64(1), sums.now[1])
    records.floats[t, EDGE] = float(edge) / float(total)
    for k in range(sums.squares.size):
        records.squares[t, k] = sums.squares[k]
    records.wholes[t, N_LEAVES] = leaves
    records.wholes[t, WEIGHT], records.wholes[t, PULL] = sums.now[0], sums.now[1]
    if not (is_moved and records.floats[t, EDGE] > settings[MIN_EDGE]):
        course[NO_EDGE] = 1
        for leaf in range(leaves):
            values[leaf] = 0.0


@team_kernel(allocates=False)
def follow_residuals(
    member: Member, settings: Floats, cells: Cells, values: Floats, targets: Floats, scores: Floats,
    weights: Wholes, pulls: Wholes, sums: RoundSums,
) -> None:  # fmt: skip
    """Add the values of cells to the scores, and write the pulls that follow from the residuals."""
    a, b = own_share(cells.size, member)
    targets, scores = targets[a:b], scores[a:b]
    sums.largest[member.number] = add_values(cells[a:b], values, targets, scores)
    meet(member)
    largest = 0.0
    for k in range(member.team):
        largest = max(largest, sums.largest[k])
    scale = math.ldexp(1.0, -math.frexp(max(largest, settings[UNIT]))[1])
    total = write_pulls(targets, scores, weights[a:b], np.inf, scale, pulls[a:b])
    sums.totals[member.number, 0] = sums.now[0] if member.number == 0 else 0
    sums.totals[member.number, 1] = total
    if member.number == 0:
        settings[SCALE], settings[LARGEST] = scale, largest


@team_kernel(allocates=False)
def square_costs(member: Member, targets: Floats, scores: Floats, size: int, sums: Floats) -> None:
    """Sum the squared residuals of each span of ``size`` rows, from first to last."""
    a, b = share_of_spans(targets.size, size, member)
    for span in range(a // size, (b + size - 1) // size):
        total = 0.0
        for i in range(span * size, min((span + 1) * size, targets.size)):
            residual = abs(targets[i] - scores[i])
            total += residual * residual
        sums[span] = total


@team_kernel(allocates=False)
def square_residuals(member: Member, targets: Floats, scores: Floats, squares: Floats) -> None:
    """Write the squared residuals."""
    a, b = own_share(targets.size, member)
    for i in range(a, b):
        squares[i] = (targets[i] - scores[i]) * (targets[i] - scores[i])


@team_kernel(allocates=False)
def add_up(member: Member, numbers: Floats, result: Floats) -> None:
    """Sum numbers, and overwrite them, in the order of ``total`` in numerics/same_bits.py."""
    if member.number > 0:
        return
    size = numbers.size
    while size > 1:
        half = (size + 1) // 2
        for k in range(size - half):
            numbers[k] += numbers[half + k]
        size = half
    result[0] = numbers[0]


@team_kernel(allocates=False)
def validate(
    member: Member, codes: Bytes, signs: Signs, tree: TreeArrays, values: Floats, scores: Floats,
    margins: Floats,
) -> None:  # fmt: skip
    """Add the tree to the scores of validation rows, whose codes are (features, rows)."""
    first, last = own_share(scores.size, member)
    for row in range(first, last):
        at = np.int64(-1 if tree.plan[layout.LEAVES] == 1 else 0)
        while at >= 0:
            split = tree.splits.columns[at]
            code = np.int64(codes[split[layout.FEATURE], row])
            feature = tree.codes.features[split[layout.FEATURE]]
            goes_left = is_left(code, feature, split, tree.splits.members[at], tree.codes.missing)
            at = split[layout.LEFT] if goes_left else split[layout.RIGHT]
        scores[row] += values[~at]
        margins[row] = signs[row] * scores[row]


@team_kernel(allocates=False)
def finish(
    member: Member, course: Wholes, settings: Floats, sums: RoundSums, validation_rows: int,
    records: Records,
) -> None:  # fmt: skip
    """Record the measurements of the round, and set whether to continue."""
    if member.number > 0:
        return
    if course[NO_EDGE]:
        course[GOES_ON] = 0
        return
    t, wrong = course[ROUND], np.int64(0)
    sums.now[0] = sums.now[1] = 0
    for k in range(member.team):
        sums.now[0] += sums.totals[k, 0]
        sums.now[1] += sums.totals[k, 1]
        wrong += sums.wrong[k, 0]
    records.wholes[t, WRONG] = wrong
    for k in range(sums.cost.size):
        records.costs[t, k] = sums.cost[k]
    course[ROUND] += 1
    if validation_rows > 0:
        value = records.floats[t, VALIDATION_COST] = sums.validation_cost[0] / float(
            validation_rows
        )
        course[VALIDATED] += 1
        if value < settings[BEST]:
            settings[BEST], course[BEST_ROUND] = value, course[VALIDATED]
        rounds_without_progress = course[VALIDATED] - course[BEST_ROUND]
        is_patience_spent = (
            0 <= course[PATIENCE] <= rounds_without_progress
            and course[VALIDATED] >= course[MIN_ROUNDS]
        )
        if is_patience_spent or not np.isfinite(value):
            course[GOES_ON] = 0
    if course[ROUND] == course[ROUNDS] or settings[LARGEST] < settings[UNIT]:
        course[GOES_ON] = 0
