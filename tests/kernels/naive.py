"""Every kernel once more in plain NumPy: slow, short, and what the tests compare with.

Twins take what their kernels take, or something simpler, and give new arrays back. Floats are
added in NumPy's order, so sums of floats agree with a kernel's to rounding and no further.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.arrays import Bytes, Cells, Floats, Numbers, Rows, Signs, Wholes, Words
from pacboost.kernels.team import together
from pacboost.numerics.exact import wrong_classes as by_scores
from pacboost.numerics.exact import wrong_margins

Cuts = Sequence[Floats]


def summed(body: Any, *arguments: Any) -> list[int]:
    """Return what the kernel of a team adds up, by a team of one."""
    totals = np.zeros((1, 2), dtype=np.int64)
    together(body, *arguments, totals, at_most=1)
    return [int(total) for total in totals[0]]


def encode(values: NDArray[np.floating], cuts: Cuts, missing: int) -> Wholes:
    """Return the codes (columns, rows) of ``values``: how many of its cuts each lies above."""
    codes = np.empty(values.shape[::-1], dtype=np.int64)
    for j, own in enumerate(cuts):
        above = values[:, j, None].astype(np.float64) > own
        codes[j] = np.where(np.isnan(values[:, j]), missing, above.sum(axis=1))
    return codes


def score(
    values: NDArray[np.floating], columns: Sequence[int], cuts: Cuts, steps: Sequence[Floats],
    missing: Sequence[float],
) -> Floats:  # fmt: skip
    """Return each row's sum of the steps that its values stand on, with the cuts of ``columns``."""
    scores = np.zeros(values.shape[0])
    for j, own, heights, absent in zip(columns, cuts, steps, missing, strict=True):
        codes = encode(values[:, [j]], [own], heights.size)[0]
        scores += np.append(heights, absent)[codes]
    return scores


def histogram(codes: Cells, signed: Wholes, width: int) -> Wholes:
    """Sum the signed weights of each code, for every feature, afresh: the twin of ``update``."""
    sums = np.zeros((codes.shape[0], width), dtype=np.int64)
    for own, column in zip(sums, codes, strict=True):
        np.add.at(own, column, signed)
    return sums


def best_cut(histogram: Wholes, missing: int, slack: int) -> tuple[int, int, int]:
    """Return the first feature and cut whose edge is within ``slack`` of the largest."""
    below = np.cumsum(histogram[:, :missing], axis=1)
    difference = below[:, -1:] - 2 * below
    edge = np.abs(difference) + np.abs(histogram[:, missing, None])
    feature, cut = np.argwhere(edge >= edge.max() - slack)[0]
    return int(feature), int(cut), int(difference[feature, cut])


def masses(weights: Wholes, agree: Signs, size: int) -> tuple[Wholes, Floats]:
    """For each span of ``size`` rows: the weight and that of wrong rows; the sum of squares."""
    starts = np.arange(0, weights.size, size)
    wrong = np.where(agree < 0, weights, 0)
    squares = weights.astype(np.float64) ** 2
    sums = np.stack([np.add.reduceat(weights, starts), np.add.reduceat(wrong, starts)], axis=1)
    return sums, np.add.reduceat(squares, starts)


def mistakes(margins: Floats, first_weights: Wholes) -> int:
    """Sum the first weights (one, or one each) of rows that the vote gets wrong or ties on."""
    return int(np.broadcast_to(first_weights, margins.shape)[wrong_margins(margins)].sum())


def whole_exp(x: Floats) -> Wholes:
    """Return max(1, round(exp(x))) with the library's exp."""
    return np.maximum(1, np.rint(np.exp(x)).astype(np.int64))


def exponential(
    agree: Signs, vote: float, total_vote: float, log_base: Floats,
    log_scale: float, margins: Floats,
) -> tuple[Floats, Wholes]:  # fmt: skip
    """Return the new margins and the new weights."""
    margins = margins + vote * agree
    return margins, whole_exp(total_vote - margins + (log_base + log_scale))


