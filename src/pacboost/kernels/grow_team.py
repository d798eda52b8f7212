"""Grow one tree by a team: every member enters ``grow_tree`` and stays until the tree is grown.

Rows are divided evenly for sorting and counting, lanes for adding up what members counted, features
for the search of splits. Small leaves keep fewer members busy. Whoever is last at a barrier does
what only one may do: it chooses the next leaf and writes down its split. All sums are of whole
numbers and of equal splits the first one counts, so the tree does not depend on the team.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import best_split, plain_split
from pacboost.kernels.best_split import BINS, CUT, FEATURE, LANE, MONOTONE
from pacboost.kernels.board import STOP, last_to_arrive, meet, release, share
from pacboost.kernels.grow import count, draw_features, narrow, next_leaf, record
from pacboost.kernels.jit import inlined, team_kernel
from pacboost.kernels.routing import label, part, part_to_ends, sides

ROWS_WORTH_SORTING = 4_096  # by another member: some 10 µs of work
ROWS_WORTH_COUNTING = 2_048

Wholes = NDArray[np.int64]
Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]


class Codes(NamedTuple):
    """The rows of a sample: samples/blocks.py says how codes lie in words."""

    words: NDArray[np.uint64]
    features: Wholes
    lanes: int
    missing: int


class Leaves(NamedTuple):
    """What is known of each leaf, one line for each."""

    starts: Wholes
    sizes: Wholes
    slots: Wholes
    best: Wholes
    members: Bytes
    gains: Floats
    hangs: Wholes
    depths: Wholes


class Splits(NamedTuple):
    """The splits made."""

    made: Wholes
    members: Bytes
    gains: Floats


class Found(NamedTuple):
    """What the members of a team have found, one line for each."""

    lefts: Wholes
    worth: Floats
    best: Wholes
    members: Bytes
    sides: Bytes
    allowed: Bytes
    decks: Wholes


# what ``plan`` holds: the leaf to be split or -1, the number of its right part, the number of
# leaves, whether the parts are to be searched, and whether the left part is the one counted
LEAF, NEW, LEAVES, SEARCH, LEFT_COUNTED = range(5)
# what ``limits`` holds
DRAWN, DEEPEST, ALL_ROWS = range(3)


@inlined
def sorting_pieces(team: int, size: int) -> int:
    """Give how many members sort a leaf of so many rows."""
    return min(team, max(1, size // ROWS_WORTH_SORTING))


@inlined
def sort_rows(
    member: int,
    team: int,
    board: Wholes,
    codes: Codes,
    order: NDArray[np.uint32],
    spare: NDArray[np.uint32],
    leaves: Leaves,
    found: Found,
    leaf: int,
) -> None:
    """Sort the rows of a leaf to the sides of its split; write how many of each piece go left."""
    goes_left = found.sides[member]
    feature = codes.features[leaves.best[leaf, FEATURE]]
    sides(feature, leaves.best[leaf], leaves.members[leaf], codes.missing, goes_left)
    block, shift = codes.words[feature[LANE] >> 3], np.uint64(8 * (feature[LANE] & 7))
    start, size = leaves.starts[leaf], leaves.sizes[leaf]
    rows, aside = order[start : start + size], spare[start : start + size]
    pieces = sorting_pieces(team, size)
    first, last = share(size, member, pieces)
    if pieces == 1:
        if member == 0:
            left = part(block, shift, goes_left, rows, rows, aside)
            for k in range(size - left):
                rows[left + k] = aside[k]
            found.lefts[0, 0] = left
        return
    if member < pieces:
        own = part_to_ends(block, shift, goes_left, rows[first:last], aside[first:last])
        found.lefts[member, 0] = own
    meet(board, team)
    if member >= pieces:
        return
    left = before = np.int64(0)
    for k in range(pieces):
        left += found.lefts[k, 0]
        before += found.lefts[k, 0] if k < member else 0
    own = found.lefts[member, 0]
    for k in range(own):
        rows[before + k] = aside[first + k]
    place = left + first - before
    for k in range(last - first - own):
        rows[place + k] = aside[last - 1 - k]


@inlined
def divide_leaf(
    team: int, leaves: Leaves, found: Found, plan: Wholes, deepest: int
) -> None:
    """Give the sorted rows of a leaf to its parts, and decide whether these may be split."""
    leaf, new = plan[LEAF], plan[NEW]
    start, size = leaves.starts[leaf], leaves.sizes[leaf]
    left = np.int64(0)
    for piece in range(sorting_pieces(team, size)):
        left += found.lefts[piece, 0]
    leaves.starts[new], leaves.sizes[new], leaves.sizes[leaf] = start + left, size - left, left
    plan[SEARCH] = plan[LEAVES] < leaves.gains.size and leaves.depths[leaf] < deepest
    plan[LEFT_COUNTED] = 2 * left <= size


@inlined
def count_rows(
    member: int,
    team: int,
    board: Wholes,
    codes: Codes,
    rows: NDArray[np.uint32],
    pairs: Wholes,
    histogram: Wholes,
    partial: Wholes,
    new: int,
    slot: int,
) -> None:
    """Count rows into histogram ``new``, and take what was counted away from that in ``slot``."""
    blocks, lines, width = codes.words.shape[0], histogram.shape[1], histogram.shape[3]
    pieces = min(team, max(1, rows.size // ROWS_WORTH_COUNTING), partial.shape[0] + 1)
    groups = min(blocks, team // pieces)
    piece, group = member % pieces, member // pieces
    if group < groups:
        first, last = share(blocks, group, groups)
        start, stop = share(rows.size, piece, pieces)
        into = histogram[new] if piece == 0 else partial[piece - 1]
        for s in range(lines):
            into[s, 8 * first : 8 * last] = 0
        count(codes.words, codes.lanes, rows[start:stop], pairs, into, first, last)
    first, last = 8 * share(blocks, group, groups)[0], 8 * share(blocks, group, groups)[1]
    if pieces > 1:
        meet(board, team)
        first, last = share(codes.lanes, member, team)
    elif group >= groups:
        last = first
    for s in range(lines):
        for j in range(first, last):
            own, rest = histogram[new, s, j], histogram[slot, s, j]
            for other in range(pieces - 1):
                counted = partial[other, s, j]
                for k in range(width):
                    own[k] += counted[k]
            if new > 0:
                for k in range(width):
                    rest[k] -= own[k]


@inlined
def search(
    member: int,
    team: int,
    codes: Codes,
    histogram: Wholes,
    rules: Floats,
    leaves: Leaves,
    spans: Floats | None,
    found: Found,
    leaf: int,
    side: int,
    drawn: int,
    seed: np.uint64,
) -> None:
    """Search this member's features for the best split of a leaf."""
    features = codes.features.shape[0]
    allowed = found.allowed[member]
    draw_features(allowed, found.decks[member], drawn, seed)
    first, last = share(features, member, team)
    own, best = histogram[leaves.slots[leaf]], found.best[member, side]
    if spans is None:
        after, before = plain_split.scan(
            own[0], codes.features[first:last], allowed[first:last], codes.missing,
            leaves.sizes[leaf], rules, best,
        )  # fmt: skip
    else:
        after, before = best_split.scan(
            own, codes.features[first:last], allowed[first:last], codes.missing,
            leaves.sizes[leaf], rules, spans[leaf], best, found.members[member, side],
        )  # fmt: skip
    best[FEATURE] += first
    found.worth[member, 2 * side], found.worth[member, 2 * side + 1] = after, before


