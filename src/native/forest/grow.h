/// Grow one tree of a forest, down to pure leaves: depth first, rows sorted in place.
///
/// Features are drawn without replacement until `tries` are drawn and one of them is not constant.
/// Features that are constant in a node are so below it: they stay at the front of the list.
#pragma once

#include <vector>

#include "core/array.h"

namespace pacboost::forest {

/// What all trees of a forest have in common; kernels/cuda/forest.cuh has the same order.
struct Plan {
    i64 classes;
    /// The code of missing values.
    i64 missing;
    /// How many features are drawn at a node.
    i64 tries;
    /// The minimum rows of a leaf, and of a node that is split.
    i64 least, smallest;
    i64 deepest;
    /// Whether each feature is cut once, at random.
    i64 random;
};

/// A tree as it is stored (node.h): its nodes, the distributions of leaves that are not pure, one
/// after the other, and the total gain of the splits on each feature.
struct Tree {
    std::vector<u64> nodes;
    std::vector<float> table;
    std::vector<double> gains;
};

/// Grow the tree of a bag.
///
/// `columns` are the codes of all rows, column by column, and `lines` the same row by row. `parcels`
/// and `weights` are those of all rows (cuts.h); `counts` is how often each row is in the bag. `unit`
/// turns the target of a parcel into a number; `lightest` is the minimum share of the weight in a leaf.
/// If nothing is missing at a split, missing values go where the code in `medians` goes.
Tree grow_tree(Array<const u8, 2> columns, Array<const u8, 2> lines, Array<const i64> parcels, Array<const i64> weights,
               Array<const i64> counts, double unit, double lightest, Array<const i64> medians, const Plan& plan,
               u64 seed);

}  // namespace pacboost::forest