def lanes(words: Words) -> Wholes:
    """Return the codes (lanes, rows) that lie in words (blocks, rows), eight in each."""
    shifts = np.arange(0, 64, 8, dtype=np.uint64)[:, None]
    bytes_of = [(block >> shifts) & np.uint64(255) for block in words]
    return np.concatenate(bytes_of).astype(np.int64)


def decode(lane: Wholes, first: int, bins: int, default: int) -> Wholes:
    """Return a feature's codes back from its lane; a default below 0 says that it has it alone."""
    if default < 0:
        return lane
    others = np.delete(np.arange(bins), default)
    codes = np.full(256, default)
    codes[first : first + bins - 1] = others
    return codes[lane]


def count(words: Words, rows: NDArray[np.integer], pairs: Wholes, width: int) -> Wholes:
    """Add up the pairs (outputs, rows) of some rows by their codes, for every lane."""
    codes = lanes(words)
    sums = np.zeros((pairs.shape[0], codes.shape[0], width), dtype=np.int64)
    for s, line in enumerate(pairs):
        for own, lane in zip(sums[s], codes, strict=True):
            np.add.at(own, lane[rows], line[rows])
    return sums


def part(codes: Wholes, goes_left: NDArray[np.integer], rows: Rows) -> tuple[Rows, Rows]:
    """Sort rows into those whose code goes left, and the others."""
    left = goes_left[codes[rows]] != 0
    return rows[left], rows[~left]


def features_drawn(features: int, count: int, key: int) -> set[int]:
    """Return the features drawn for a split: the first cards of a deck shuffled by splitmix64."""
    deck, state = list(range(features)), key
    for k in range(count if count < features else 0):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        x = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % 2**64
        place = k + (x ^ (x >> 31)) % (features - k)
        deck[k], deck[place] = deck[place], deck[k]
    return set(deck[:count])


def pair_up(
    weights: Wholes, pulls: NDArray[np.integer], flips: NDArray[np.integer], pull_scale: float,
    weight_scale: float,
) -> tuple[Wholes, Wholes]:  # fmt: skip
    """Return the pulls (lines, rows) and the weights (rows,) as small whole numbers, unpaired."""
    mixed = flips @ pulls.T.astype(np.float64)
    whole: Wholes = np.rint(mixed * pull_scale).astype(np.int64)
    return whole, np.rint(weights.sum(axis=1) * weight_scale).astype(np.int64)


def worth(criterion: str, pulls: Floats, weight: float, penalty: float = 0.0) -> float:
    """Return what a leaf with these pulls (outputs,) and this weight is worth."""
    if criterion == "z":
        return -float(np.sqrt(max(weight**2 - pulls[0] ** 2, 0.0)))
    if criterion == "error":
        return float(abs(pulls[0]))
    return float((pulls**2).sum() / (weight + penalty))


def pool_rare(sums: Floats, least: float) -> Wholes:
    """Add levels that weigh less than ``least`` to the missing ones; give each code's new code.

    The first line of sums (1 + outputs, codes) holds weights, the last code is that of missing.
    """
    codes = np.arange(sums.shape[1])
    rare = (sums[0] < least) & (codes < codes[-1])
    sums[:, -1] += sums[:, rare].sum(axis=1)
    sums[:, rare] = 0
    return np.where(rare, codes[-1], codes)


def by_mean_pull(pulls: Floats, weights: Floats, smooth: float) -> NDArray[np.intp]:
    """Order levels by their mean pull; ties by code."""
    return np.argsort(pulls[0] / np.maximum(weights + smooth, 1.0), kind="stable")


def evidence(pulls: Floats, weights: Floats, chance: float) -> float:
    """Return Fisher's F of levels with these sums, or 0 if it might be 1."""
    there = weights > 0
    levels = int(there.sum())
    if levels < 3 or chance == 0:
        return 0.0
    between = (pulls[:, there] ** 2 / weights[there]).sum()
    between -= (pulls.sum(axis=1) ** 2).sum() / weights.sum()
    actual = between / chance / (levels - 1)
    return float(actual) if actual > 1 + 2 * np.sqrt(2 / levels) else 0.0


