/// Walk rows down the trees of a forest, and sum the values of their leaves.
///
/// Several rows go down a tree side by side: while one waits for its node to come from memory, the
/// others move on.
#pragma once

#include "core/array.h"

namespace pacboost::forest {

/// Write the place, within its tree, of the leaf of each row. The tree begins at node `first`.
void find_leaves(Array<const u8, 2> lines, Array<const u64> nodes, i64 first, i64 missing, Wholes places);

/// Add the value of every row's leaf, tree by tree, to the sums (rows, classes), or (rows, 1) for numbers.
///
/// Tree t has the nodes from `firsts[t]` to `firsts[t + 1]`, and its distributions begin at line
/// `bases[t]` of the table. If `hard`, a tree adds 1 for its class: the mode of a distribution, or numbers
/// above 0.5.
void add_values(Array<const u8, 2> lines, Array<const u64> nodes, Array<const i64> firsts, Array<const float, 2> table,
                Array<const i64> bases, i64 missing, bool hard, Array<double, 2> sums);

}  // namespace pacboost::forest
