/// Score rows from their codes: by trees, and by tables of single features.
///
/// There are two ways through a tree. A few rows walk down it, one after the other. For more, all
/// splits are evaluated on a tile of rows, the last one first: the leaf below a split is chosen, row by
/// row, between those below its two children. That is more work than a walk, but no step waits for
/// another and none has a branch: 32 rows or more take it with one instruction (measured on 31
/// leaves: a twentieth of the time of a walk).
#pragma once

#include "core/array.h"

namespace pacboost {

/// A split of a scored tree. A child is the number of a later split, or ~leaf.
struct ScoredSplit {
    i32 feature, cut, missing_left, left, right;
    /// The line of the subset of codes that go left, or -1 for a cut: codes above `cut` go right.
    i32 member;
};

/// Add the values of every tree to the scores (rows, outputs), from row `start` on.
///
/// A line of `nodes` is a `ScoredSplit`. A line of `trees` holds the first split of a tree, the number
/// of its splits, and its first line of `values`.
template <class Code>
void score_trees(Array<const Code, 2> codes, Array<const i32, 2> nodes, Array<const u8, 2> members, i64 missing,
                 Array<const i64, 2> trees, Array<const double, 2> values, i64 start, Array<double, 2> scores);

/// Add tables[f, code, k] of some features to the scores (rows, outputs), from row `start` on.
template <class Code>
void score_tables(Array<const Code, 2> codes, Array<const i64> features, Array<const double, 3> tables, i64 start,
                  Array<double, 2> scores);

}  // namespace pacboost
