/// Histograms of the pairs of rows: (lines, lanes, codes) for each leaf.
///
/// Eight codes of a row are in one word, so that one load serves eight histograms. Sums of integers are
/// the same in any order.
#pragma once

#include "team/team.h"
#include "tree/layout.h"

namespace pacboost {

/// Count rows into histogram `new_leaf`, and subtract the counts from the one in `slot`.
///
/// Parts of the rows are counted separately and then added. If there are fewer parts than members,
/// these also divide the blocks; otherwise a member that is ready takes the next part, because cores
/// are not equally fast. Return the lanes that this member updated.
Span count_rows(const Member& member, const GrowingTree& tree, Array<const u32> rows, i64 new_leaf, i64 slot);

/// Subtract a few rows from the histograms of their former leaf. Members divide the blocks of lanes;
/// return this member's lanes.
Span subtract_rows(const Member& member, const GrowingTree& tree, Array<const u32> rows, i64 slot);

}  // namespace pacboost
