"""Find the best split of a node in its histograms of pairs, over all features."""

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
    own: Wholes,
    absent: np.int64,
    leaf: Leaf,
    rules: Floats,
    span: Floats,
    slope: int,
    wanted: float,
) -> tuple[float, int, bool]:
    """Do what ``scan_feature`` does, for numbers and one output: the common case, so a fast one.

    ``own`` holds the pairs of the feature's bins, ``absent`` that of missing values.
    """
    criterion, penalty = int(rules[CRITERION]), rules[PENALTY]
    if criterion == NEWTON and slope == 0:
        return scan_quickly(own, absent, leaf, wanted)
    total, least = leaf.total, leaf.least
    weight = float(total & LOW)
    best, cut, missing_left = wanted, -1, False
    for way in range(2 if absent != 0 else 1):  # missing values right, then left
        below = absent if way == 1 else np.int64(0)
        last = own.size - (0 if absent != 0 and way == 0 else 1)
        for b in range(last):
            pair = own[b]
            if pair == 0:
                continue  # the same parts as one cut below
            below += pair
            left = float(below & LOW)
            right = weight - left
            if left < least:
                continue
            if right < least:
                break
            low, high = float(below >> 32), float((total - below) >> 32)
            found = worth_of_one(criterion, low, left, penalty) + worth_of_one(
                criterion, high, right, penalty
            )
            if found <= best:
                continue
            if slope != 0 and b < own.size - 1:  # else it asks whether a value is missing
                a = min(max(low / left, span[0]), span[1])
                c = min(max(high / right, span[0]), span[1])
                if (c - a) * slope < 0:
                    continue
            best, cut = found, b
            missing_left = way == 1 if absent != 0 else left >= right
    return best, cut, missing_left


@part_of_kernels
def judge(
    sums: Wholes, count: int, total: Wholes, rules: Floats, least: float, found: Floats
) -> None:
    """Write what both sides are worth of cuts with these sums below them, in loops on vectors."""
    above = on_stack((256,), np.float64)
    criterion, penalty, weight = int(rules[CRITERION]), rules[PENALTY], float(total[0] & LOW)
    for k in range(count):
        found[k] = above[k] = 0.0
    for s in range(sums.shape[0]):
        line, whole = sums[s], total[s]
        for k in range(count):
            low, high = float(line[k] >> 32), float((whole - line[k]) >> 32)
            found[k] += low * low
            above[k] += high * high
    line = sums[0]
    for k in range(count):
        left = float(line[k] & LOW)
        right = weight - left
        sides = found[k] / (left + penalty) + above[k] / (right + penalty)
        found[k] = sides if left >= least and right >= least else -np.inf
    if criterion != NEWTON:  # there is one output
        for k in range(count):
            if found[k] > -np.inf:
                left, low = float(line[k] & LOW), float(line[k] >> 32)
                high = float((total[0] - line[k]) >> 32)
                found[k] = worth_of_one(criterion, low, left, penalty) + worth_of_one(
                    criterion, high, weight - left, penalty
                )


@part_of_kernels
def scan_feature(
    own: Wholes,
    feature: Wholes,
    total: Wholes,
    order: Wholes,
    rules: Floats,
    least: float,
    wanted: float,
    chance: float,
) -> tuple[float, int, bool]:
    """Find a cut of one feature, a category or with several outputs, worth more than ``wanted``.

    Gives what its sides are worth, less ``chance``, the cut (-1 if there is none) and whether
    missing values go left. Empty bins are passed over, as ``scan_quickly`` does.
    """
    outputs, bins, category = own.shape[0], feature[BINS], feature[CATEGORY]
    sums, filled = on_stack((outputs, 256), np.int64), on_stack((256,), np.int64)
    cuts, codes = on_stack((256,), np.int64), on_stack((256,), np.int64)
    found = on_stack((256,), np.float64)
    for b in range(bins + 1):
        filled[b] = own[0, b]
    for s in range(1, outputs):
        line = own[s]
        for b in range(bins + 1):
            filled[b] |= line[b]
    weight = float(total[0] & LOW)
    absent = category == 0 and own[0, bins] != 0
    places = bins + category  # a category's missing code is one of its places
    best, cut, missing_left = wanted, -1, False
    for way in range(2 if absent else 1):  # missing values right, then left
        count = 0
        for place in range(places if absent and way == 0 else places - 1):
            code = order[place] if category else place
            cuts[count], codes[count] = place, code
            count += filled[code] != 0
        for s in range(outputs):
            line, below, line_sums = own[s], np.int64(0), sums[s]
            if way == 1:
                below = line[bins]
            for k in range(count):
                below += line[codes[k]]
                line_sums[k] = below
        judge(sums, count, total, rules, least, found)
        for k in range(count):
            if found[k] - chance > best:
                best, cut = found[k] - chance, cuts[k]
                left = float(sums[0, k] & LOW)
                missing_left = way == 1 if absent else left >= weight - left
    return best, cut, missing_left


@part_of_kernels
def read_feature(
    histogram: Wholes, feature: Wholes, missing: int, total: Wholes, words: Words, rows: Rows,
    pairs: Wholes, own: Wholes,
) -> None:  # fmt: skip
    """Write a feature's own histogram, with ``missing`` last: that of its lane, or of few rows."""
    bins, lane = feature[BINS], feature[LANE]
    block, shift = words[lane >> 3], np.uint64(8 * (lane & 7))
    for s in range(own.shape[0]):
        line, given = own[s], pairs[s]
        if rows.size == 0:
            open_feature(histogram[s, lane], feature, missing, total[s], line)
            continue
        for b in range(bins + 1):
            line[b] = 0
        for k in range(rows.size):
            code = np.int64((block[rows[k]] >> shift) & np.uint64(255))
            line[min(code, bins)] += given[rows[k]]