@inlined
def take_best(leaves: Leaves, found: Found, team: int, leaf: int, side: int) -> None:
    """Give a leaf the best split that a member has found; of equal ones the first."""
    chosen, most = -1, found.worth[0, 2 * side + 1]
    for member in range(team):
        if found.worth[member, 2 * side] > most:
            chosen, most = member, found.worth[member, 2 * side]
    leaves.gains[leaf] = most - found.worth[0, 2 * side + 1]
    if chosen >= 0:
        for k in range(leaves.best.shape[1]):
            leaves.best[leaf, k] = found.best[chosen, side, k]
        for k in range(leaves.members.shape[1]):
            leaves.members[leaf, k] = found.members[chosen, side, k]


@inlined
def hand_down(
    codes: Codes, histogram: Wholes, leaves: Leaves, spans: Floats | None, plan: Wholes
) -> None:
    """Give both parts of a leaf their histograms, and the spans that monotone splits leave them."""
    leaf, new, slots = plan[LEAF], plan[NEW], leaves.slots
    if new > 0:
        slots[new] = new
        if plan[LEFT_COUNTED]:
            slots[leaf], slots[new] = slots[new], slots[leaf]
        if spans is not None:
            feature = codes.features[leaves.best[leaf, FEATURE]]
            slope = feature[MONOTONE] if leaves.best[leaf, CUT] < feature[BINS] - 1 else 0
            narrow(histogram, slope, slots, spans, leaf, new)


