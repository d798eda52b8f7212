/// The leaves of a tree that grows: which one is split next, and what its parts inherit.
#pragma once

#include "tree/layout.h"

namespace pacboost {

/// The leaf whose split gains most, the first of equals; -1 if none gains anything.
i64 next_leaf(Array<const double> gains, i64 leaves);

/// Record the split of a leaf: its left part keeps the number, its right part is `new_leaf`.
void record(Array<const i64, 2> features, const Leaves& leaves, const Splits& splits, i64 leaf, i64 new_leaf);

/// Pass the span of a leaf on to its parts, whose pairs sum to these; a monotone split divides it between
/// their means.
void narrow(i64 left_total, i64 right_total, Array<const i64, 2> features, const Leaves& leaves, Spans spans, i64 leaf,
            i64 new_leaf);

}  // namespace pacboost
