/// The best cut of a stump on the histogram of a feature; learners/stump.py has the equations.
#pragma once

#include "core/array.h"

namespace pacboost {

/// A cut, its edge, and the sum above it minus the sum below; the place is -1 if there is none.
struct StumpCut {
    i64 edge, place, difference;
};

/// No edge reaches this.
constexpr i64 NEVER = std::numeric_limits<i64>::max();

/// Find the first cut whose edge reaches `min_edge`; if there is none, only the largest edge is known.
/// The histogram has the sums of `missing` bins, and then that of missing values.
INLINE StumpCut scan_stump(Array<const i64> histogram, i64 missing, i64 min_edge) {
    i64 present = 0, below = 0, largest = -1, absent = std::abs(histogram[missing]);
    for (i64 b = 0; b < missing; ++b) present += histogram[b];
    for (i64 b = 0; b < missing; ++b) {
        below += histogram[b];
        i64 difference = present - 2 * below, edge = std::abs(difference) + absent;
        if (edge >= min_edge) return {edge, b, difference};
        largest = std::max(largest, edge);
    }
    return {largest, -1, 0};
}

}  // namespace pacboost
