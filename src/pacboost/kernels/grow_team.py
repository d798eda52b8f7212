"""Grow one tree with a team of threads, whose members stay in ``grow_tree`` until it is grown.

Rows are divided evenly for sorting and counting, lanes for merging the counts of members, and
features for the search of splits. The last member to reach a barrier chooses the next leaf and
records its split. All sums are of integers, and the first of equal splits is chosen, so the tree
does not depend on the team.

Leaves of few rows have no histograms: their splits are found from the rows.
"""

from __future__ import annotations

import numpy as np

from pacboost.kernels import grow, layout, split, split_general
from pacboost.kernels.layout import Interactions, Leaves, TeamFindings, TreeArrays
from pacboost.kernels.routing import count_rows, label, part, sides, subtract_rows
from pacboost.kernels.runtime import Bytes, Floats, Rows, Wholes, Words, board
from pacboost.kernels.runtime.board import last_to_arrive, meet, own_share, release, share
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import kernel, part_of_kernels, team_kernel

MIN_ROWS_TO_SORT = 4_096  # per member: about 10 µs of work


@kernel
def sorting_pieces(team: int, size: int) -> int:
    """Return how many members sort a leaf of ``size`` rows."""
    return min(team, max(1, size // MIN_ROWS_TO_SORT))


@part_of_kernels
def sort_rows(
    member: Member, block: Words, shift: np.uint64, goes_left: Bytes, rows: Rows, aside: Rows,
    lefts: Wholes,
) -> None:  # fmt: skip
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
def take_best(team: int, findings: TeamFindings, leaves: Leaves, leaf: int, side: int) -> None:
    """Set the best split of a leaf that a member has found, the first of equals."""
    chosen, best_worth = -1, -np.inf
    for member in range(team):
        after, before = findings.worth[member, 2 * side], findings.worth[member, 2 * side + 1]
        if after > before and after > best_worth:
            chosen, best_worth = member, after
    leaves.gains[leaf] = 0.0
    if chosen >= 0:
        leaves.gains[leaf] = best_worth - findings.worth[chosen, 2 * side + 1]
        for k in range(leaves.best.shape[1]):
            leaves.best[leaf, k] = findings.best[chosen, side, k]
        for k in range(leaves.members.shape[1]):
            leaves.members[leaf, k] = findings.members[chosen, side, k]


@part_of_kernels
def begin(member: Member, tree: TreeArrays) -> None:
    """List all rows, if all take part, and plan the search of the root."""
    plan = tree.plan
    if tree.limits[layout.ALL_ROWS]:
        first, last = own_share(tree.rows.size, member)
        for k in range(first, last):
            tree.rows[k] = k
    if last_to_arrive(member):
        plan[layout.LEAF], plan[layout.NEW], plan[layout.LEAVES] = 0, 0, 1
        plan[layout.SEARCH], plan[layout.LEFT_COUNTED] = 1, 1
        member.board[board.TICKET] = 0
        release(member)


@part_of_kernels
def part_leaf(member: Member, tree: TreeArrays, leaf: int, new: int) -> None:
    """Sort the rows of a leaf by the sides of its split, and decide how to search the parts."""
    codes, leaves, findings, plan = tree.codes, tree.leaves, tree.findings, tree.plan
    best, goes_left = leaves.best[leaf], findings.sides[member.number]
    feature, start, size = (
        codes.features[best[layout.FEATURE]],
        leaves.starts[leaf],
        leaves.sizes[leaf],
    )
    lane = feature[layout.LANE]
    sides(feature, best, leaves.members[leaf], codes.missing, goes_left)
    sort_rows(
        member, codes.words[lane >> 3], np.uint64(8 * (lane & 7)), goes_left,
        tree.rows[start : start + size], tree.spare[start : start + size], findings.lefts,
    )  # fmt: skip
    if last_to_arrive(member):
        n_left = np.int64(0)
        for piece in range(sorting_pieces(member.team, size)):
            n_left += findings.lefts[piece, 0]
        leaves.starts[new], leaves.sizes[new] = start + n_left, size - n_left
        leaves.sizes[leaf] = n_left
        is_deepest = leaves.depths[leaf] >= tree.limits[layout.DEEPEST]
        plan[layout.SEARCH] = plan[layout.LEAVES] < leaves.gains.size and not is_deepest
        plan[layout.LEFT_COUNTED] = 2 * n_left <= size
        member.board[board.TICKET] = 0
        release(member)


@part_of_kernels
def count_parts(member: Member, tree: TreeArrays, leaf: int, new: int) -> tuple[int, int]:
    """Count one part of a leaf and subtract it from the other; return this member's lanes.

    At the root, there is only one part to count.
    """
    leaves, listed = tree.leaves, tree.limits[layout.LISTED]
    counted, other = (leaf, new) if tree.plan[layout.LEFT_COUNTED] else (new, leaf)
    start, slot = leaves.starts[counted], leaves.slots[leaf]
    rows = tree.rows[start : start + leaves.sizes[counted]]
    if rows.size > listed:
        return count_rows(member, tree, rows, new, slot)
    if new > 0 and leaves.sizes[other] > listed:
        return subtract_rows(member, tree, rows, slot)
    return own_share(tree.codes.lanes, member)


@part_of_kernels
def search_part(
    member: Member, tree: TreeArrays, spans: Floats | None, interactions: Interactions | None,
    side: int, slot: int, first: int, last: int,
) -> None:  # fmt: skip
    """Search the features from ``first`` to before ``last`` for the best split of one part."""
    leaves, findings, limits, plan = tree.leaves, tree.findings, tree.limits, tree.plan
    features = tree.codes.features.shape[0]
    allowed = findings.allowed[member.number, :features]
    deck = findings.decks[member.number, :features]
    leaf = plan[layout.LEAF] if side == 0 else plan[layout.NEW]
    key = np.uint64(limits[layout.KEY] + 2 * plan[layout.NEW] + side)
    if interactions is None:
        grow.draw_features(allowed, deck, limits[layout.DRAWN], key)
    else:
        grow.draw_open(allowed, deck, limits[layout.DRAWN], key, interactions, leaf)
    start, size = leaves.starts[leaf], leaves.sizes[leaf]
    rows = tree.rows[start : start + (size if size <= limits[layout.LISTED] else 0)]
    search = split.SplitSearch(tree.codes, allowed, first, last, tree.rules)
    best = findings.best[member.number, side]
    if spans is None:
        after, before = split.scan(search, tree.histogram[slot, 0], rows, tree.pairs[0], size, best)
    else:
        after, before = split_general.scan(
            search, tree.histogram[slot], rows, tree.pairs, size, spans[leaf],
            plan[layout.NEW] == 0, best, findings.members[member.number, side],
        )  # fmt: skip
    findings.worth[member.number, 2 * side] = after
    findings.worth[member.number, 2 * side + 1] = before


@part_of_kernels
def choose_leaf(member: Member, tree: TreeArrays, interactions: Interactions | None) -> None:
    """Choose the next leaf to split, and record its split; the plan says -1 if there is none."""
    leaves, new = tree.leaves, tree.plan[layout.LEAVES]
    leaf = grow.next_leaf(leaves.gains, new)
    if new == leaves.gains.size or member.board[board.STOP] != 0:
        leaf = -1
    if leaf >= 0:
        grow.record(tree.codes.features, leaves, tree.splits, leaf, new)
        if interactions is not None:
            grow.hand_down(interactions, leaves.best[leaf, layout.FEATURE], leaf, new)
        tree.plan[layout.LEAVES] = new + 1
    tree.plan[layout.LEAF], tree.plan[layout.NEW] = leaf, new


@team_kernel(allocates=False)
def grow_tree(
    member: Member, tree: TreeArrays, spans: Floats | None, interactions: Interactions | None
) -> None:
    """Grow a tree on the rows of ``tree``, and write the leaf of each to its cells.

    ``spans`` is None in the common case of kernels/split.py, and ``interactions`` if all features
    may interact: numba then drops the other branches before it compiles them.
    """
    codes, leaves, plan = tree.codes, tree.leaves, tree.plan
    begin(member, tree)
    while plan[layout.LEAF] >= 0:
        leaf, new = plan[layout.LEAF], plan[layout.NEW]
        parts = 2 if new > 0 else 1
        if new > 0:  # the rows of the root are only counted and searched
            part_leaf(member, tree, leaf, new)
        slot = leaves.slots[leaf]
        left_slot, right_slot = (new, slot) if plan[layout.LEFT_COUNTED] else (slot, new)
        if plan[layout.SEARCH]:
            first, last = count_parts(member, tree, leaf, new)
            if spans is not None or codes.features.shape[0] != codes.lanes:
                if last_to_arrive(member):
                    leaves.slots[leaf], leaves.slots[new] = left_slot, right_slot
                    if spans is not None and new > 0:
                        grow.narrow(tree.histogram, codes.features, leaves, spans, leaf, new)
                    release(member)
                first, last = own_share(codes.features.shape[0], member)
            # else lane j is that of feature j, and this member counted it
            for side in range(parts):
                at = left_slot if side == 0 else right_slot
                search_part(member, tree, spans, interactions, side, at, first, last)
        if last_to_arrive(member):
            for side in range(parts):
                k = leaf if side == 0 else new
                leaves.gains[k] = 0.0
                if plan[layout.SEARCH]:
                    leaves.slots[k] = left_slot if side == 0 else right_slot
                    take_best(member.team, tree.findings, leaves, k, side)
            choose_leaf(member, tree, interactions)
            release(member)
    first, last = own_share(tree.cells.size, member)
    count = plan[layout.LEAVES]
    label(tree.rows, leaves.starts[:count], leaves.sizes[:count], first, last, tree.cells)
