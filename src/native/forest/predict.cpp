#include "forest/predict.h"

#include <bit>

#include "forest/node.h"

namespace pacboost::forest {
namespace {

constexpr i64 ROWS_SIDE_BY_SIDE = 8;

/// Walk `n` rows down a tree, to `places`.
INLINE void descend(const u8* line, i64 width, i64 n, const u64* tree, i64 missing, i64* places) {
    for (i64 k = 0; k < n; ++k) places[k] = 0;
    for (bool is_moving = true; is_moving;) {
        is_moving = false;
        for (i64 k = 0; k < n; ++k) {
            u64 node = tree[places[k]], feature = feature_of(node);
            if (feature == LEAF) continue;
            i64 code = line[k * width + i64(feature)];
            int goes_left = int(code <= cut_of(node)) | (int(code == missing) & int(sends_missing_left(node)));
            places[k] = goes_left ? places[k] + 1 : i64(payload_of(node));
            is_moving = true;
        }
    }
}

/// Walk all rows, some side by side, and show the place of each row's leaf.
template <class See>
INLINE void walk(Array<const u8, 2> lines, const u64* tree, i64 missing, const See& see) {
    i64 rows = lines.shape[0], width = lines.shape[1], row = 0, places[ROWS_SIDE_BY_SIDE];
    for (; row + ROWS_SIDE_BY_SIDE <= rows; row += ROWS_SIDE_BY_SIDE) {
        descend(lines.data + row * width, width, ROWS_SIDE_BY_SIDE, tree, missing, places);
        for (i64 k = 0; k < ROWS_SIDE_BY_SIDE; ++k) see(row + k, places[k]);
    }
    descend(lines.data + row * width, width, rows - row, tree, missing, places);
    for (i64 k = 0; k < rows - row; ++k) see(row + k, places[k]);
}

}  // namespace

void find_leaves(Array<const u8, 2> lines, Array<const u64> nodes, i64 first, i64 missing, Wholes places) {
    walk(lines, nodes.data + first, missing, [&](i64 row, i64 place) { places[row] = place; });
}

void add_values(Array<const u8, 2> lines, Array<const u64> nodes, Array<const i64> firsts, Array<const float, 2> table,
                Array<const i64> bases, i64 missing, bool hard, Array<double, 2> sums) {
    i64 classes = sums.shape[1];
    for (i64 t = 0; t < firsts.size() - 1; ++t) {
        const u64* tree = nodes.data + firsts[t];
        if (classes == 1) {
            walk(lines, tree, missing, [&](i64 row, i64 place) {
                double value = std::bit_cast<float>(payload_of(tree[place]));
                sums(row, 0) += hard ? double(value > 0.5) : value;
            });
            continue;
        }
        walk(lines, tree, missing, [&](i64 row, i64 place) {
            i64 payload = payload_of(tree[place]);
            double* own = sums[row].data;
            if (payload < classes) {
                own[payload] += 1;
                return;
            }
            const float* shares = table[bases[t] + payload - classes].data;
            if (hard)
                own[std::max_element(shares, shares + classes) - shares] += 1;
            else
                for (i64 c = 0; c < classes; ++c) own[c] += double(shares[c]);
        });
    }
}

}  // namespace pacboost::forest
