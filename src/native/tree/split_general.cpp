#include "tree/split_general.h"

namespace pacboost {
namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();

/// Write the worth of both sides of cuts, given the sums below them, in vectorized loops.
void judge(const NodeTotals& node, i64 count, CutRoom& room) {
    const i64 criterion = i64(node.rules[CRITERION]);
    const double penalty = node.rules[PENALTY], weight = weight_of(node.total[0]), min_weight = node.min_weight;
    const i64* line = room.sums[0].data;
    double *worth = room.worth, *above = room.above;
    if (criterion == NEWTON) {
        for (i64 k = 0; k < count; ++k) worth[k] = above[k] = 0.0;
        for (i64 s = 0; s < room.sums.shape[0]; ++s) {
            const i64* sums = room.sums[s].data;
            const i64 total = node.total[s];
            for (i64 k = 0; k < count; ++k) {
                double low = pull_of(sums[k]), high = pull_of(total - sums[k]);
                worth[k] += low * low;
                above[k] += high * high;
            }
        }
        for (i64 k = 0; k < count; ++k) {
            double left_weight = weight_of(line[k]) + penalty, right_weight = weight - weight_of(line[k]) + penalty;
            worth[k] = worth[k] / left_weight + above[k] / right_weight;
        }
    } else {  // there is one output
        const i64 total = node.total[0];
        for (i64 k = 0; k < count; ++k) {
            double left_weight = weight_of(line[k]), low = pull_of(line[k]);
            double right_weight = weight - left_weight, high = pull_of(total - line[k]);
            double left = worth_of_one(criterion, low, left_weight, penalty);
            worth[k] = left + worth_of_one(criterion, high, right_weight, penalty);
        }
    }
    for (i64 k = 0; k < count; ++k) {
        double left_weight = weight_of(line[k]);
        worth[k] = (left_weight >= min_weight) & (weight - left_weight >= min_weight) ? worth[k] : -INFINITE;
    }
}

/// Check whether the means of both sides of a cut, within the span, rise or fall as allowed.
bool follows_slope(const NodeTotals& node, i64 below, i64 slope) {
    const i64 above = node.total[0] - below;
    auto mean = [&](i64 pair) {
        return std::min(std::max(pull_of(pair) / weight_of(pair), node.span[0]), node.span[1]);
    };
    return (mean(above) - mean(below)) * double(slope) >= 0;
}

/// Write the histogram of a feature, `missing` last, from that of its lane or from rows.
void read_feature(const SplitSearch& search, Feature feature, Array<const i64, 3> histogram, Array<const u32> rows,
                  Array<const i64, 2> pairs, Array<const i64> total, Array<i64, 2> out) {
    const i64 bins = feature[BINS], lane = feature[LANE];
    Array<const u64> block = search.codes.words[lane >> 3];
    const int shift = int(8 * (lane & 7));
    for (i64 s = 0; s < out.shape[0]; ++s) {
        Wholes line = out[s];
        if (rows.size() == 0) {
            open_feature(histogram(s, lane), feature, search.codes.missing, total[s], line);
            continue;
        }
        Array<const i64> line_pairs = pairs[s];
        for (i64 b = 0; b <= bins; ++b) line[b] = 0;
        for (u32 row : rows) line[std::min(i64((block[row] >> shift) & 255), bins)] += line_pairs[row];
    }
}

/// Treat levels of a category that weigh less than `min_weight` in a node as missing; `choose_members`
/// then sends them where missing values go.
void pool_rare(Array<i64, 2> histogram, i64 bins, double min_weight) {
    for (i64 b = 0; b < bins; ++b) {
        if (weight_of(histogram(0, b)) >= min_weight) continue;
        for (i64 s = 0; s < histogram.shape[0]; ++s) {
            histogram(s, bins) += histogram(s, b);
            histogram(s, b) = 0;
        }
    }
}

/// The number of levels in a node, and missing values among them.
i64 count_levels(Array<const i64, 2> histogram, i64 bins) {
    i64 levels = 0;
    for (i64 b = 0; b <= bins; ++b) levels += histogram(0, b) != 0;
    return levels;
}

/// The penalty on the gain of a category for ordering its levels by mean pull: each level adds to the
/// gain of the best cut by chance; two levels can be ordered in one way.
double chance_of(Array<const i64, 2> histogram, i64 bins, double penalty) {
    return penalty * double(std::max<i64>(count_levels(histogram, bins) - 2, 0));
}

/// How many times more the levels of a category differ than by chance.
///
/// That is Fisher's F: the worth of the levels beyond that of all rows, per level, divided by `chance`,
/// the worth of a group of rows whose pulls are noise. It is 0 if F is within two standard deviations,
/// √(2/levels), of 1, or if the levels can be ordered in one way only.
double evidence_of(Array<const i64, 2> histogram, i64 bins, Array<const i64> total, double chance) {
    const i64 levels = count_levels(histogram, bins);
    if (levels < 3 || chance <= 0) return 0.0;
    double between = 0.0;
    for (i64 s = 0; s < histogram.shape[0]; ++s) {
        for (i64 b = 0; b <= bins; ++b) {
            if (histogram(0, b) == 0) continue;
            double pull = pull_of(histogram(s, b));
            between += pull * pull / std::max(weight_of(histogram(0, b)), 1.0);
        }
        double pull = pull_of(total[s]);
        between -= pull * pull / weight_of(total[0]);
    }
    double ratio = between / (chance * double(levels - 1));
    return ratio > 1 + 2 * std::sqrt(2 / double(levels)) ? ratio : 0.0;
}

/// Order the levels, and missing values among them, by mean pull; ties by code.
void order_of(Array<const i64, 2> histogram, i64 bins, double smooth, Wholes order) {
    double ratio[CODES];
    for (i64 b = 0; b <= bins; ++b) {
        // At least 1: a level without weight would have the mean NaN, which cannot be ordered.
        double value = pull_of(histogram(0, b)) / std::max(weight_of(histogram(0, b)) + smooth, 1.0);
        i64 place = b;
        for (; place > 0 && ratio[place - 1] > value; --place) {
            ratio[place] = ratio[place - 1];
            order[place] = order[place - 1];
        }
        ratio[place] = value;
        order[place] = b;
    }
}

/// Write which levels of a category go left: the first ones in order, up to the cut.
///
/// Missing values have a place in the order; if the node has none, they go to the heavier side. A level
/// that is not in this node goes where missing values go; return whether that is left.
bool choose_members(Array<const i64, 2> histogram, i64 bins, Array<const i64> order, i64 cut, bool heavier_left,
                    i64 missing, Bytes members) {
    for (u8& member : members) member = 0;
    bool missing_left = heavier_left && histogram(0, bins) == 0;
    for (i64 k = 0; k <= cut; ++k) {
        if (order[k] < bins)
            members[order[k]] = 1;
        else if (histogram(0, bins) != 0)
            missing_left = true;
    }
    members[missing] = missing_left;
    for (i64 k = 0; k < bins; ++k)
        if (histogram(0, k) == 0) members[k] = missing_left;
    return missing_left;
}

/// Find the best cut as `scan_feature` does, with the levels in each of three orders.
///
/// The order of the codes does not depend on the rows. `root_order`, by mean pulls at the root, comes
/// from more rows than this node has; it is used if levels differ there by `evidence`. The order by mean
/// pulls in this node fits its rows best, partly by chance.
Cut scan_category(const NodeTotals& node, Array<i64, 2> histogram, Feature feature, Array<const u8> root_order,
                  double evidence, i64 missing, double min_worth, Bytes members, CutRoom& room) {
    const i64 bins = feature[BINS];
    i64 own_order[CODES];
    Wholes order = array_on(own_order);
    Cut best{min_worth, -1, false};
    for (int kind = 0; kind < 3; ++kind) {
        double chance = 0.0;
        for (i64 b = 0; b <= bins; ++b) order[b] = kind == 0 ? b : i64(root_order[b]);
        if (kind == 1) {
            if (evidence == 0) continue;
            chance = chance_of(histogram, bins, node.rules[LEVEL_PENALTY]) / evidence;
        } else if (kind == 2) {
            pool_rare(histogram, bins, node.min_level_weight);
            order_of(histogram, bins, node.rules[SMOOTH], order);
            chance = chance_of(histogram, bins, node.rules[LEVEL_PENALTY]);
        }
        Cut found = scan_feature(node, histogram, feature, order, best.worth, chance, room);
        if (found.cut < 0) continue;
        bool missing_left = choose_members(histogram, bins, order, found.cut, found.missing_left, missing, members);
        best = {found.worth, found.cut, missing_left};
    }
    return best;
}

/// The sum of the pairs of a leaf: of its rows, if any are listed, or of a lane.
i64 sum_pairs(Array<const i64> lane, Array<const u32> rows, Array<const i64> pairs) {
    i64 total = 0;
    for (u32 row : rows) total += pairs[row];
    if (rows.size() == 0)
        for (i64 pair : lane) total += pair;
    return total;
}

/// Write the order of a category's levels at the root; return how much they differ.
double order_levels(const NodeTotals& node, Array<const i64, 2> histogram, i64 bins, Bytes out) {
    i64 own_order[CODES];
    Wholes order = array_on(own_order);
    order_of(histogram, bins, node.rules[SMOOTH], order);
    for (i64 b = 0; b <= bins; ++b) out[b] = u8(order[b]);
    return evidence_of(histogram, bins, node.total, node.rules[CHANCE]);
}

}  // namespace

