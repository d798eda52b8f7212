"""Find the best split of a node in its histograms of pairs, over all features.

A pair is ``pull·2³² + weight``, see kernels/grow.py; a histogram is (outputs, lanes, codes).
"""

from __future__ import annotations

import numpy as np

from pacboost.kernels.category_levels import (
    chance_of,
    choose_members,
    evidence_of,
    order_of,
    pool_rare,
)
from pacboost.kernels.layout import (
    BINS,
    CATEGORY,
    CHANCE,
    CRITERION,
    CUT,
    DEFAULT,
    FEATURE,
    LANE,
    LEAST_ROWS,
    LEAST_WEIGHT,
    LEVEL_PENALTY,
    LEVEL_ROWS,
    MISSING_LEFT,
    MONOTONE,
    PENALTY,
    SMOOTH,
)
from pacboost.kernels.runtime import Bytes, Floats, Rows, Wholes, Words
from pacboost.kernels.runtime.jit import on_stack, part_of_kernels, uncounted
from pacboost.kernels.split import (
    LOW,
    NEWTON,
    NOISE,
    Leaf,
    open_feature,
    scan_quickly,
    worth,
    worth_of_one,
)


@part_of_kernels
def scan_numbers(
    histogram: Wholes,
    absent: np.int64,
    leaf: Leaf,
    rules: Floats,
    span: Floats,
    slope: int,
    min_worth: float,
) -> tuple[float, int, bool]:
    """Find the best cut as ``scan_feature`` does, but faster: of a number, with one output.

    ``histogram`` holds the pairs of the feature's bins, ``absent`` that of missing values.
    """
    criterion, penalty = int(rules[CRITERION]), rules[PENALTY]
    if criterion == NEWTON and slope == 0:
        return scan_quickly(histogram, absent, leaf, min_worth)
    total, min_weight = leaf.total, leaf.min_weight
    weight = float(total & LOW)
    best, cut, missing_left = min_worth, -1, False
    for way in range(2 if absent != 0 else 1):  # missing values right, then left
        below = absent if way == 1 else np.int64(0)
        last = histogram.size - (0 if absent != 0 and way == 0 else 1)
        for b in range(last):
            pair = histogram[b]
            if pair == 0:
                continue  # the same sides as with the cut before
            below += pair
            left_weight = float(below & LOW)
            right_weight = weight - left_weight
            if left_weight < min_weight:
                continue
            if right_weight < min_weight:
                break
            low, high = float(below >> 32), float((total - below) >> 32)
            sides = worth_of_one(criterion, low, left_weight, penalty) + worth_of_one(
                criterion, high, right_weight, penalty
            )
            if sides <= best:
                continue
            if slope != 0 and b < histogram.size - 1:  # the last cut is for missing values
                a = min(max(low / left_weight, span[0]), span[1])
                c = min(max(high / right_weight, span[0]), span[1])
                if (c - a) * slope < 0:
                    continue
            best, cut = sides, b
            missing_left = way == 1 if absent != 0 else left_weight >= right_weight
    return best, cut, missing_left


@part_of_kernels
def judge(
    sums: Wholes, count: int, total: Wholes, rules: Floats, min_weight: float, worth_of_cuts: Floats
) -> None:
    """Write the worth of both sides of cuts, given the sums below them, in vectorized loops."""
    above = on_stack((256,), np.float64)
    criterion, penalty, weight = int(rules[CRITERION]), rules[PENALTY], float(total[0] & LOW)
    for k in range(count):
        worth_of_cuts[k] = above[k] = 0.0
    for s in range(sums.shape[0]):
        line, line_total = sums[s], total[s]
        for k in range(count):
            low, high = float(line[k] >> 32), float((line_total - line[k]) >> 32)
            worth_of_cuts[k] += low * low
            above[k] += high * high
    line = sums[0]
    for k in range(count):
        left_weight = float(line[k] & LOW)
        right_weight = weight - left_weight
        sides = worth_of_cuts[k] / (left_weight + penalty) + above[k] / (right_weight + penalty)
        worth_of_cuts[k] = (
            sides if left_weight >= min_weight and right_weight >= min_weight else -np.inf
        )
    if criterion != NEWTON:  # there is one output
        for k in range(count):
            if worth_of_cuts[k] > -np.inf:
                left_weight, low = float(line[k] & LOW), float(line[k] >> 32)
                high = float((total[0] - line[k]) >> 32)
                worth_of_cuts[k] = worth_of_one(
                    criterion, low, left_weight, penalty
                ) + worth_of_one(criterion, high, weight - left_weight, penalty)


