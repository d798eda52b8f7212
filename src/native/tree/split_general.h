/// The search for the best split of a node over all kinds of features, outputs and constraints.
///
/// docs/decisions/0018-orders-of-levels.md explains why the levels of a category have several orders.
#pragma once

#include <vector>

#include "tree/split.h"

namespace pacboost {

/// The sums of a node, by output, and the rules for its splits.
struct NodeTotals {
    Array<const i64> total;
    Floats rules;
    /// The smallest and the largest mean pull that monotone splits above allow here.
    Array<const double> span;
    double min_weight;
    /// Minimum weight of a level of a category.
    double min_level_weight;
};

/// Space for the cuts of one feature.
class CutRoom {
 public:
    explicit CutRoom(i64 lines) : memory_(std::size_t(lines * CODES)), sums{memory_.data(), {lines, CODES}} {}
    CutRoom(const CutRoom&) = delete;
    CutRoom& operator=(const CutRoom&) = delete;

 private:
    std::vector<i64> memory_;

 public:
    /// (lines, cuts): the sums below each cut.
    Array<i64, 2> sums;
    i64 filled[CODES], cuts[CODES], codes[CODES];
    double worth[CODES], above[CODES];
};

/// Find the cut of one feature that is worth most, and over `min_worth`.
///
/// The histogram is (lines, bins), `missing` last; levels are taken in an order. What is returned is the
/// worth of the sides minus `chance`. Empty bins are skipped, as in `scan_quickly`.
Cut scan_feature(const NodeTotals& node, Array<const i64, 2> histogram, Feature feature, Array<const i64> order,
                 double min_worth, double chance, CutRoom& room);

/// Find the best split over some features, and write it to `best` and `members`.
///
/// The root writes the order of the levels of categories to `orders` and `evidence` of the codes, and
/// other nodes read them. The first of equal splits is chosen. If `rows` is not empty, their words and
/// `pairs` (lines, rows) are used in place of the histogram (lines, lanes, codes); each lane then holds
/// one feature.
Worth scan_general(const SplitSearch& search, Array<const i64, 3> histogram, Array<const u32> rows,
                   Array<const i64, 2> pairs, i64 size, Array<const double> span, bool at_root, Wholes best,
                   Bytes members);

}  // namespace pacboost
