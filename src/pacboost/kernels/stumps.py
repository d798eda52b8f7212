"""Histograms of signed weights for stumps, updated from round to round.

All sums are of integers, so a histogram that is updated by the *changes* of the weights equals one
that is counted anew. AdaBoost changes about half of the weights in a round; the other half is
neither read nor added.
"""

from __future__ import annotations

import numpy as np

from pacboost.kernels.runtime import Cells, Signs, Wholes
from pacboost.kernels.runtime.board import meet, own_share
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import kernel, on_stack, team_kernel

NEVER = np.int64(2**62)
"""No edge is as large as this."""


@kernel
def scan(histogram: Wholes, missing: int, min_edge: np.int64) -> tuple[np.int64, int, np.int64]:
    """Find the first cut of a feature whose edge reaches ``min_edge``.

    Return its edge, its place, and the sum above minus the sum below. If there is none, return the
    largest edge, and -1 for the place.
    """
    present = np.int64(0)
    for b in range(missing):
        present += histogram[b]
    largest = np.int64(-1)
    below = np.int64(0)
    for b in range(missing):
        below += histogram[b]
        difference = present - 2 * below
        edge = abs(difference) + abs(histogram[missing])
        if edge >= min_edge:
            return edge, b, difference
        largest = max(largest, edge)
    return largest, -1, np.int64(0)


def first_feature(edges: Wholes, slack: int) -> tuple[int, np.int64]:
    """Return the first feature whose edge is within ``slack`` of the largest, and that limit."""
    min_edge = edges.max() - slack
    return int((edges >= min_edge).argmax()), min_edge


ROWS_PER_TILE = 16_384  # their changes, 192 kB, stay in the cache while all columns are updated


@kernel
def update(
    codes: Cells, weights: Wholes, signs: Signs, counted_weights: Wholes, first: int,
    histogram: Wholes,
) -> np.int64:  # fmt: skip
    """Add the changes since ``counted_weights`` to the histograms; return the sum of the weights.

    Arrays are those of the rows from ``first`` on. Four columns are updated at a time: each change
    is read once for four additions to different histograms, which the processor can overlap.
    """
    rows, change = on_stack((ROWS_PER_TILE,), np.uint32), on_stack((ROWS_PER_TILE,), np.int64)
    total = np.int64(0)
    columns = codes.shape[0]
    fours = columns // 4 * 4
    for part in range(0, weights.size, ROWS_PER_TILE):
        part_weights = weights[part : part + ROWS_PER_TILE]
        part_signs = signs[part : part + ROWS_PER_TILE]
        part_counted = counted_weights[part : part + ROWS_PER_TILE]
        count = np.uint64(0)
        for i in range(part_weights.size):
            total += part_weights[i]
            signed = part_weights[i] * part_signs[i]
            difference = signed - part_counted[i]
            part_counted[i] = signed
            rows[count] = first + part + i
            change[count] = difference
            count += np.uint64(difference != 0)
        changed = rows[: np.int64(count)]
        for j in range(0, fours, 4):
            c0, c1, c2, c3 = codes[j], codes[j + 1], codes[j + 2], codes[j + 3]
            h0, h1, h2, h3 = histogram[j], histogram[j + 1], histogram[j + 2], histogram[j + 3]
            for k in range(changed.size):
                i = changed[k]
                d = change[k]
                h0[c0[i]] += d
                h1[c1[i]] += d
                h2[c2[i]] += d
                h3[c3[i]] += d
        for j in range(fours, columns):
            c0 = codes[j]
            h0 = histogram[j]
            for k in range(changed.size):
                h0[c0[changed[k]]] += change[k]
    return total


@team_kernel()
def largest_edges(
    member: Member, codes: Cells, weights: Wholes, signs: Signs, counted_weights: Wholes,
    missing: int, histogram: Wholes, partial: Wholes, edges: Wholes, totals: Wholes,
) -> None:  # fmt: skip
    """Update the histograms, and write the largest edge of a cut of every feature.

    Each member of a team takes a share of the rows. All but the first count into ``partial``, which
    is then added by shares of the columns.
    """
    a, b = own_share(weights.size, member)
    into = histogram
    if member.number > 0:
        into = partial[member.number - 1]
        into[:] = 0
    totals[member.number] = update(codes, weights[a:b], signs[a:b], counted_weights[a:b], a, into)
    meet(member)
    first, last = own_share(codes.shape[0], member)
    for j in range(first, last):
        column = histogram[j]
        for other in range(member.team - 1):
            counted = partial[other, j]
            for k in range(column.size):
                column[k] += counted[k]
        edges[j] = scan(column, missing, NEVER)[0]
