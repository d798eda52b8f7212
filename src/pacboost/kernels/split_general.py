"""Find the best split of a node in its histograms of pairs, over all features.

A pair is ``pull·2³² + weight``, see kernels/grow.py; a histogram is (outputs, lanes, codes).
docs/decisions/0018-orders-of-levels.md explains why the levels of a category have several orders.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pacboost.kernels import layout, split
from pacboost.kernels.runtime import Bytes, Floats, Rows, Wholes
from pacboost.kernels.runtime.jit import on_stack, part_of_kernels, uncounted
from pacboost.kernels.split import Leaf, SplitSearch


class NodeTotals(NamedTuple):
    """The sums of a node, by output, and the rules for its splits."""

    total: Wholes
    rules: Floats
    span: Floats
    """The smallest and the largest mean pull that monotone splits above allow here."""
    min_weight: float
    min_level_weight: float
    """Minimum weight of a level of a category."""


@part_of_kernels
def judge(node: NodeTotals, sums: Wholes, count: int, worth_of_cuts: Floats) -> None:
    """Write the worth of both sides of cuts, given the sums below them, in vectorized loops."""
    above, total = on_stack((256,), np.float64), node.total
    criterion, penalty = int(node.rules[layout.CRITERION]), node.rules[layout.PENALTY]
    weight, line = float(total[0] & split.LOW), sums[0]
    if criterion == split.NEWTON:
        for k in range(count):
            worth_of_cuts[k] = above[k] = 0.0
        for s in range(sums.shape[0]):
            line_sums, line_total = sums[s], total[s]
            for k in range(count):
                low, high = float(line_sums[k] >> 32), float((line_total - line_sums[k]) >> 32)
                worth_of_cuts[k] += low * low
                above[k] += high * high
        for k in range(count):
            left_weight = float(line[k] & split.LOW) + penalty
            right_weight = weight - float(line[k] & split.LOW) + penalty
            worth_of_cuts[k] = worth_of_cuts[k] / left_weight + above[k] / right_weight
    else:  # there is one output
        for k in range(count):
            left_weight, low = float(line[k] & split.LOW), float(line[k] >> 32)
            right_weight, high = weight - left_weight, float((total[0] - line[k]) >> 32)
            left = split.worth_of_one(criterion, low, left_weight, penalty)
            worth_of_cuts[k] = left + split.worth_of_one(criterion, high, right_weight, penalty)
    for k in range(count):
        left_weight = float(line[k] & split.LOW)
        is_heavy = left_weight >= node.min_weight and weight - left_weight >= node.min_weight
        worth_of_cuts[k] = worth_of_cuts[k] if is_heavy else -np.inf


@part_of_kernels
def follows_slope(node: NodeTotals, below: np.int64, slope: int) -> bool:
    """Check whether the means of both sides of a cut, within the span, rise or fall as allowed."""
    span, above = node.span, node.total[0] - below
    low = min(max(float(below >> 32) / float(below & split.LOW), span[0]), span[1])
    high = min(max(float(above >> 32) / float(above & split.LOW), span[0]), span[1])
    return bool((high - low) * slope >= 0)


@part_of_kernels
def scan_feature(
    node: NodeTotals, histogram: Wholes, feature: Wholes, order: Wholes, min_worth: float,
    chance: float,
) -> tuple[float, int, bool]:  # fmt: skip
    """Find the cut of one feature that is worth most, and over ``min_worth``.

    Return the worth of its sides minus ``chance``, the cut (-1 if there is none) and whether
    missing values go left. Empty bins are skipped, as in ``scan_quickly``.
    """
    outputs, bins = histogram.shape[0], feature[layout.BINS]
    category, slope = feature[layout.CATEGORY], feature[layout.MONOTONE]
    sums, filled = on_stack((outputs, 256), np.int64), on_stack((256,), np.int64)
    cuts, codes = on_stack((256,), np.int64), on_stack((256,), np.int64)
    worth_of_cuts = on_stack((256,), np.float64)
    for b in range(bins + 1):
        filled[b] = histogram[0, b]
    for s in range(1, outputs):
        line = histogram[s]
        for b in range(bins + 1):
            filled[b] |= line[b]
    weight = float(node.total[0] & split.LOW)
    absent = category == 0 and histogram[0, bins] != 0
    places = bins + category  # missing values of a category have a place in its order
    best, cut, missing_left = min_worth, -1, False
    for way in range(2 if absent else 1):  # missing values right, then left
        count = 0
        for place in range(places if absent and way == 0 else places - 1):
            code = order[place] if category else place
            cuts[count], codes[count] = place, code
            count += filled[code] != 0
        for s in range(outputs):
            line, below, line_sums = histogram[s], np.int64(0), sums[s]
            if way == 1:
                below = line[bins]
            for k in range(count):
                below += line[codes[k]]
                line_sums[k] = below
        judge(node, sums, count, worth_of_cuts)
        for k in range(count):
            if worth_of_cuts[k] - chance <= best:
                continue
            is_ordered = slope != 0 and cuts[k] < bins - 1  # the last cut is for missing values
            if not is_ordered or follows_slope(node, sums[0, k], slope):
                best, cut = worth_of_cuts[k] - chance, cuts[k]
                left_weight = float(sums[0, k] & split.LOW)
                missing_left = way == 1 if absent else left_weight >= weight - left_weight
    return best, cut, missing_left


@part_of_kernels
def read_feature(
    search: SplitSearch, feature: Wholes, histogram: Wholes, rows: Rows, pairs: Wholes,
    total: Wholes, out: Wholes,
) -> None:  # fmt: skip
    """Write the histogram of a feature, ``missing`` last, from that of its lane or from rows."""
    bins, lane = feature[layout.BINS], feature[layout.LANE]
    block, shift = search.codes.words[lane >> 3], np.uint64(8 * (lane & 7))
    for s in range(out.shape[0]):
        line, line_pairs = out[s], pairs[s]
        if rows.size == 0:
            split.open_feature(histogram[s, lane], feature, search.codes.missing, total[s], line)
            continue
        for b in range(bins + 1):
            line[b] = 0
        for k in range(rows.size):
            code = np.int64((block[rows[k]] >> shift) & np.uint64(255))
            line[min(code, bins)] += line_pairs[rows[k]]


@part_of_kernels
def pool_rare(histogram: Wholes, bins: int, min_weight: float) -> None:
    """Treat levels of a category that weigh less than ``min_weight`` in a node as missing.

    ``choose_members`` then sends them where missing values go.
    """
    for b in range(bins):
        if float(histogram[0, b] & split.LOW) < min_weight:
            for s in range(histogram.shape[0]):
                histogram[s, bins] += histogram[s, b]
                histogram[s, b] = 0


@part_of_kernels
def chance_of(histogram: Wholes, bins: int, penalty: float) -> float:
    """Return the penalty on the gain of a category for ordering its levels by mean pull.

    Each level adds to the gain of the best cut by chance; two levels can be ordered in one way.
    """
    levels = 0
    for b in range(bins + 1):
        if histogram[0, b] != 0:
            levels += 1
    return float(penalty * max(levels - 2, 0))


@part_of_kernels
def evidence_of(histogram: Wholes, bins: int, total: Wholes, chance: float) -> float:
    """Return how many times more the levels of a category differ than by chance.

    That is Fisher's F: the worth of the levels beyond that of all rows, per level, divided by
    ``chance``, the worth of a group of rows whose pulls are noise. It is 0 if F is within two
    standard deviations, √(2/levels), of 1, or if the levels can be ordered in one way only.
    """
    between, levels = 0.0, 0
    for b in range(bins + 1):
        if histogram[0, b] != 0:
            levels += 1
    if levels < 3 or chance <= 0:
        return 0.0
    for s in range(histogram.shape[0]):
        for b in range(bins + 1):
            if histogram[0, b] != 0:
                pull = float(histogram[s, b] >> 32)
                between += pull * pull / max(float(histogram[0, b] & split.LOW), 1.0)
        pull = float(total[s] >> 32)
        between -= pull * pull / float(total[0] & split.LOW)
    ratio = between / (chance * float(levels - 1))
    return ratio if ratio > 1 + 2 * np.sqrt(2 / levels) else 0.0


@part_of_kernels
def order_of(histogram: Wholes, bins: int, smooth: float, order: Wholes) -> None:
    """Order the levels, and missing values among them, by mean pull; ties by code."""
    ratio = on_stack((256,), np.float64)
    for b in range(bins + 1):
        # at least 1: a level without weight would have the mean NaN, which cannot be ordered
        value = float(histogram[0, b] >> 32) / max(float(histogram[0, b] & split.LOW) + smooth, 1.0)
        place = b
        while place > 0 and ratio[place - 1] > value:
            ratio[place] = ratio[place - 1]
            order[place] = order[place - 1]
            place -= 1
        ratio[place] = value
        order[place] = b


@part_of_kernels
def choose_members(
    histogram: Wholes, bins: int, order: Wholes, cut: int, heavier_left: bool, missing: int,
    members: Bytes,
) -> bool:  # fmt: skip
    """Write which levels of a category go left: the first ones in order, up to the cut.

    Missing values have a place in the order; if the node has none, they go to the heavier side.
    A level that is not in this node goes where missing values go; return whether that is left.
    """
    for k in range(members.size):
        members[k] = np.uint8(0)
    missing_left = heavier_left and histogram[0, bins] == 0
    for k in range(cut + 1):
        if order[k] < bins:
            members[order[k]] = np.uint8(1)
        elif histogram[0, bins] != 0:
            missing_left = True
    members[missing] = np.uint8(missing_left)
    for k in range(bins):
        if histogram[0, k] == 0:
            members[k] = np.uint8(missing_left)
    return missing_left


@part_of_kernels
def scan_category(
    node: NodeTotals, histogram: Wholes, feature: Wholes, root_order: Bytes, evidence: float,
    missing: int, min_worth: float, members: Bytes,
) -> tuple[float, int, bool]:  # fmt: skip
    """Find the best cut as ``scan_feature`` does, with the levels in each of three orders.

    The order of the codes does not depend on the rows. ``root_order``, by mean pulls at the root,
    comes from more rows than this node has; it is used if levels differ there by ``evidence``. The
    order by mean pulls in this node fits its rows best, partly by chance.
    """
    bins, order, rules = feature[layout.BINS], on_stack((256,), np.int64), node.rules
    best, cut, missing_left = min_worth, -1, False
    for kind in range(3):
        chance = 0.0
        for b in range(bins + 1):
            order[b] = b if kind == 0 else np.int64(root_order[b])
        if kind == 1:
            if evidence == 0:
                continue
            chance = chance_of(histogram, bins, rules[layout.LEVEL_PENALTY]) / evidence
        elif kind == 2:
            pool_rare(histogram, bins, node.min_level_weight)
            order_of(histogram, bins, rules[layout.SMOOTH], order)
            chance = chance_of(histogram, bins, rules[layout.LEVEL_PENALTY])
        sides, place, heavier_left = scan_feature(node, histogram, feature, order, best, chance)
        if place >= 0:
            best, cut = sides, place
            missing_left = choose_members(
                histogram, bins, order, place, heavier_left, missing, members
            )
    return best, cut, missing_left


@part_of_kernels
def sum_pairs(lane: Wholes, rows: Rows, pairs: Wholes) -> np.int64:
    """Return the sum of the pairs of a leaf: of its rows, if any are listed, or of a lane."""
    total = np.int64(0)
    for k in range(rows.size):
        total += pairs[rows[k]]
    for b in range(0 if rows.size > 0 else lane.size):
        total += lane[b]
    return total


@part_of_kernels
def order_levels(
    node: NodeTotals, histogram: Wholes, bins: int, order: Wholes, out: Bytes
) -> float:
    """Write the order of a category's levels at the root; return how much they differ."""
    order_of(histogram, bins, node.rules[layout.SMOOTH], order)
    for b in range(bins + 1):
        out[b] = order[b]
    return float(evidence_of(histogram, bins, node.total, node.rules[layout.CHANCE]))