@part_of_kernels
def know_levels(
    histogram: Wholes, features: Wholes, missing: int,
    total: Wholes, rules: Floats, own: Wholes,
    order: Wholes, orders: Bytes, evidence: Floats, words: Words, rows: Rows, pairs: Wholes,
) -> None:  # fmt: skip
    """Write down the order of every category's levels at the root, and how much they differ."""
    for j in range(features.shape[0]):
        feature = features[j]
        if not feature[CATEGORY]:
            continue
        read_feature(histogram, feature, missing, total, words, rows, pairs, own)
        order_of(own, feature[BINS], rules[SMOOTH], order)
        for b in range(feature[BINS] + 1):
            orders[j, b] = order[b]
        evidence[j] = evidence_of(own, feature[BINS], total, rules[CHANCE])


@part_of_kernels
def scan_category(
    own: Wholes,
    feature: Wholes,
    total: Wholes,
    rules: Floats,
    least: float,
    rare: float,
    wanted: float,
    known: Bytes,
    evidence: float,
    missing: int,
    members: Bytes,
) -> tuple[float, int, bool]:
    """Do what ``scan_feature`` does, with the levels of a category in each of three orders.

    The order of the codes does not depend on the rows. The order of mean pulls at the root, kept in
    ``known``, is made from more rows than this node has; it is used if ``evidence`` says that
    levels differ there. The order of mean pulls in this node fits its rows best, partly by chance.
    """
    bins, order = feature[BINS], on_stack((256,), np.int64)
    best, cut, missing_left = wanted, -1, False
    for kind in range(3):
        chance = 0.0
        for b in range(bins + 1):
            order[b] = b if kind == 0 else np.int64(known[b])
        if kind == 1:
            if evidence == 0:
                continue
            chance = chance_of(own, bins, rules[LEVEL_PENALTY]) / evidence
        elif kind == 2:
            pool_rare(own, bins, rare)
            order_of(own, bins, rules[SMOOTH], order)
            chance = chance_of(own, bins, rules[LEVEL_PENALTY])
        found, place, left = scan_feature(own, feature, total, order, rules, least, best, chance)
        if place >= 0:
            best, cut = found, place
            missing_left = choose_members(own, bins, order, place, left, missing, members)
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
    """Find the best split over every feature; give what its sides and the leaf are worth.

    Without a split that gains anything, the first is equal to the second. What the root knows of
    the levels of categories is written to ``orders`` and ``evidence``, and read in other nodes.

    ``span`` holds the least and the most mean pull that monotone splits above leave to this node.
    Of equal splits the first one counts. Where ``rows`` are given, no histogram is looked at, but
    their ``words`` and ``pairs``; lanes then hold a feature each.
    """
    outputs = histogram.shape[0]
    total, own = on_stack((outputs,), np.int64), on_stack((outputs, 256), np.int64)
    order, sums = on_stack((256,), np.int64), on_stack((256,), np.int64)
    found_at, pulls = on_stack((256,), np.float64), on_stack((outputs,), np.float64)
    for s in range(outputs):
        total[s] = 0
        for k in range(rows.size):
            total[s] += pairs[s, rows[k]]
        for b in range(0 if rows.size > 0 else histogram.shape[2]):
            total[s] += histogram[s, 0, b]
        pulls[s] = float(total[s] >> 32)
    weight = float(total[0] & LOW)
    least = max(rules[LEAST_WEIGHT], rules[LEAST_ROWS] * weight / size, 1.0)
    if weight < 2 * least:
        return 0.0, 0.0
    before = worth(int(rules[CRITERION]), pulls, weight, rules[PENALTY])
    after = before + NOISE * abs(before)
    nothing = after
    if at_root:
        know_levels(
            histogram, features, missing, total, rules, own, order, orders, evidence, words, rows,
            pairs,
        )  # fmt: skip
    leaf = Leaf(total[0], rules[PENALTY], least, sums, found_at)
    for j in range(features.shape[0]):
        if not allowed[j]:
            continue
        feature = features[j]
        bins, slope, category = feature[BINS], feature[MONOTONE], feature[CATEGORY]
        plain = outputs == 1 and category == 0
        line = histogram[0, feature[LANE]]
        absent = line[missing]
        if not plain or feature[DEFAULT] >= 0 or rows.size > 0:
            read_feature(histogram, feature, missing, total, words, rows, pairs, own)
            line = own[0]
            absent = line[bins]
        if plain:
            found, cut, left = scan_numbers(line[:bins], absent, leaf, rules, span, slope, after)
        elif category:
            found, cut, left = scan_category(
                own, feature, total, rules, least, rules[LEVEL_ROWS] * weight / size, after,
                orders[j], 0.0 if at_root else evidence[j], missing, members,
            )  # fmt: skip
        else:
            found, cut, left = scan_feature(own, feature, total, order, rules, least, after, 0.0)
        if cut >= 0:
            after = found
            best[FEATURE], best[CUT], best[MISSING_LEFT] = j, cut, left
    return (after, before) if after > nothing else (before, before)