def splits(codes: int, order: NDArray[np.intp] | None) -> list[NDArray[np.bool_]]:
    """List which codes each possible split sends left; the last code is that of missing values.

    Numbers are cut with the missing ones on either side. Categories, missing as one of them, are
    cut in the order given.
    """
    every = np.arange(codes)
    if order is not None:
        return [np.isin(every, order[: k + 1]) for k in range(codes - 1)]
    missing = every == every[-1]
    below = [(every <= k) & ~missing for k in range(codes - 1)]
    return below + [own | missing for own in below[:-1]]


def walk(codes: NDArray[np.integer], nodes: Numbers, members: Bytes, missing: int) -> Wholes:
    """Return the leaf of every row, all rows going down together."""
    at = np.zeros(codes.shape[1], dtype=np.int64)
    for t, (feature, cut, missing_left, left, right, member) in enumerate(nodes.tolist()):
        own = codes[feature].astype(np.int64)
        goes_left = np.where(own == missing, missing_left != 0, own <= cut)
        if member >= 0:
            goes_left = members[member][own] != 0
        at = np.where(at == t, np.where(goes_left, left, right), at)
    return ~at if len(nodes) else at


def exponential_cells(
    cells: NDArray[np.integer], values: Floats, signs: Signs,
    log_base: Floats, log_scale: float, margins: Floats,
) -> tuple[Floats, Wholes]:  # fmt: skip
    """Return the new margins and weights (rows, outputs)."""
    margins = margins + values[cells] * signs
    base = log_base if log_base.size == 1 else log_base.reshape(signs.shape)
    return margins, whole_exp(log_scale - margins + base)


def probabilities(margins: Floats, signs: Signs) -> Floats:
    """Return p of each output for scores margin·sign: 1/(1 + exp(-2F)) for one, else softmax."""
    scores = margins * signs
    if scores.shape[1] == 1:
        return np.asarray(1 / (1 + np.exp(-2 * scores)))
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def newton(margins: Floats, signs: Signs, base: Floats, most: float) -> tuple[Wholes, Wholes]:
    """Return the weights p(1 - p) and pulls y* - p, in units of each row's base.

    The twin of ``logistic`` and of ``softmax``, once their values are added.
    """
    p, unit = probabilities(margins, signs), base.reshape(-1, 1)
    curve = p * (1 - p)
    gap = np.minimum(np.where(signs > 0, 1 - p, p), most * curve)
    pulls = np.floor(gap * unit + 0.5).astype(np.int64) * signs
    return np.floor(curve * unit + 0.5).astype(np.int64), pulls


def clipped(margins: Floats, log_base: Floats) -> Wholes:
    """Return the weights base·min(1, exp(-margin)), no less than one unit."""
    return whole_exp(log_base - np.maximum(margins, 0.0))


def cell_sums(
    cells: NDArray[np.integer], weights: Wholes, pulls: NDArray[np.integer], count: int
) -> Wholes:
    """Add up pulls and weights (rows, outputs) in every cell: (2, cells, outputs)."""
    sums = np.zeros((2, count, weights.shape[1]), dtype=np.int64)
    np.add.at(sums[0], cells, pulls)
    np.add.at(sums[1], cells, weights)
    return sums


def costs(kind: str, margins: Floats, signs: Signs) -> Floats:
    """Return what the margins (rows, outputs) of every row cost: ``row_costs.potential``'s twin."""
    if kind == "softmax":
        scores = margins * signs
        highest = scores.max(axis=1, keepdims=True)
        logs = np.log(np.exp(scores - highest).sum(axis=1)) + highest[:, 0]
        return np.asarray(logs - scores[signs > 0])
    if kind == "logistic":
        return np.asarray(np.logaddexp(0.0, -2 * margins).sum(axis=1))
    below = np.where(margins < 0, 1 - margins, np.exp(-np.maximum(margins, 0.0)))
    return np.asarray(below.sum(axis=1))


def wrong_classes(margins: Floats, signs: Signs, first_weights: Wholes) -> int:
    """Sum the first weights of rows whose own class does not score above every other."""
    wrong = by_scores(margins * signs, signs.argmax(axis=1))
    return int(np.broadcast_to(first_weights, wrong.shape)[wrong].sum())
