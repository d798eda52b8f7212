"""Sort rows by the side of a split, and update the histograms after it.

Eight codes of a row are in one 64-bit word, a lane each. Features that never differ from their
defaults in the same row may share a lane; see samples/blocks.py.
"""

from __future__ import annotations

import numpy as np

from pacboost.kernels import layout
from pacboost.kernels.grow import count
from pacboost.kernels.layout import TreeArrays
from pacboost.kernels.runtime import Bytes, Cells, Rows, Wholes, Words
from pacboost.kernels.runtime.board import TICKET, meet, own_share, share
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import add, inline, kernel, part_of_kernels, prefetch

Whole = int | np.int64
ROWS_TO_PREFETCH = 32


@kernel
def part(block: Words, shift: np.uint64, goes_left: Bytes, rows: Rows, out: Rows) -> np.int64:
    """Write rows that go left to the front of ``out``, the others to its end, last one first.

    Return how many went left. Every row is written to both sides, and only one side moves on: no
    branch to mispredict. Both places of a row are free: they meet at the last row only.
    """
    l = np.uint64(0)  # noqa: E741
    r = np.uint64(rows.size - 1)
    for k in range(rows.size):
        prefetch(block, rows[min(k + ROWS_TO_PREFETCH, rows.size - 1)])
        row = rows[k]
        to_left = goes_left[(block[row] >> shift) & np.uint64(255)]
        out[l] = row
        out[r] = row
        l += np.uint64(to_left)  # noqa: E741
        r -= np.uint64(1) - np.uint64(to_left)
    return np.int64(l)


@inline
def bin_of(code: Whole, feature: Wholes) -> np.int64:
    """Return the bin of a feature for a code of its lane."""
    default, b = feature[layout.DEFAULT], np.int64(code)
    if default < 0:
        return b
    b -= feature[layout.BASE]
    if b < 0 or b >= feature[layout.BINS] - 1:
        return np.int64(default)  # the code of another feature: this one has its default
    return np.int64(b + np.int64(b >= default))


@inline
def is_left(b: Whole, feature: Wholes, split: Wholes, members: Bytes, missing: int) -> bool:
    """Check whether the rows in a bin go left at a split."""
    if feature[layout.CATEGORY]:
        return bool(members[b] != 0)
    return bool(split[layout.MISSING_LEFT] != 0 if b == missing else b <= split[layout.CUT])


@kernel
def sides(feature: Wholes, best: Wholes, members: Bytes, missing: int, goes_left: Bytes) -> None:
    """Write, for every code of the lane, whether it goes left."""
    cut = best[layout.CUT]
    # the common case, in a vectorized loop
    if feature[layout.DEFAULT] < 0 and not feature[layout.CATEGORY]:
        for code in range(256):
            goes_left[code] = code <= cut
        goes_left[missing] = np.uint8(best[layout.MISSING_LEFT])
        return
    for code in range(256):
        goes_left[code] = is_left(bin_of(code, feature), feature, best, members, missing)


@kernel
def label(order: Rows, starts: Wholes, sizes: Wholes, first: int, last: int, cells: Cells) -> None:
    """Write the leaf of every row from ``first`` to before ``last``.

    The rows of a leaf ascend. Threads divide the rows by their numbers, not by their leaves, so
    they never write to the same cache line.
    """
    for leaf in range(starts.size):
        low, high = starts[leaf], starts[leaf] + sizes[leaf]
        end = high
        while low < high:
            middle = (low + high) // 2
            if order[middle] < first:
                low = middle + 1
            else:
                high = middle
        while low < end and order[low] < last:
            cells[order[low]] = leaf
            low += 1


MIN_ROWS_TO_COUNT = 2_048  # per member of a team
TICKETS_PER_MEMBER = 6


@part_of_kernels
def count_rows(
    member: Member, tree: TreeArrays, rows: Rows, new: int, slot: int
) -> tuple[int, int]:
    """Count rows into histogram ``new``, and subtract the counts from the one in ``slot``.

    Parts of the rows are counted separately and then added. If there are fewer parts than members,
    these also divide the blocks; otherwise a member that is ready takes the next part, because
    cores are not equally fast. Return the first and last of the lanes that this member updated.
    """
    words, lanes = tree.codes.words, tree.codes.lanes
    histogram, partial = tree.histogram, tree.partial
    blocks, lines, width = words.shape[0], histogram.shape[1], histogram.shape[3]
    max_parts = min(member.team, partial.shape[0] + 1)
    parts = min(max_parts, max(1, rows.size // MIN_ROWS_TO_COUNT))
    groups = min(blocks, member.team // parts)
    part_number, group = member.number % parts, min(member.number // parts, groups)
    first = blocks * group // groups
    last = min(blocks, blocks * (group + 1) // groups)  # idle members get no block
    if first < last:
        into = histogram[new] if part_number == 0 else partial[part_number - 1]
        for s in range(lines):
            for j in range(8 * first, 8 * last):
                for k in range(width):
                    into[s, j, k] = 0
        tickets = parts if groups > 1 or parts == 1 else TICKETS_PER_MEMBER * parts
        ticket = part_number if tickets == parts else add(member.board, TICKET, 1)
        while ticket < tickets:
            start, stop = share(rows.size, ticket, tickets)
            count(words, lanes, rows[start:stop], tree.pairs, into, first, last)
            ticket = tickets if tickets == parts else add(member.board, TICKET, 1)
    first, last = min(lanes, 8 * first), min(lanes, 8 * last)
    if parts > 1:
        meet(member)
        first, last = own_share(lanes, member)
    for s in range(lines):
        for j in range(first, last):
            new_lane, old_lane = histogram[new, s, j], histogram[slot, s, j]
            for other in range(parts - 1):
                counted = partial[other, s, j]
                for k in range(width):
                    new_lane[k] += counted[k]
            if new > 0:
                for k in range(width):
                    old_lane[k] -= new_lane[k]
    return first, last


@part_of_kernels
def subtract_rows(member: Member, tree: TreeArrays, rows: Rows, slot: int) -> tuple[int, int]:
    """Subtract a few rows from the histograms (outputs, lanes, codes) of their former leaf.

    Members divide the blocks of lanes. Return the first and last of this member's lanes.
    """
    words, pairs, histogram = tree.codes.words, tree.pairs, tree.histogram[slot]
    first, last = own_share(words.shape[0], member)
    byte = np.uint64(255)
    for s in range(pairs.shape[0]):
        for b in range(first, last):
            block, line, block_histograms = words[b], pairs[s], histogram[s, 8 * b :]
            for k in range(rows.size):
                w, d = block[rows[k]], line[rows[k]]
                for j in range(8):
                    block_histograms[j, (w >> np.uint64(8 * j)) & byte] -= d
    return min(tree.codes.lanes, 8 * first), min(tree.codes.lanes, 8 * last)
