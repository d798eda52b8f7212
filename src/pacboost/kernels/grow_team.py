"""Grow one tree with a team of threads, whose members stay in ``grow_tree`` until it is grown.

Rows are divided evenly for sorting and counting, lanes for merging the counts of members, and
features for the search of splits. Small leaves employ fewer members. The last member to reach a
barrier chooses the next leaf and records its split. All sums are of integers, and the first of
equal splits is chosen, so the tree does not depend on the team.

Leaves of few rows have no histograms: their splits are found from the rows. Those rows are
subtracted from the histograms of a larger leaf beside them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pacboost.kernels import split, split_general
from pacboost.kernels.grow import (
    Interactions,
    draw_features,
    draw_open,
    hand_down,
    narrow,
    next_leaf,
    record,
)
from pacboost.kernels.layout import (
    ALL_ROWS,
    BINS,
    CUT,
    DEEPEST,
    DRAWN,
    FEATURE,
    KEY,
    LANE,
    LEAF,
    LEAVES,
    LEFT_COUNTED,
    LISTED,
    MONOTONE,
    NEW,
    SEARCH,
)
from pacboost.kernels.routing import count_rows, label, part, sides, subtract_rows
from pacboost.kernels.runtime import Bytes, Cells, Floats, Rows, Wholes, Words
from pacboost.kernels.runtime.board import (
    STOP,
    TICKET,
    last_to_arrive,
    meet,
    own_share,
    release,
    share,
)
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import kernel, part_of_kernels, team_kernel

MIN_ROWS_TO_SORT = 4_096  # per member: about 10 µs of work


class Codes(NamedTuple):
    """The rows of a sample (samples/blocks.py), and the orders of levels at the root."""

    words: Words
    features: Wholes
    lanes: int
    missing: int
    orders: Bytes
    evidence: Floats


class Leaves(NamedTuple):
    """The state of each leaf, one line for each."""

    starts: Wholes
    sizes: Wholes
    slots: Wholes
    best: Wholes
    members: Bytes
    gains: Floats
    hangs: Wholes
    depths: Wholes


class Splits(NamedTuple):
    """The splits of the tree, one line for each."""

    columns: Wholes
    members: Bytes
    gains: Floats


class TeamFindings(NamedTuple):
    """The results of the members of a team, one line for each."""

    lefts: Wholes
    worth: Floats
    best: Wholes
    members: Bytes
    sides: Bytes
    allowed: Bytes
    decks: Wholes


@kernel
def sorting_pieces(team: int, size: int) -> int:
    """Return how many members sort a leaf of ``size`` rows."""
    return min(team, max(1, size // MIN_ROWS_TO_SORT))


@part_of_kernels
def sort_rows(
    member: Member,
    block: Words,
    shift: np.uint64,
    goes_left: Bytes,
    rows: Rows,
    aside: Rows,
    lefts: Wholes,
) -> None:
    """Sort the rows of a leaf by the sides of its split; write how many of each part go left."""
    pieces = sorting_pieces(member.team, rows.size)
    first, last = share(rows.size, member.number, pieces)
    if member.number < pieces:
        lefts[member.number, 0] = part(block, shift, goes_left, rows[first:last], aside[first:last])
    if pieces > 1:
        meet(member)
    if member.number < pieces:
        n_left = before = np.int64(0)
        for k in range(pieces):
            n_left += lefts[k, 0]
            before += lefts[k, 0] if k < member.number else 0
        n_own_left = lefts[member.number, 0]
        for k in range(n_own_left):
            rows[before + k] = aside[first + k]
        place = n_left + first - before
        for k in range(last - first - n_own_left):
            rows[place + k] = aside[last - 1 - k]


@kernel
def take_best(
    team: int,
    findings: TeamFindings,
    best: Wholes,
    members: Bytes,
    gains: Floats,
    leaf: int,
    side: int,
) -> None:
    """Set the best split of a leaf that a member has found, the first of equals."""
    chosen, best_worth = -1, -np.inf
    for member in range(team):
        after, before = findings.worth[member, 2 * side], findings.worth[member, 2 * side + 1]
        if after > before and after > best_worth:
            chosen, best_worth = member, after
    gains[leaf] = 0.0
    if chosen >= 0:
        gains[leaf] = best_worth - findings.worth[chosen, 2 * side + 1]
        for k in range(best.shape[1]):
            best[leaf, k] = findings.best[chosen, side, k]
        for k in range(members.shape[1]):
            members[leaf, k] = findings.members[chosen, side, k]


@team_kernel(allocates=False)
def grow_tree(  # noqa: PLR0912, PLR0915 (one state, handed through all phases)
    member: Member,
    codes: Codes,
    order: Rows,
    spare: Rows,
    pairs: Wholes,
    histogram: Wholes,
    partial: Wholes,
    rules: Floats,
    leaves: Leaves,
    spans: Floats | None,
    splits: Splits,
    findings: TeamFindings,
    plan: Wholes,
    limits: Wholes,
    cells: Cells,
    interactions: Interactions | None,
) -> None:
    """Grow a tree on the rows of ``order``, and write the leaf of each to ``cells``.

    ``spans`` is None in the common case of kernels/split.py, and ``interactions`` if all features
    may interact: numba then drops the other branches before it compiles them.
    """
    words, features, lanes, missing, orders, evidence = codes
    starts, sizes, slots, best, members, gains, hangs, depths = leaves
    goes_left, allowed, deck = (
        findings.sides[member.number],
        findings.allowed[member.number],
        findings.decks[member.number],
    )
    listed = limits[LISTED]
    if limits[ALL_ROWS]:
        first, last = own_share(order.size, member)
        for k in range(first, last):
            order[k] = k
    if last_to_arrive(member):
        plan[LEAF], plan[NEW], plan[LEAVES], plan[SEARCH], plan[LEFT_COUNTED] = 0, 0, 1, 1, 1
        member.board[TICKET] = 0
        release(member)
    while plan[LEAF] >= 0:
        leaf, new = plan[LEAF], plan[NEW]
        left_slot = right_slot = np.int64(0)
        feature, start, size = features[best[leaf, FEATURE]], starts[leaf], sizes[leaf]
        if new > 0:  # the rows of the root are only counted and searched
            sides(feature, best[leaf], members[leaf], missing, goes_left)
            sort_rows(member, words[feature[LANE] >> 3],
                      np.uint64(8 * (feature[LANE] & 7)), goes_left, order[start : start + size],
                      spare[start : start + size], findings.lefts)  # fmt: skip
            if last_to_arrive(member):
                n_left = np.int64(0)
                for piece in range(sorting_pieces(member.team, size)):
                    n_left += findings.lefts[piece, 0]
                starts[new], sizes[new], sizes[leaf] = start + n_left, size - n_left, n_left
                plan[SEARCH] = plan[LEAVES] < gains.size and depths[leaf] < limits[DEEPEST]
                plan[LEFT_COUNTED] = 2 * n_left <= size
                member.board[TICKET] = 0
                release(member)
        if plan[SEARCH]:
            counted, other = (leaf, new) if plan[LEFT_COUNTED] else (new, leaf)
            start, slot = starts[counted], slots[leaf]
            left_slot, right_slot = (new, slot) if plan[LEFT_COUNTED] else (slot, new)
            rows = order[start : start + sizes[counted]]
            if rows.size > listed:
                first, last = count_rows(
                    member, words, lanes, rows, pairs, histogram, partial, new, slot
                )
            elif new > 0 and sizes[other] > listed:
                first, last = subtract_rows(member, words, lanes, rows, pairs, histogram[slot])
            else:
                first, last = own_share(lanes, member)
            if spans is not None or features.shape[0] != lanes:  # else lane j is that of feature j
                if last_to_arrive(member):
                    slots[leaf], slots[new] = left_slot, right_slot
                    if spans is not None and new > 0:
                        slope = feature[MONOTONE] if best[leaf, CUT] < feature[BINS] - 1 else 0
                        narrow(histogram, slope, slots, spans, leaf, new)
                    release(member)
                first, last = own_share(features.shape[0], member)
            for side in range(2 if new > 0 else 1):
                k = leaf if side == 0 else new
                key = np.uint64(limits[KEY] + 2 * new + side)
                if interactions is None:
                    draw_features(allowed, deck, limits[DRAWN], key)
                else:
                    draw_open(allowed, deck, limits[DRAWN], key, interactions, k)
                split_found = findings.best[member.number, side]
                at = left_slot if side == 0 else right_slot
                listed_rows = order[starts[k] : starts[k] + (sizes[k] if sizes[k] <= listed else 0)]
                if spans is None:
                    after, before = split.scan(
                        histogram[at, 0], features[first:last], allowed[first:last],
                        missing, sizes[k], rules, split_found, words, listed_rows, pairs[0],
                    )  # fmt: skip
                else:
                    after, before = split_general.scan(
                        histogram[at], features[first:last], allowed[first:last],
                        missing, sizes[k], rules, spans[k], split_found,
                        findings.members[member.number, side], new == 0, orders[first:last],
                        evidence[first:last], words, listed_rows, pairs,
                    )  # fmt: skip
                split_found[FEATURE] += first
                findings.worth[member.number, 2 * side] = after
                findings.worth[member.number, 2 * side + 1] = before
        if last_to_arrive(member):
            for side in range(2 if new > 0 else 1):
                k = leaf if side == 0 else new
                if plan[SEARCH]:
                    slots[k] = left_slot if side == 0 else right_slot
                    take_best(member.team, findings, best, members, gains, k, side)
                else:
                    gains[k] = 0.0
            new = plan[LEAVES]
            leaf = next_leaf(gains, new)
            if new == gains.size or member.board[STOP] != 0:
                leaf = -1
            if leaf >= 0:
                record(features, best, members, gains, leaf, new, splits.columns, splits.members,
                       splits.gains, hangs, depths)  # fmt: skip
                if interactions is not None:
                    hand_down(interactions, best[leaf, FEATURE], leaf, new)
                plan[LEAVES] = new + 1
            plan[LEAF], plan[NEW] = leaf, new
            release(member)
    first, last = own_share(cells.size, member)
    label(order, starts[: plan[LEAVES]], sizes[: plan[LEAVES]], first, last, cells)
