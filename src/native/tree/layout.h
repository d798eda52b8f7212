/// The arrays that kernels and learners of trees share, and their numbered columns and places.
///
/// Python builds these structs once for a search: kernels/layout.py has the same fields in the same
/// order, and the same numbers.
#pragma once

#include "core/array.h"
#include "core/places.h"

namespace pacboost {

/// Places in `plan`: the leaf to split or -1, the number of its right part, the number of leaves,
/// whether to search the parts, and whether the left part is the one that is counted.
enum : i64 { LEAF, NEW, LEAVES, SEARCH, LEFT_COUNTED };

/// Places in `limits`: the number of features drawn for a split, the maximum depth, the random key, and
/// the maximum number of rows of a leaf without histograms.
enum : i64 { DRAWN, DEEPEST, KEY, LISTED };

/// A line of `features`.
using Feature = Array<const i64>;

/// The rows of a sample, and the orders of levels at the root.
struct Codes {
    /// (blocks, rows): eight codes of a row in a word, a byte (lane) for each.
    Array<const u64, 2> words;
    Array<const i64, 2> features;
    i64 lanes, missing;
    Array<u8, 2> orders;
    Floats evidence;
};

/// The state of each leaf, one line for each.
struct Leaves {
    Wholes starts, sizes, slots;
    Array<i64, 2> best;
    Array<u8, 2> members;
    Floats gains;
    /// The parent split, and the column of the leaf's side there.
    Array<i64, 2> hangs;
    Wholes depths;
};

/// The splits of the tree, one line for each.
struct Splits {
    Array<i64, 2> columns;
    Array<u8, 2> members;
    Floats gains;
};

/// The results of the members of a team, one line for each, which may be longer than needed.
struct TeamFindings {
    Array<i64, 2> lefts;
    Array<double, 2> worth;
    Array<i64, 3> best;
    Array<u8, 3> members;
    Array<u8, 2> sides, allowed;
    Array<i64, 2> decks;
};

/// All that a tree is grown on and in; pairs are (lines, rows).
struct GrowingTree {
    Codes codes;
    /// The rows that the tree is grown on, ascending; none means all.
    Rows chosen;
    /// The same, sorted by leaves in the end.
    Rows rows, spare;
    Array<i64, 2> pairs;
    /// (leaves, lines, lanes, codes); `partial` has one for each other member that counts.
    Array<i64, 4> histogram, partial;
    Floats rules;
    Leaves leaves;
    Splits splits;
    /// (splits, codes): whether rows with a code in the split's lane go left.
    Array<u8, 2> sides;
    TeamFindings findings;
    Wholes plan, limits;
};

/// The same, and the leaf of every row, in the end.
template <class Cell>
struct TreeArrays : GrowingTree {
    Array<Cell> cells;
};

/// The smallest and the largest mean pull that monotone splits above allow in each leaf.
using Spans = Array<double, 2>;

/// Which features may interact, and the state of each leaf, one line for each.
///
/// The features on the path from the root to a leaf must all be in one of the sets, or there may be at
/// most `max_features` different ones.
struct Interactions {
    /// (sets, features): the members of each set; without sets, `max_features` is the rule.
    Array<const u8, 2> sets;
    i64 max_features;
    /// The share of the features open to a leaf that are drawn for each split.
    double share;
    /// (leaves, sets): the sets that hold all features on the path to the leaf.
    Array<u8, 2> reach;
    /// (leaves, features): the features on the path to the leaf.
    Array<u8, 2> asked;
    /// (leaves, features): the features that may split the leaf.
    Array<u8, 2> open;
};

}  // namespace pacboost
