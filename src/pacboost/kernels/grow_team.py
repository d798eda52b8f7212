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
from pacboost.kernels.atomic import entry
from pacboost.kernels.best_split import BINS, CUT, FEATURE, LANE, MONOTONE
from pacboost.kernels.board import STOP, last_to_arrive, lead, meet, release
from pacboost.kernels.grow import count, draw_features, narrow, next_leaf, record
from pacboost.kernels.jit import kernel
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


# what ``plan`` holds: the leaf to be split or -1, the number of its right part, the number of
# leaves, whether the parts are to be searched, and whether the left part is the one counted
LEAF, NEW, LEAVES, SEARCH, LEFT_COUNTED = range(5)
# what ``limits`` holds
DRAWN, DEEPEST, ALL_ROWS = range(3)


@kernel
def share(size: int, piece: int, pieces: int) -> tuple[int, int]:
    """Give where a piece begins and ends."""
    return size * piece // pieces, size * (piece + 1) // pieces


@kernel
def choose(
    board: Wholes,
    codes: Codes,
    leaves: Leaves,
    splits: Splits,
    plan: Wholes,
) -> None:
    """Choose the leaf that is split next, and write its split down."""
    count = plan[LEAVES]
    leaf = next_leaf(leaves.gains, count) if count < leaves.gains.size else -1
    if board[STOP] != 0:
        leaf = -1
    plan[LEAF], plan[NEW] = leaf, count
    if leaf >= 0:
        plan[LEAVES] = count + 1
        record(codes.features, leaves.best, leaves.members, leaves.gains, leaf, count,
               splits.made, splits.members, splits.gains, leaves.hangs, leaves.depths)  # fmt: skip


@kernel
def sorting_pieces(team: int, size: int) -> int:
    """Give how many members sort a leaf of so many rows."""
    return min(team, max(1, size // ROWS_WORTH_SORTING))


@kernel
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
    goes_left = np.empty(256, dtype=np.uint8)
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


@kernel
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
    if not plan[SEARCH]:
        leaves.gains[leaf] = leaves.gains[new] = 0.0


@kernel
def count_rows(
    member: int,
    team: int,
    board: Wholes,
    codes: Codes,
    rows: NDArray[np.uint32],
    pairs: Wholes,
    into: Wholes,
    rest: Wholes,
    partial: Wholes,
) -> None:
    """Count rows into a histogram, and take what was counted away from ``rest``."""
    blocks, lines, width = codes.words.shape[0], into.shape[0], into.shape[2]
    pieces = min(team, max(1, rows.size // ROWS_WORTH_COUNTING), partial.shape[0] + 1)
    groups = min(blocks, team // pieces)
    piece, group = member % pieces, member // pieces
    if group < groups:
        first, last = share(blocks, group, groups)
        start, stop = share(rows.size, piece, pieces)
        own = into if piece == 0 else partial[piece - 1]
        for s in range(lines):
            for j in range(8 * first, 8 * last):
                own[s, j] = 0
        count(codes.words, codes.lanes, rows[start:stop], pairs, own, first, last)
        if pieces == 1 and rest.shape[0] > 0:
            for s in range(lines):
                for j in range(8 * first, 8 * last):
                    for k in range(width):
                        rest[s, j, k] -= into[s, j, k]
    if pieces == 1:
        return
    meet(board, team)
    first, last = share(codes.lanes, member, team)
    for s in range(lines):
        for j in range(first, last):
            own = into[s, j]
            for piece in range(1, pieces):
                other = partial[piece - 1, s, j]
                for k in range(width):
                    own[k] += other[k]
            if rest.shape[0] > 0:
                other = rest[s, j]
                for k in range(width):
                    other[k] -= own[k]


@kernel
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
    allowed = np.ones(features, dtype=np.uint8)
    draw_features(allowed, drawn, seed)
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


@kernel
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


@kernel
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
        meet(board, team)
    count_rows(member, team, board, codes, order, pairs, histogram[0], histogram[0, :0], partial)
    meet(board, team)
    search(member, team, codes, histogram, rules, leaves, spans, found, 0, 0, limits[DRAWN], seed)
    if last_to_arrive(board, team):
        take_best(leaves, found, team, 0, 0)
        plan[LEAVES] = 1
        choose(board, codes, leaves, splits, plan)
        release(board, team)
    while plan[LEAF] >= 0:
        leaf, new = plan[LEAF], plan[NEW]
        sort_rows(member, team, board, codes, order, spare, leaves, found, leaf)
        if last_to_arrive(board, team):
            divide_leaf(team, leaves, found, plan, limits[DEEPEST])
            if not plan[SEARCH]:
                choose(board, codes, leaves, splits, plan)
            release(board, team)
        if not plan[SEARCH]:
            continue
        counted = leaf if plan[LEFT_COUNTED] else new
        start = leaves.starts[counted]
        rows = order[start : start + leaves.sizes[counted]]
        slot = leaves.slots[leaf]
        count_rows(member, team, board, codes, rows, pairs, histogram[new], histogram[slot],
                   partial)  # fmt: skip
        if last_to_arrive(board, team):
            leaves.slots[leaf] = new if plan[LEFT_COUNTED] else slot
            leaves.slots[new] = slot if plan[LEFT_COUNTED] else new
            if spans is not None:
                feature = codes.features[leaves.best[leaf, FEATURE]]
                slope = feature[MONOTONE] if leaves.best[leaf, CUT] < feature[BINS] - 1 else 0
                narrow(histogram, slope, leaves.slots, spans, leaf, new)
            release(board, team)
        for side in range(2):
            search(member, team, codes, histogram, rules, leaves, spans, found,
                   leaf if side == 0 else new, side, limits[DRAWN],
                   seed + np.uint64(2 * new + side))  # fmt: skip
        if last_to_arrive(board, team):
            take_best(leaves, found, team, leaf, 0)
            take_best(leaves, found, team, new, 1)
            choose(board, codes, leaves, splits, plan)
            release(board, team)
    meet(board, team)
    first, last = share(cells.size, member, team)
    label(order, leaves.starts[: plan[LEAVES]], leaves.sizes[: plan[LEAVES]], first, last, cells)


@kernel
def grow_together(board: Wholes, team: int, *arguments: object) -> None:
    """Have a team grow a tree."""
    lead(board, team, entry(grow_tree, (board, *arguments)))