@uncounted
def scan(
    search: SplitSearch, histogram: Wholes, rows: Rows, pairs: Wholes, size: int, span: Floats,
    at_root: bool, best: Wholes, members: Bytes,
) -> tuple[float, float]:  # fmt: skip
    """Find the best split over some features; return the worth of its sides and of the leaf.

    If no split gains anything, both are equal. The root writes the order of the levels of
    categories to ``orders`` and ``evidence`` of the codes, and other nodes read them.

    The first of equal splits is chosen. If ``rows`` is not empty, their words and ``pairs`` are
    used in place of a histogram; each lane then holds one feature.
    """
    codes, rules, outputs = search.codes, search.rules, histogram.shape[0]
    total, counts = on_stack((outputs,), np.int64), on_stack((outputs, 256), np.int64)
    order, sums = on_stack((256,), np.int64), on_stack((256,), np.int64)
    worth_of_cuts, pulls = on_stack((256,), np.float64), on_stack((outputs,), np.float64)
    for s in range(outputs):
        total[s] = sum_pairs(histogram[s, 0], rows, pairs[s])
        pulls[s] = float(total[s] >> 32)
    weight, criterion = float(total[0] & split.LOW), int(rules[layout.CRITERION])
    min_weight = split.min_weight_of(rules, weight, size)
    if weight < 2 * min_weight:
        return 0.0, 0.0
    before = split.worth(criterion, pulls, weight, rules[layout.PENALTY])
    after = min_worth = before + split.NOISE * abs(before)
    leaf = Leaf(total[0], rules[layout.PENALTY], min_weight, sums, worth_of_cuts)
    node = NodeTotals(total, rules, span, min_weight, rules[layout.LEVEL_ROWS] * weight / size)
    for j in range(search.first, search.last):
        feature = codes.features[j]
        category, bins = feature[layout.CATEGORY], feature[layout.BINS]
        if not search.allowed[j] and not (at_root and category):
            continue
        is_quick = outputs == 1 and category == 0 and criterion == split.NEWTON
        is_quick = is_quick and feature[layout.MONOTONE] == 0
        line, absent = histogram[0, feature[layout.LANE]], np.int64(0)
        if is_quick and feature[layout.DEFAULT] < 0 and rows.size == 0:
            absent = line[codes.missing]
        else:
            read_feature(search, feature, histogram, rows, pairs, total, counts)
            line, absent = counts[0], counts[0, bins]
        if category and at_root:
            codes.evidence[j] = order_levels(node, counts, bins, order, codes.orders[j])
            if not search.allowed[j]:
                continue
        if is_quick:
            sides, cut, missing_left = split.scan_quickly(line[:bins], absent, leaf, after)
        elif category:
            evidence = 0.0 if at_root else codes.evidence[j]
            sides, cut, missing_left = scan_category(
                node, counts, feature, codes.orders[j], evidence, codes.missing, after, members
            )
        else:
            sides, cut, missing_left = scan_feature(node, counts, feature, order, after, 0.0)
        if cut >= 0:
            after = sides
            best[layout.FEATURE], best[layout.CUT] = j, cut
            best[layout.MISSING_LEFT] = missing_left
    return (after, before) if after > min_worth else (before, before)
