#include "tree/route.h"

namespace pacboost {
namespace {
constexpr i64 ROWS_TO_PREFETCH = 32;
}

void sides(Feature feature, Array<const i64> best, Array<const u8> members, i64 missing, Bytes goes_left) {
    const i64 cut = best[CUT];
    if (feature[DEFAULT] < 0 && !feature[CATEGORY]) {  // the common case, in a vectorized loop
        for (i64 code = 0; code < CODES; ++code) goes_left[code] = code <= cut;
        goes_left[missing] = u8(best[MISSING_LEFT]);
        return;
    }
    for (i64 code = 0; code < CODES; ++code)
        goes_left[code] = is_left(bin_of(code, feature), feature, best, members, missing);
}

// Every row is written to both sides, and only one side moves on: no branch to mispredict. Both places
// of a row are free: they meet at the last row only.
i64 part(Array<const u64> block, int shift, Array<const u8> goes_left, Array<const u32> rows, Rows out) {
    const i64 size = rows.size();
    u64 l = 0, r = u64(size - 1);
    const u32* from = rows.data;
    u32* to = out.data;
    for (i64 k = 0; k < size; ++k) {
        prefetch(&block.data[from[std::min(k + ROWS_TO_PREFETCH, size - 1)]]);
        u32 row = from[k];
        u64 to_left = goes_left[i64((block[row] >> shift) & 255)];
        to[l] = row;
        to[r] = row;
        l += to_left;
        r -= 1 - to_left;
    }
    return i64(l);
}

}  // namespace pacboost
