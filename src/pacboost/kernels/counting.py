"""How a team brings the histograms of two leaves up to date after a split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.atomic import add
from pacboost.kernels.board import TICKET, meet, share
from pacboost.kernels.grow import count
from pacboost.kernels.jit import part_of_kernels

ROWS_WORTH_COUNTING = 2_048  # by another member
TICKETS_A_MEMBER = 6

Wholes = NDArray[np.int64]


@part_of_kernels
def count_rows(
    member: int,
    team: int,
    board: Wholes,
    words: NDArray[np.uint64],
    lanes: int,
    rows: NDArray[np.uint32],
    pairs: Wholes,
    histogram: Wholes,
    partial: Wholes,
    new: int,
    slot: int,
) -> tuple[int, int]:
    """Count rows into histogram ``new``, and take what was counted away from that in ``slot``.

    Pieces of the rows are counted apart and then added up. Where there are fewer pieces than
    members, these divide the blocks, too; else whoever is ready takes the next piece, since cores
    are not equally fast. Gives the first and last of the lanes that this member
    has brought up to date.
    """
    blocks, lines, width = words.shape[0], histogram.shape[1], histogram.shape[3]
    pieces = min(team, max(1, rows.size // ROWS_WORTH_COUNTING), partial.shape[0] + 1)
    groups = min(blocks, team // pieces)
    piece, group = member % pieces, min(member // pieces, groups)
    first = blocks * group // groups
    last = min(blocks, blocks * (group + 1) // groups)  # no block is left for idle members
    if first < last:
        into = histogram[new] if piece == 0 else partial[piece - 1]
        for s in range(lines):
            for j in range(8 * first, 8 * last):
                for k in range(width):
                    into[s, j, k] = 0
        tickets = pieces if groups > 1 or pieces == 1 else TICKETS_A_MEMBER * pieces
        ticket = piece if tickets == pieces else add(board, TICKET, 1)
        while ticket < tickets:
            start, stop = share(rows.size, ticket, tickets)
            count(words, lanes, rows[start:stop], pairs, into, first, last)
            ticket = tickets if tickets == pieces else add(board, TICKET, 1)
    first, last = min(lanes, 8 * first), min(lanes, 8 * last)
    if pieces > 1:
        meet(board, team)
        first, last = share(lanes, member, team)
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
    return first, last


@part_of_kernels
def take_away(
    member: int,
    team: int,
    words: NDArray[np.uint64],
    lanes: int,
    rows: NDArray[np.uint32],
    pairs: Wholes,
    histogram: Wholes,
) -> tuple[int, int]:
    """Take a few rows away from the histograms (1, lanes, codes) of a leaf that they have left.

    Members divide the blocks of lanes. Gives the first and last of this member's lanes.
    """
    first, last = share(words.shape[0], member, team)
    line, byte = pairs[0], np.uint64(255)
    for b in range(first, last):
        block, own = words[b], histogram[0, 8 * b :]
        for k in range(rows.size):
            w, d = block[rows[k]], line[rows[k]]
            for j in range(8):
                own[j, (w >> np.uint64(8 * j)) & byte] -= d
    return min(lanes, 8 * first), min(lanes, 8 * last)
