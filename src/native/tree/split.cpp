#include "tree/split.h"

namespace pacboost {
namespace {

/// low²/a + high²/c, the worth of both sides of a cut, with a single division.
INLINE double newton_sides(double low, double a, double high, double c) {
    return (low * low * c + high * high * a) / (a * c);
}

struct Best {
    double worth;
    i64 place;
};

/// The worth and the index of the best cut; the index is -1 if none exceeds `best`. `sums` are the sums
/// below each cut. Of several equally good cuts, the first is returned.
Best best_of(Array<const i64> sums, const Leaf& leaf, double best) {
    const double weight = weight_of(leaf.total), pull = pull_of(leaf.total);
    const double penalty = leaf.penalty, min_weight = leaf.min_weight;
    const i64 size = sums.size();
    const i64* s = sums.data;
    double* worth = leaf.worth_of_cuts.data;
    for (i64 k = 0; k < size; ++k) {
        double left_weight = weight_of(s[k]), low = pull_of(s[k]);
        double right_weight = weight - left_weight, high = pull - low;
        double sides = newton_sides(low, left_weight + penalty, high, right_weight + penalty);
        worth[k] = (left_weight >= min_weight) & (right_weight >= min_weight) ? sides : -1.0;
    }
    // Doubles from 0 on are ordered like their bits, and integers are compared in vectors.
    const i64 start = std::bit_cast<i64>(best);
    i64 top = start;
    for (i64 k = 0; k < size; ++k) top = std::max(top, std::bit_cast<i64>(worth[k]));
    if (top == start) return {best, -1};
    i64 place = 0;
    while (std::bit_cast<i64>(worth[place]) != top) place += 1;
    return {worth[place], place};
}

/// Judge the only cut of a feature with two bins and no missing values.
INLINE Cut scan_only(i64 below, const Leaf& leaf, double min_worth) {
    double left_weight = weight_of(below), right_weight = weight_of(leaf.total) - left_weight;
    if (left_weight < leaf.min_weight || right_weight < leaf.min_weight) return {min_worth, -1, false};
    double low = pull_of(below), high = pull_of(leaf.total) - low;
    double sides = newton_sides(low, left_weight + leaf.penalty, high, right_weight + leaf.penalty);
    if (sides > min_worth) return {sides, 0, left_weight >= right_weight};
    return {min_worth, -1, false};
}

/// The rows of a leaf without histograms, and space for the search of one feature.
struct ListedRows {
    Array<const u32> rows;
    Array<const i64> pairs;
    /// A place for every code, which is 0 before and after.
    Wholes histogram;
    Wholes places;
    /// A bit for every code.
    Words filled;
};

/// Find the best cut as `scan_quickly` does, from the rows of a leaf and their pairs.
Cut scan_rows(const ListedRows& listed, Array<const u64> block, i64 lane, i64 bins, i64 missing, const Leaf& leaf,
              double min_worth) {
    auto [rows, row_pairs, histogram, places, filled] = listed;
    const int shift = int(8 * (lane & 7));
    for (i64 w = 0; w < 4; ++w) filled[w] = 0;
    for (i64 k = 0; k < rows.size(); ++k) {
        u64 code = (block[rows[k]] >> shift) & 255;
        histogram[i64(code)] += row_pairs[k];
        filled[i64(code >> 6)] |= u64(1) << (code & 63);
    }
    i64 absent = histogram[missing];
    histogram[missing] = 0;
    filled[missing >> 6] &= ~(u64(1) << (missing & 63));
    i64 count = 0, below = 0;
    Wholes sums = leaf.sums;
    for (i64 w = 0; w < 4; ++w)
        for (u64 bits = filled[w]; bits != 0; bits &= bits - 1) {
            i64 b = 64 * w + std::countr_zero(bits);
            below += histogram[b];
            histogram[b] = 0;
            sums[count] = below, places[count] = b;
            count += 1;
        }
    const double weight = weight_of(leaf.total);
    Cut found{min_worth, -1, false};
    i64 without_last = count > 0 && places[count - 1] == bins - 1 ? count - 1 : count;
    for (int way = 0; way < (absent != 0 ? 2 : 1); ++way) {  // missing values right, then left
        if (way == 1)
            for (i64 k = 0; k < count; ++k) sums[k] += absent;
        i64 n_cuts = absent != 0 && way == 0 ? count : without_last;
        auto [best, place] = best_of(sums.slice(0, n_cuts), leaf, found.worth);
        found.worth = best;
        if (place >= 0) {
            double left_weight = weight_of(sums[place]);
            found.cut = places[place];
            found.missing_left = absent != 0 ? way == 1 : left_weight >= weight - left_weight;
        }
    }
    return found;
}

/// Find the best cut of a feature as `scan_quickly` does, from the histogram of its lane.
INLINE Cut scan_lane(Array<const i64> lane, Feature feature, i64 missing, const Leaf& leaf, double min_worth,
                     Wholes counts) {
    i64 bins = feature[BINS], standard = feature[DEFAULT];
    Array<const i64> line = lane;
    i64 absent = standard < 0 ? line[missing] : 0;  // none in shared lanes
    if (bins == 2 && absent == 0) {
        i64 below = standard < 0 ? line[0] : line[feature[BASE]];
        return scan_only(standard == 0 ? leaf.total - below : below, leaf, min_worth);
    }
    if (standard >= 0) {
        open_feature(lane, feature, missing, leaf.total, counts);
        line = counts;
    }
    return scan_quickly(line.slice(0, bins), absent, leaf, min_worth);
}

}  // namespace

double worth(i64 criterion, Array<const double> pulls, double weight, double penalty) {
    if (pulls.size() == 1) return worth_of_one(criterion, pulls[0], weight, penalty);
    double total = 0.0;
    for (double pull : pulls) total += pull * pull;
    return total / (weight + penalty);
}

Cut scan_quickly(Array<const i64> histogram, i64 absent, const Leaf& leaf, double min_worth) {
    const double weight = weight_of(leaf.total);
    Wholes sums = leaf.sums;
    Cut found{min_worth, -1, false};
    for (int way = 0; way < (absent != 0 ? 2 : 1); ++way) {  // missing values right, then left
        i64 below = way == 1 ? absent : 0, count = 0;
        const i64 bins = histogram.size() - (absent != 0 && way == 0 ? 0 : 1);
        for (i64 b = 0; b < bins; ++b) {
            below += histogram[b];
            sums[count] = below;
            count += histogram[b] != 0;
        }
        auto [best, place] = best_of(sums.slice(0, count), leaf, found.worth);
        found.worth = best;
        if (place >= 0) {
            double left_weight = weight_of(sums[place]);
            i64 cut = -1;
            while (place >= 0) cut += 1, place -= histogram[cut] != 0;  // count back to the bin
            found.cut = cut;
            found.missing_left = absent != 0 ? way == 1 : left_weight >= weight - left_weight;
        }
    }
    return found;
}

void open_feature(Array<const i64> lane, Feature feature, i64 missing, i64 total, Wholes out) {
    i64 bins = feature[BINS], standard = feature[DEFAULT];
    if (standard < 0) {
        for (i64 b = 0; b < bins; ++b) out[b] = lane[b];
        out[bins] = lane[missing];
        return;
    }
    i64 code = feature[BASE];
    for (i64 b = 0; b < bins; ++b)
        if (b != standard) out[b] = lane[code], total -= lane[code], code += 1;
    out[standard] = total;
    out[bins] = 0;
}

Worth scan(const SplitSearch& search, Array<const i64, 2> histogram, Array<const u32> rows, Array<const i64> pairs,
           i64 size, Wholes best) {
    auto features = search.codes.features;
    i64 missing = search.codes.missing;
    if (search.first == search.last) return {0.0, 0.0};
    i64 own_counts[CODES], own_sums[CODES], own_pairs[MAX_LISTED_ROWS], own_places[MAX_LISTED_ROWS];
    alignas(64) double own_worth[CODES];
    u64 own_filled[4];
    Wholes counts = array_on(own_counts), row_pairs = array_on(own_pairs);
    i64 total = 0;
    if (rows.size() > 0) {
        for (i64 k = 0; k < rows.size(); ++k) row_pairs[k] = pairs[rows[k]], total += row_pairs[k];
        for (i64 b = 0; b < CODES; ++b) counts[b] = 0;
    } else {  // every lane counts all rows: use one that is read anyway
        for (i64 pair : histogram[features(search.first, LANE)]) total += pair;
    }
    double weight = weight_of(total), pull = pull_of(total), penalty = search.rules[PENALTY];
    double min_weight = min_weight_of(search.rules, weight, size);
    if (weight < 2 * min_weight) return {0.0, 0.0};
    double before = pull * pull / (weight + penalty);
    double min_worth = before + NOISE * before, after = min_worth;
    Leaf leaf{total, penalty, min_weight, array_on(own_sums), array_on(own_worth)};
    ListedRows listed{rows, row_pairs, counts, array_on(own_places), array_on(own_filled)};
    for (i64 j = search.first; j < search.last; ++j) {
        if (!search.allowed[j]) continue;
        Feature feature = features[j];
        i64 bins = feature[BINS], lane = feature[LANE];
        Cut found = rows.size() > 0 ? scan_rows(listed, search.codes.words[lane >> 3], lane, bins, missing, leaf, after)
                                    : scan_lane(histogram[lane], feature, missing, leaf, after, counts);
        after = found.worth;
        if (found.cut >= 0) best[FEATURE] = j, best[CUT] = found.cut, best[MISSING_LEFT] = found.missing_left;
    }
    if (after > min_worth) return {after, before};
    return {before, before};
}

}  // namespace pacboost