@part_of_kernels
def scan_feature(
    histogram: Wholes,
    feature: Wholes,
    total: Wholes,
    order: Wholes,
    rules: Floats,
    min_weight: float,
    min_worth: float,
    chance: float,
) -> tuple[float, int, bool]:
    """Find a cut of one feature, a category or with several outputs, worth over ``min_worth``.

    Return the worth of its sides minus ``chance``, the cut (-1 if there is none) and whether
    missing values go left. Empty bins are skipped, as in ``scan_quickly``.
    """
    outputs, bins, category = histogram.shape[0], feature[BINS], feature[CATEGORY]
    sums, filled = on_stack((outputs, 256), np.int64), on_stack((256,), np.int64)
    cuts, codes = on_stack((256,), np.int64), on_stack((256,), np.int64)
    worth_of_cuts = on_stack((256,), np.float64)
    for b in range(bins + 1):
        filled[b] = histogram[0, b]
    for s in range(1, outputs):
        line = histogram[s]
        for b in range(bins + 1):
            filled[b] |= line[b]
    weight = float(total[0] & LOW)
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
        judge(sums, count, total, rules, min_weight, worth_of_cuts)
        for k in range(count):
            if worth_of_cuts[k] - chance > best:
                best, cut = worth_of_cuts[k] - chance, cuts[k]
                left_weight = float(sums[0, k] & LOW)
                missing_left = way == 1 if absent else left_weight >= weight - left_weight
    return best, cut, missing_left


@part_of_kernels
def read_feature(
    histogram: Wholes, feature: Wholes, missing: int, total: Wholes, words: Words, rows: Rows,
    pairs: Wholes, out: Wholes,
) -> None:  # fmt: skip
    """Write the histogram of a feature, ``missing`` last, from that of its lane or from rows."""
    bins, lane = feature[BINS], feature[LANE]
    block, shift = words[lane >> 3], np.uint64(8 * (lane & 7))
    for s in range(out.shape[0]):
        line, line_pairs = out[s], pairs[s]
        if rows.size == 0:
            open_feature(histogram[s, lane], feature, missing, total[s], line)
            continue
        for b in range(bins + 1):
            line[b] = 0
        for k in range(rows.size):
            code = np.int64((block[rows[k]] >> shift) & np.uint64(255))
            line[min(code, bins)] += line_pairs[rows[k]]


@part_of_kernels
def order_levels_at_root(
    histogram: Wholes, features: Wholes, missing: int,
    total: Wholes, rules: Floats, counts: Wholes,
    order: Wholes, orders: Bytes, evidence: Floats, words: Words, rows: Rows, pairs: Wholes,
) -> None:  # fmt: skip
    """Write the order of every category's levels at the root, and how much they differ."""
    for j in range(features.shape[0]):
        feature = features[j]
        if not feature[CATEGORY]:
            continue
        read_feature(histogram, feature, missing, total, words, rows, pairs, counts)
        order_of(counts, feature[BINS], rules[SMOOTH], order)
        for b in range(feature[BINS] + 1):
            orders[j, b] = order[b]
        evidence[j] = evidence_of(counts, feature[BINS], total, rules[CHANCE])


