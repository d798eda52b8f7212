/// Histograms of signed weights for stumps, updated from round to round.
///
/// All sums are of integers, so a histogram that is updated by the *changes* of the weights equals one
/// that is counted anew. AdaBoost changes about half of the weights in a round; the other half is
/// neither read nor added.
#pragma once

#include "stumps/scan.h"
#include "team/team.h"

namespace pacboost {

/// The feature of a stump, the place of its cut, and the sum above minus the sum below.
struct BestStump {
    i64 feature, place, difference;
};

/// Find the first cut of the first feature whose edge is within `slack` of the largest.
BestStump first_stump(Array<const i64, 2> histogram, Array<const i64> edges, i64 missing, i64 slack);

/// Update the histograms by the changes of the signed weights since `counted_weights`, and write the
/// largest edge of a cut of every feature, and the sum of the weights in parts, one for each member.
///
/// Each member of a team takes a share of the rows. All but the first count into `partial`, which is
/// then added by shares of the columns.
template <class Code>
void largest_edges(const Member& member, Array<const Code, 2> codes, Array<const i64> weights, Array<const i8> signs,
                   Wholes counted_weights, i64 missing, Array<i64, 2> histogram, Array<i64, 3> partial, Wholes edges,
                   Wholes totals);

}  // namespace pacboost
