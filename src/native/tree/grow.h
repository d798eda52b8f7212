/// Grow one tree with a team of threads, whose members stay in `grow_tree` until it is grown.
///
/// Rows are divided evenly for sorting and counting, lanes for merging the counts of members, and
/// features for the search of splits. The last member to reach a barrier chooses the next leaf and
/// records its split. All sums are of integers, and the first of equal splits is chosen, so the tree
/// does not depend on the team. Leaves of few rows have no histograms: their splits are found from the
/// rows.
#pragma once

#include <optional>

#include "team/team.h"
#include "tree/layout.h"

namespace pacboost {

/// Grow a tree on the chosen rows of `tree`, and write the leaf of every row to its cells.
///
/// `spans` is empty in the common case of split.h, and `interactions` if all features may interact. It
/// ends early, with the leaves it has, if the team's board says stop.
template <class Cell>
void grow_tree(const Member& member, const TreeArrays<Cell>& tree, const std::optional<Spans>& spans = {},
               const std::optional<Interactions>& interactions = {});

}  // namespace pacboost
