/// Where the rows of a leaf go: the bins of codes, and the sides of a split.
#pragma once

#include "team/team.h"
#include "tree/layout.h"

namespace pacboost {

/// The bin of a feature for a code of its lane.
INLINE i64 bin_of(i64 code, Feature feature) {
    i64 standard = feature[DEFAULT], b = code;
    if (standard < 0) return b;
    b -= feature[BASE];
    if (b < 0 || b >= feature[BINS] - 1) return standard;  // the code of another feature: this one has its default
    return b + i64(b >= standard);
}

/// Whether the rows in a bin go left at a split.
INLINE bool is_left(i64 b, Feature feature, Array<const i64> split, Array<const u8> members, i64 missing) {
    if (feature[CATEGORY]) return members[b] != 0;
    return b == missing ? split[MISSING_LEFT] != 0 : b <= split[CUT];
}

/// Write, for every code of the lane, whether it goes left.
void sides(Feature feature, Array<const i64> best, Array<const u8> members, i64 missing, Bytes goes_left);

/// Write rows that go left to the front of `out`, the others to its end, last one first; return how many
/// went left.
i64 part(Array<const u64> block, int shift, Array<const u8> goes_left, Array<const u32> rows, Rows out);

/// Write the leaf of every row from `first` to before `last`.
///
/// The rows of a leaf ascend. Threads divide the rows by their numbers, not by their leaves, so they
/// never write to the same cache line.
template <class Cell>
void label(Array<const u32> order, Array<const i64> starts, Array<const i64> sizes, i64 first, i64 last,
           Array<Cell> cells) {
    for (i64 leaf = 0; leaf < starts.size(); ++leaf) {
        i64 low = starts[leaf], high = low + sizes[leaf], end = high;
        while (low < high) {
            i64 middle = (low + high) / 2;
            if (order[middle] < first)
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < end && order[low] < last; ++low) cells[order[low]] = Cell(leaf);
    }
}

}  // namespace pacboost
