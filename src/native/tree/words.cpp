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

}  // namespace pacboost