Cut scan_feature(const NodeTotals& node, Array<const i64, 2> histogram, Feature feature, Array<const i64> order,
                 double min_worth, double chance, CutRoom& room) {
    const i64 lines = histogram.shape[0], bins = feature[BINS], slope = feature[MONOTONE];
    const bool category = feature[CATEGORY] != 0;
    i64* filled = room.filled;
    for (i64 b = 0; b <= bins; ++b) filled[b] = histogram(0, b);
    for (i64 s = 1; s < lines; ++s) {
        const i64* line = histogram[s].data;
        for (i64 b = 0; b <= bins; ++b) filled[b] |= line[b];
    }
    const double weight = weight_of(node.total[0]);
    const bool absent = !category && histogram(0, bins) != 0;
    const i64 places = bins + category;  // missing values of a category have a place in its order
    Cut best{min_worth, -1, false};
    for (int way = 0; way < (absent ? 2 : 1); ++way) {  // missing values right, then left
        i64 count = 0;
        const i64 end = absent && way == 0 ? places : places - 1;
        for (i64 place = 0; place < end; ++place) {
            i64 code = category ? order[place] : place;
            room.cuts[count] = place, room.codes[count] = code;
            count += filled[code] != 0;
        }
        for (i64 s = 0; s < lines; ++s) {
            Array<const i64> line = histogram[s];
            Wholes sums = room.sums[s];
            i64 below = way == 1 ? line[bins] : 0;
            for (i64 k = 0; k < count; ++k) {
                below += line[room.codes[k]];
                sums[k] = below;
            }
        }
        judge(node, count, room);
        for (i64 k = 0; k < count; ++k) {
            if (room.worth[k] - chance <= best.worth) continue;
            const i64 cut = room.cuts[k], below = room.sums(0, k);
            bool is_ordered = slope != 0 && cut < bins - 1;  // the last cut is for missing values
            if (is_ordered && !follows_slope(node, below, slope)) continue;
            double left_weight = weight_of(below);
            best = {room.worth[k] - chance, cut, absent ? way == 1 : left_weight >= weight - left_weight};
        }
    }
    return best;
}