@part_of_kernels
def scan_category(
    histogram: Wholes,
    feature: Wholes,
    total: Wholes,
    rules: Floats,
    lightest: float,
    min_level_weight: float,
    min_worth: float,
    root_order: Bytes,
    evidence: float,
    missing: int,
    members: Bytes,
) -> tuple[float, int, bool]:
    """Find the best cut as ``scan_feature`` does, with the levels in each of three orders.

    The order of the codes does not depend on the rows. ``root_order``, by mean pulls at the root,
    comes from more rows than this node has; it is used if levels differ there by ``evidence``. The
    order by mean pulls in this node fits its rows best, partly by chance.
    """
    bins, order = feature[BINS], on_stack((256,), np.int64)
    best, cut, missing_left = min_worth, -1, False
    for kind in range(3):
        chance = 0.0
        for b in range(bins + 1):
            order[b] = b if kind == 0 else np.int64(root_order[b])
        if kind == 1:
            if evidence == 0:
                continue
            chance = chance_of(histogram, bins, rules[LEVEL_PENALTY]) / evidence
        elif kind == 2:
            pool_rare(histogram, bins, min_level_weight)
            order_of(histogram, bins, rules[SMOOTH], order)
            chance = chance_of(histogram, bins, rules[LEVEL_PENALTY])
        sides, place, heavier_left = scan_feature(
            histogram, feature, total, order, rules, lightest, best, chance
        )
        if place >= 0:
            best, cut = sides, place
            missing_left = choose_members(
                histogram, bins, order, place, heavier_left, missing, members
            )
    return best, cut, missing_left


@uncounted
def scan(
    histogram: Wholes,
    features: Wholes,
    allowed: Bytes,
    missing: int,
    size: int,
    rules: Floats,
    span: Floats,
    best: Wholes,
    members: Bytes,
    at_root: int,
    orders: Bytes,
    evidence: Floats,
    words: Words,
    rows: Rows,
    pairs: Wholes,
) -> tuple[float, float]:
    """Find the best split over all features; return the worth of its sides and of the leaf.

    If no split gains anything, both are equal. The root writes the order of the levels of
    categories to ``orders`` and ``evidence``, and other nodes read them.

    ``span`` holds the smallest and the largest mean pull that monotone splits above allow here. The
    first of equal splits is chosen. If ``rows`` is not empty, their ``words`` and ``pairs`` are
    used in place of a histogram; each lane then holds one feature.
    """
    outputs = histogram.shape[0]
    total, counts = on_stack((outputs,), np.int64), on_stack((outputs, 256), np.int64)
    order, sums = on_stack((256,), np.int64), on_stack((256,), np.int64)
    worth_of_cuts, pulls = on_stack((256,), np.float64), on_stack((outputs,), np.float64)
    for s in range(outputs):
        total[s] = 0
        for k in range(rows.size):
            total[s] += pairs[s, rows[k]]
        for b in range(0 if rows.size > 0 else histogram.shape[2]):
            total[s] += histogram[s, 0, b]
        pulls[s] = float(total[s] >> 32)
    weight = float(total[0] & LOW)
    min_weight = max(rules[LEAST_WEIGHT], rules[LEAST_ROWS] * weight / size, 1.0)
    if weight < 2 * min_weight:
        return 0.0, 0.0
    before = worth(int(rules[CRITERION]), pulls, weight, rules[PENALTY])
    after = before + NOISE * abs(before)
    min_worth = after
    if at_root:
        order_levels_at_root(
            histogram, features, missing, total, rules, counts, order, orders, evidence, words,
            rows, pairs,
        )  # fmt: skip
    leaf = Leaf(total[0], rules[PENALTY], min_weight, sums, worth_of_cuts)
    for j in range(features.shape[0]):
        if not allowed[j]:
            continue
        feature = features[j]
        bins, slope, category = feature[BINS], feature[MONOTONE], feature[CATEGORY]
        is_simple = outputs == 1 and category == 0
        line = histogram[0, feature[LANE]]
        absent = line[missing]
        if not is_simple or feature[DEFAULT] >= 0 or rows.size > 0:
            read_feature(histogram, feature, missing, total, words, rows, pairs, counts)
            line = counts[0]
            absent = line[bins]
        if is_simple:
            sides, cut, missing_left = scan_numbers(
                line[:bins], absent, leaf, rules, span, slope, after
            )
        elif category:
            sides, cut, missing_left = scan_category(
                counts, feature, total, rules, min_weight, rules[LEVEL_ROWS] * weight / size, after,
                orders[j], 0.0 if at_root else evidence[j], missing, members,
            )  # fmt: skip
        else:
            sides, cut, missing_left = scan_feature(
                counts, feature, total, order, rules, min_weight, after, 0.0
            )
        if cut >= 0:
            after = sides
            best[FEATURE], best[CUT], best[MISSING_LEFT] = j, cut, missing_left
    return (after, before) if after > min_worth else (before, before)
