/// The best cut of one feature in one node of a forest's tree, on the codes of the node's rows.
///
/// The weight and target of a row are packed into one integer, its parcel. For two classes and for
/// regression, the best cut minimizes the squared error: it maximizes ΣL²/WL + ΣR²/WR, where W are sums
/// of weights and Σ sums of weighted targets (with targets 0 and 1 that is Gini's index, Breiman et al.
/// 1984). With many classes, every class has such a target, and squares are summed over classes.
///
/// Only codes that occur in a node are visited: rows set a mark at their code, and marks are folded to
/// bits, 64 in a word.
#pragma once

#include <memory>

#include "forest/grow.h"

namespace pacboost::forest {

constexpr i64 CODES = 256;
/// Two classes: weight·target << 32 | weight.
constexpr i64 LOW = 0xFFFFFFFF;
/// Many classes: weight << 16 | class.
INLINE i64 class_of(i64 parcel) { return parcel & 0xFFFF; }
INLINE double weight_of(i64 parcel) { return double(parcel >> 16); }

/// The work space of one tree.
struct Desk {
    Desk(i64 size, i64 features, bool is_weighted, const Plan& plan, u64 seed);

    const Plan plan;
    const i64 size;
    const i64 n_features;
    /// 0 unless there are more than two.
    const i64 classes;
    const bool is_weighted;
    /// The rows of the bag; then their parcels, and their weights if these are separate.
    std::unique_ptr<u32[]> rows;
    std::unique_ptr<i64[]> parcels, weights;
    std::unique_ptr<u32[]> spare_rows;
    std::unique_ptr<i64[]> spare;
    /// Two lines: the current feature, and the best one so far.
    std::unique_ptr<u8[]> codes[2];
    std::unique_ptr<i32[]> chain;
    std::unique_ptr<i64[]> features;
    u64 state;

    alignas(64) u8 marks[CODES] = {};
    /// By code: the sums of weights and weighted targets, and the numbers of rows.
    i64 heavy[CODES] = {}, pulls[CODES] = {}, counts[CODES] = {};
    /// By code: the first row of its chain, or the number of rows minus 1.
    i64 heads[CODES];
    /// The codes that occur, in order.
    i64 present[CODES];
    i64 node_weight = 0, node_pull = 0;

    /// By class: the weights of each code, of the node, and of the left side.
    std::unique_ptr<double[]> of_codes, of_node, of_left;
    /// The node's weight and the sum of its classes' squares.
    double class_weight = 0, class_square = 0;
};

/// The cut of a feature: larger codes go right, and missing values go left if `side` is 1. The score is
/// below 0 if there is none.
struct Cut {
    double score;
    i64 code, side;
};

/// The codes that go right: those whose difference to the first, as a byte, is below `span`.
struct RightSide {
    u8 first, span;
    RightSide(const Plan& plan, i64 cut, i64 side)
        : first(u8(cut + 1)), span(u8((side == 1 ? std::min(plan.missing, CODES) : CODES) - cut - 1)) {}
    INLINE bool has(u8 code) const { return u8(code - first) < span; }
    /// All bits if the code goes right, else none: GCC makes vectors of sums with masks, not of choices.
    INLINE i64 mask(u8 code) const { return -i64(has(code)); }
};

/// Draw one of 0 … limit - 1 by splitmix64, uniformly up to limit/2³² (limit < 2³²).
i64 below(u64& state, i64 limit);

/// The best cut of the rows from `start` on, whose codes are in a line of the desk and lie between `low`
/// and `high`. Each side has at least `least` rows of the plan and the weight `lightest`.
Cut best_of_numbers(Desk& desk, i64 line, i64 start, i64 size, i64 low, i64 high, double lightest);
Cut best_of_classes(Desk& desk, i64 line, i64 start, i64 size, i64 low, i64 high, double lightest);

/// The score of a given cut.
double score_of_cut(Desk& desk, i64 line, i64 start, i64 size, i64 cut, i64 side, double lightest);

}  // namespace pacboost::forest