Worth scan_general(const SplitSearch& search, Array<const i64, 3> histogram, Array<const u32> rows,
                   Array<const i64, 2> pairs, i64 size, Array<const double> span, bool at_root, Wholes best,
                   Bytes members) {
    const Codes& codes = search.codes;
    const i64 lines = histogram.shape[0];
    std::vector<i64> own_total(std::size_t(lines), 0), own_counts(std::size_t(lines * CODES));
    std::vector<double> own_pulls(std::size_t(lines), 0.0);
    Wholes total{own_total.data(), {lines}};
    Array<i64, 2> counts{own_counts.data(), {lines, CODES}};
    Floats pulls{own_pulls.data(), {lines}};
    i64 own_sums[CODES];
    alignas(64) double own_worth[CODES];
    for (i64 s = 0; s < lines; ++s) {
        total[s] = sum_pairs(histogram(s, 0), rows, pairs[s]);
        pulls[s] = pull_of(total[s]);
    }
    const double weight = weight_of(total[0]), penalty = search.rules[PENALTY];
    const i64 criterion = i64(search.rules[CRITERION]);
    const double min_weight = min_weight_of(search.rules, weight, size);
    if (weight < 2 * min_weight) return {0.0, 0.0};
    const double before = worth(criterion, pulls, weight, penalty), min_worth = before + NOISE * std::fabs(before);
    double after = min_worth;
    const Leaf leaf{total[0], penalty, min_weight, array_on(own_sums), array_on(own_worth)};
    const NodeTotals node{total, search.rules, span, min_weight, search.rules[LEVEL_ROWS] * weight / double(size)};
    CutRoom room(lines);
    for (i64 j = search.first; j < search.last; ++j) {
        Feature feature = codes.features[j];
        const bool category = feature[CATEGORY] != 0;
        const i64 bins = feature[BINS];
        if (!search.allowed[j] && !(at_root && category)) continue;
        const bool is_quick = lines == 1 && !category && criterion == NEWTON && feature[MONOTONE] == 0;
        Array<const i64> line = histogram(0, feature[LANE]);
        i64 absent = 0;
        if (is_quick && feature[DEFAULT] < 0 && rows.size() == 0) {
            absent = line[codes.missing];
        } else {
            read_feature(search, feature, histogram, rows, pairs, total, counts);
            line = counts[0];
            absent = line[bins];
        }
        if (category && at_root) {
            codes.evidence[j] = order_levels(node, counts, bins, codes.orders[j]);
            if (!search.allowed[j]) continue;
        }
        Cut found;
        if (is_quick)
            found = scan_quickly(line.slice(0, bins), absent, leaf, after);
        else if (category)
            found = scan_category(node, counts, feature, codes.orders[j], at_root ? 0.0 : codes.evidence[j],
                                  codes.missing, after, members, room);
        else
            found = scan_feature(node, counts, feature, {}, after, 0.0, room);
        if (found.cut >= 0) {
            after = found.worth;
            best[FEATURE] = j, best[CUT] = found.cut, best[MISSING_LEFT] = found.missing_left;
        }
    }
    if (after > min_worth) return {after, before};
    return {before, before};
}

}  // namespace pacboost
