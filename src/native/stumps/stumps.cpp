#include "stumps/stumps.h"

namespace pacboost {
namespace {

/// The changes of a tile, 192 kB, stay in the cache while all columns are updated.
constexpr i64 ROWS_PER_TILE = 16'384;

/// Add the changes since `counted_weights` to the histograms; return the sum of the weights.
///
/// Arrays but `codes` are those of the rows from `first` on. Four columns are updated at a time: each
/// change is read once for four additions to different histograms, which the processor can overlap.
template <class Code>
i64 update(Array<const Code, 2> codes, Array<const i64> weights, Array<const i8> signs, Wholes counted_weights,
           i64 first, Array<i64, 2> histogram) {
    u32 rows[ROWS_PER_TILE];
    i64 change[ROWS_PER_TILE];
    i64 total = 0;
    const i64 columns = codes.shape[0];
    for (i64 part = 0; part < weights.size(); part += ROWS_PER_TILE) {
        const i64 size = std::min(ROWS_PER_TILE, weights.size() - part);
        const i64* weight = weights.data + part;
        const i8* sign = signs.data + part;
        i64* counted = counted_weights.data + part;
        i64 count = 0;
        for (i64 i = 0; i < size; ++i) {
            total += weight[i];
            i64 signed_weight = weight[i] * sign[i], difference = signed_weight - counted[i];
            counted[i] = signed_weight;
            rows[count] = u32(first + part + i);
            change[count] = difference;
            count += difference != 0;
        }
        i64 j = 0;
        for (; j + 4 <= columns; j += 4) {
            const Code *c0 = codes[j].data, *c1 = codes[j + 1].data, *c2 = codes[j + 2].data, *c3 = codes[j + 3].data;
            i64 *h0 = histogram[j].data, *h1 = histogram[j + 1].data, *h2 = histogram[j + 2].data,
                *h3 = histogram[j + 3].data;
            for (i64 k = 0; k < count; ++k) {
                u32 i = rows[k];
                i64 d = change[k];
                h0[c0[i]] += d;
                h1[c1[i]] += d;
                h2[c2[i]] += d;
                h3[c3[i]] += d;
            }
        }
        for (; j < columns; ++j) {
            const Code* c0 = codes[j].data;
            i64* h0 = histogram[j].data;
            for (i64 k = 0; k < count; ++k) h0[c0[rows[k]]] += change[k];
        }
    }
    return total;
}

}  // namespace

BestStump first_stump(Array<const i64, 2> histogram, Array<const i64> edges, i64 missing, i64 slack) {
    i64 min_edge = *std::max_element(edges.begin(), edges.end()) - slack, feature = 0;
    while (edges[feature] < min_edge) ++feature;
    StumpCut cut = scan_stump(histogram[feature], missing, min_edge);
    return {feature, cut.place, cut.difference};
}

template <class Code>
void largest_edges(const Member& member, Array<const Code, 2> codes, Array<const i64> weights, Array<const i8> signs,
                   Wholes counted_weights, i64 missing, Array<i64, 2> histogram, Array<i64, 3> partial, Wholes edges,
                   Wholes totals) {
    auto [a, b] = own_share(weights.size(), member);
    auto into = histogram;
    if (member.number > 0) {
        into = partial[member.number - 1];
        std::fill_n(into.data, into.size(), 0);
    }
    totals[member.number] = update(codes, weights.slice(a, b), signs.slice(a, b), counted_weights.slice(a, b), a, into);
    meet(member);
    auto [first, last] = own_share(codes.shape[0], member);
    for (i64 j = first; j < last; ++j) {
        Wholes column = histogram[j];
        for (i64 other = 0; other < member.team - 1; ++other) {
            Wholes counted = partial(other, j);
            for (i64 k = 0; k < column.size(); ++k) column.data[k] += counted.data[k];
        }
        edges[j] = scan_stump(column, missing, NEVER).edge;
    }
}

#define FOR_CODES(Code)                                                                                              \
    template void largest_edges(const Member&, Array<const Code, 2>, Array<const i64>, Array<const i8>, Wholes, i64, \
                                Array<i64, 2>, Array<i64, 3>, Wholes, Wholes);
FOR_CODES(u8)
FOR_CODES(u16)

}  // namespace pacboost
