#include "tree/words.h"

namespace pacboost {

void place(Array<const u8, 2> codes, Array<const u8, 2> maps, Array<const i64, 2> features, Array<u64, 2> words,
           i64 first, i64 last, Wholes clashes) {
    for (i64 j = 0; j < features.shape[0]; ++j) {
        const i64 lane = features(j, LANE), size = last - first;
        const int shift = int(8 * (lane & 7));
        Array<const u8> own = codes[j], map = maps[j];
        Words block = words[lane >> 3].slice(first, last);
        if (features(j, DEFAULT) < 0) {
            for (i64 k = 0; k < size; ++k) block[k] |= u64(own[k]) << shift;
            continue;
        }
        for (i64 k = 0; k < size; ++k) {
            const u8 code = map[own[k]];
            clashes[j] += code == NO_PLACE || (code != 0 && ((block[k] >> shift) & 255) != 0);
            block[k] |= u64(code) << shift;
        }
    }
}

template <class Cell>
void settle(const Member& member, Array<const u64, 2> words, Array<const i64> lanes, Array<const u8, 2> sides,
            Array<const i32> left, Array<const i32> right, Array<const i64> chosen, Array<Cell> cells) {
    auto [first, last] = own_share(chosen.size() + 1, member);
    const i64 root = lanes.size() > 0 ? 0 : -1;
    for (i64 k = first; k < last; ++k) {  // the rows after drawn row k - 1 and before drawn row k
        const i64 begin = k > 0 ? chosen[k - 1] + 1 : 0, end = k < chosen.size() ? chosen[k] : cells.size();
        for (i64 row = begin; row < end; ++row) {
            i64 at = root;
            while (at >= 0) {
                const i64 lane = lanes[at];
                const i64 code = i64((words(lane >> 3, row) >> (8 * (lane & 7))) & 255);
                at = sides(at, code) ? left[at] : right[at];
            }
            cells[row] = Cell(~at);
        }
    }
}

template void settle(const Member&, Array<const u64, 2>, Array<const i64>, Array<const u8, 2>, Array<const i32>,
                     Array<const i32>, Array<const i64>, Array<u8>);
template void settle(const Member&, Array<const u64, 2>, Array<const i64>, Array<const u8, 2>, Array<const i32>,
                     Array<const i32>, Array<const i64>, Array<u16>);

}  // namespace pacboost