@inlined
def choose(
    team: int,
    board: Wholes,
    codes: Codes,
    leaves: Leaves,
    splits: Splits,
    found: Found,
    plan: Wholes,
) -> None:
    """Choose the leaf that is split next, and write its split down."""
    leaf, new, count = plan[LEAF], plan[NEW], plan[LEAVES]
    if plan[SEARCH]:
        for side in range(2 if new > 0 else 1):
            take_best(leaves, found, team, leaf if side == 0 else new, side)
    else:
        leaves.gains[leaf] = leaves.gains[new] = 0.0
    leaf = next_leaf(leaves.gains, count)
    if count == leaves.gains.size or board[STOP] != 0:
        leaf = -1
    plan[LEAF], plan[NEW] = leaf, count
    if leaf >= 0:
        plan[LEAVES] = count + 1
        record(codes.features, leaves.best, leaves.members, leaves.gains, leaf, count,
               splits.made, splits.members, splits.gains, leaves.hangs, leaves.depths)  # fmt: skip


@team_kernel(allocates=False)
def grow_tree(
    member: int,
    team: int,
    board: Wholes,
    codes: Codes,
    order: NDArray[np.uint32],
    spare: NDArray[np.uint32],
    pairs: Wholes,
    histogram: Wholes,
    partial: Wholes,
    rules: Floats,
    leaves: Leaves,
    spans: Floats | None,
    splits: Splits,
    found: Found,
    plan: Wholes,
    limits: Wholes,
    seed: np.uint64,
    cells: NDArray[np.unsignedinteger],
) -> None:
    """Grow a tree on the rows of ``order``, and write the number of its leaf to each of them.

    What a kernel calls is compiled along with it. So where kernels/plain_split.py serves, ``spans``
    is None, and the branches for the rest are dropped before they are compiled.
    """
    if limits[ALL_ROWS]:
        first, last = share(order.size, member, team)
        for k in range(first, last):
            order[k] = k
    if last_to_arrive(board, team):
        plan[LEAF], plan[NEW], plan[LEAVES], plan[SEARCH], plan[LEFT_COUNTED] = 0, 0, 1, 1, 1
        release(board, team)
    while plan[LEAF] >= 0:
        leaf, new = plan[LEAF], plan[NEW]
        if new > 0:  # else it is the root, whose rows are only counted and searched
            sort_rows(member, team, board, codes, order, spare, leaves, found, leaf)
            if last_to_arrive(board, team):
                divide_leaf(team, leaves, found, plan, limits[DEEPEST])
                release(board, team)
        if plan[SEARCH]:
            counted = leaf if plan[LEFT_COUNTED] else new
            start, slot = leaves.starts[counted], leaves.slots[leaf]
            rows = order[start : start + leaves.sizes[counted]]
            count_rows(member, team, board, codes, rows, pairs, histogram, partial, new, slot)
            if last_to_arrive(board, team):
                hand_down(codes, histogram, leaves, spans, plan)
                release(board, team)
            for side in range(2 if new > 0 else 1):
                search(member, team, codes, histogram, rules, leaves, spans, found,
                       leaf if side == 0 else new, side, limits[DRAWN],
                       seed + np.uint64(2 * new + side))  # fmt: skip
        if last_to_arrive(board, team):
            choose(team, board, codes, leaves, splits, found, plan)
            release(board, team)
    meet(board, team)
    first, last = share(cells.size, member, team)
    label(order, leaves.starts[: plan[LEAVES]], leaves.sizes[: plan[LEAVES]], first, last, cells)
