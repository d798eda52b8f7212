"""Keep, for every feature, the sum of signed weights in each bin, exact under change.

All sums are of whole numbers, so a histogram that is brought up to date by the *changes* of the
weights equals one counted afresh. AdaBoost changes about half of the weights in a round: the other
half is neither read again nor added again.
"""

from __future__ import annotations

import numpy as np

from pacboost.kernels.runtime import Cells, Signs, Wholes
from pacboost.kernels.runtime.board import meet, own_share
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import kernel, on_stack, team_kernel

# Read the best stump off the histograms of signed weights.

NEVER = np.int64(2**62)  # no edge reaches this


@kernel
def scan(own: Wholes, missing: int, wanted: np.int64) -> tuple[np.int64, int, np.int64]:
    """Go through a feature's cuts to one with the wanted edge; give edge, place and difference.

    If none has it, give the largest edge there is, and -1 for the place.
    """
    values = np.int64(0)
    for b in range(missing):
        values += own[b]
    largest = np.int64(-1)
    below = np.int64(0)
    for b in range(missing):
        below += own[b]
        difference = values - 2 * below
        edge = abs(difference) + abs(own[missing])
        if edge >= wanted:
            return edge, b, difference
        largest = max(largest, edge)
    return largest, -1, np.int64(0)


def first_feature(edges: Wholes, slack: int) -> tuple[int, np.int64]:
    """Return first feature whose edge is within ``slack`` of the largest, and the edge wanted."""
    wanted = edges.max() - slack
    return int((edges >= wanted).argmax()), wanted


ROWS_AT_ONCE = 16_384  # their changes, 192 kB, stay in the cache while all columns take them up


@kernel
def update(
    codes: Cells, weights: Wholes, signs: Signs, seen: Wholes, first: int, histogram: Wholes
) -> np.int64:
    """Add what changed since ``seen`` to the histograms; give the sum of the weights.

    Weights, signs and ``seen`` are those of the rows from ``first`` on. Four columns are taken at a
    time: each change is read once for four scatter-adds into different histograms, which the
    processor can overlap.
    """
    rows, change = on_stack((ROWS_AT_ONCE,), np.uint32), on_stack((ROWS_AT_ONCE,), np.int64)
    total = np.int64(0)
    columns = codes.shape[0]
    fours = columns // 4 * 4
    for part in range(0, weights.size, ROWS_AT_ONCE):
        own_weights = weights[part : part + ROWS_AT_ONCE]
        own_signs = signs[part : part + ROWS_AT_ONCE]
        own_seen = seen[part : part + ROWS_AT_ONCE]
        count = np.uint64(0)
        for i in range(own_weights.size):
            total += own_weights[i]
            signed = own_weights[i] * own_signs[i]
            difference = signed - own_seen[i]
            own_seen[i] = signed
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
    member: Member,
    codes: Cells,
    weights: Wholes,
    signs: Signs,
    seen: Wholes,
    missing: int,
    histogram: Wholes,
    partial: Wholes,
    edges: Wholes,
    totals: Wholes,
) -> None:
    """Bring the histograms up to date, and write the largest edge of a cut of every feature.

    Each member takes a share of the rows. All but the first count into ``partial``, which is added
    up by shares of the columns.
    """
    a, b = own_share(weights.size, member)
    into = histogram
    if member.number > 0:
        into = partial[member.number - 1]
        into[:] = 0
    totals[member.number] = update(codes, weights[a:b], signs[a:b], seen[a:b], a, into)
    meet(member)
    first, last = own_share(codes.shape[0], member)
    for j in range(first, last):
        own = histogram[j]
        for other in range(member.team - 1):
            counted = partial[other, j]
            for k in range(own.size):
                own[k] += counted[k]
        edges[j] = scan(own, missing, NEVER)[0]
