/// Grow a tree on sparse columns of codes: part the rows, divide the lists, scan the columns.
///
/// A leaf has a *run* in every column that lists some of its rows: those rows, one after the other. A
/// split divides each run in place, so a leaf never reads rows of another; columns that list none of
/// its rows cannot split it.
///
/// One side of a split holds only rows that its column lists, and needs a minimum weight: a column
/// that lists few rows of a leaf cannot split it. Runs shorter than half of that are dropped. If a
/// leaf further down allows shorter ones, its rows are listed anew, so the trees are unaffected.
///
/// Members of a team divide the runs of a leaf, by the rows that they list. What follows from their
/// results is done by the last of them to reach a barrier. All sums are of integers, and the first of
/// equal splits is chosen, so the tree does not depend on the team.
#pragma once

#include <optional>

#include "sparse/columns.h"
#include "tree/layout.h"

namespace pacboost {

/// All that a tree is grown on and in; kernels/sparse.py has the same fields in the same order.
struct SparseTree {
    SparseColumns<u8> columns;
    Array<const i64, 2> features;
    i64 missing;
    /// The rows of the tree come first, in ascending order; they are sorted by leaves.
    Rows order;
    Array<const i64, 2> pairs;
    Floats rules;
    Leaves leaves;
    Splits splits;
};

/// The limits of one tree.
struct SparseLimits {
    /// How many features are drawn for a split.
    i64 drawn;
    i64 deepest;
    /// The random key.
    u64 key;
};

/// Grow a tree with a team of at most `team` threads, write the leaf of each of its rows to `cells`, and
/// return the number of leaves.
///
/// `spans` is empty in the common case of tree/split.h, and `interactions` if all features may interact.
/// If `poll` says so (team.h), it ends early, with the leaves it has.
template <class Cell>
i64 grow_sparse_tree(i64 team, const SparseTree& tree, const SparseLimits& limits, const std::optional<Spans>& spans,
                     const std::optional<Interactions>& interactions, Array<Cell> cells, bool (*poll)());

}  // namespace pacboost
