"""Keep, for every feature, the sum of signed weights in each bin, exact under change.

All sums are of whole numbers, so a histogram that is brought up to date by the *changes* of the
weights equals one counted afresh. After a round of AdaBoost only the rows that the new rule got
wrong change (the others keep their weight, up to a common factor): less than half of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.jit import kernel


@kernel
def changes(
    weights: NDArray[np.int64],
    signs: NDArray[np.int8],
    seen: NDArray[np.int64],
    rows: NDArray[np.uint32],
    change: NDArray[np.int64],
    start: int,
    stop: int,
) -> int:
    """List the rows whose signed weight differs from ``seen``, and by how much; update ``seen``.

    The list begins at ``start``; its length is returned.
    """
    place = start
    for i in range(start, stop):
        signed = weights[i] * signs[i]
        difference = signed - seen[i]
        seen[i] = signed
        rows[place] = i
        change[place] = difference
        place += difference != 0
    return place - start


@kernel
def add(
    codes: NDArray[np.unsignedinteger],
    rows: NDArray[np.uint32],
    change: NDArray[np.int64],
    starts: NDArray[np.int64],
    counts: NDArray[np.int64],
    histogram: NDArray[np.int64],
    first: int,
    last: int,
) -> None:
    """Add the listed changes to the histograms of columns first to last.

    Four columns at a time: each row's change is read once for four scatter-adds into different
    histograms, which the processor can overlap.
    """
    fours = first + (last - first) // 4 * 4
    for j in range(first, fours, 4):
        c0, c1, c2, c3 = codes[j], codes[j + 1], codes[j + 2], codes[j + 3]
        h0, h1, h2, h3 = histogram[j], histogram[j + 1], histogram[j + 2], histogram[j + 3]
        for span in range(starts.size):
            for k in range(starts[span], starts[span] + counts[span]):
                i = rows[k]
                d = change[k]
                h0[c0[i]] += d
                h1[c1[i]] += d
                h2[c2[i]] += d
                h3[c3[i]] += d
    for j in range(fours, last):
        c0 = codes[j]
        h0 = histogram[j]
        for span in range(starts.size):
            for k in range(starts[span], starts[span] + counts[span]):
                h0[c0[rows[k]]] += change[k]
