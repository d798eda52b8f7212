#include "tree/histograms.h"

namespace pacboost {
namespace {

constexpr i64 ROWS_PER_TILE = 1'024;      // their pairs and words fit into the cache
constexpr i64 MIN_ROWS_TO_COUNT = 2'048;  // per member of a team
constexpr i64 TICKETS_PER_MEMBER = 6;

INLINE i64 code_of(u64 word, int lane) { return i64((word >> (8 * lane)) & 255); }

/// Add the pairs of some rows to the histograms of the blocks from `first` to before `last`.
///
/// The rows of a leaf are scattered in memory, so the words of a block are prefetched while the block
/// before is counted (measured: twice as fast).
void count(const Codes& codes, Array<const u32> rows, Array<const i64, 2> pairs, Array<i64, 3> histogram, i64 first,
           i64 last) {
    i64 tile_pairs[ROWS_PER_TILE];
    const i64 width = histogram.shape[2];
    for (i64 start = 0; start < rows.size(); start += ROWS_PER_TILE) {
        Array<const u32> tile = rows.slice(start, start + ROWS_PER_TILE);
        const i64 size = tile.size();
        for (i64 s = 0; s < pairs.shape[0]; ++s) {
            Array<const i64> line = pairs[s];
            Array<const u64> block = codes.words[first];
            for (i64 k = 0; k < size; ++k) {
                prefetch(&block.data[tile[k]]);
                tile_pairs[k] = line[tile[k]];
            }
            for (i64 b = first; b < last; ++b) {
                block = codes.words[b];
                const u64* following = codes.words[std::min(b + 1, last - 1)].data;
                i64* h = histogram[s].data + 8 * b * width;
                if (codes.lanes - 8 * b > 4) {
                    for (i64 k = 0; k < size; ++k) {
                        prefetch(&following[tile[k]]);
                        u64 w = block[tile[k]];
                        i64 d = tile_pairs[k];
#pragma GCC unroll 8
                        for (int j = 0; j < 8; ++j) h[j * width + code_of(w, j)] += d;
                    }
                } else {
                    for (i64 k = 0; k < size; ++k) {
                        u64 w = block[tile[k]];
                        i64 d = tile_pairs[k];
#pragma GCC unroll 4
                        for (int j = 0; j < 4; ++j) h[j * width + code_of(w, j)] += d;
                    }
                }
            }
        }
    }
}

}  // namespace

Span count_rows(const Member& member, const GrowingTree& tree, Array<const u32> rows, i64 new_leaf, i64 slot) {
    const i64 lanes = tree.codes.lanes, blocks = tree.codes.words.shape[0];
    auto histogram = tree.histogram, partial = tree.partial;
    const i64 lines = histogram.shape[1], width = histogram.shape[3];
    const i64 max_parts = std::min(member.team, partial.shape[0] + 1);
    const i64 parts = std::min(max_parts, std::max<i64>(1, rows.size() / MIN_ROWS_TO_COUNT));
    const i64 groups = std::min(blocks, member.team / parts);
    const i64 part_number = member.number % parts, group = std::min(member.number / parts, groups);
    const i64 first = blocks * group / groups;
    const i64 last = std::min(blocks, blocks * (group + 1) / groups);  // idle members get no block
    if (first < last) {
        auto into = part_number == 0 ? histogram[new_leaf] : partial[part_number - 1];
        for (i64 s = 0; s < lines; ++s) std::fill_n(into[s].data + 8 * first * width, 8 * (last - first) * width, 0);
        i64 tickets = groups > 1 || parts == 1 ? parts : TICKETS_PER_MEMBER * parts;
        i64 ticket = tickets == parts ? part_number : member.board->ticket.fetch_add(1);
        while (ticket < tickets) {
            auto [start, stop] = share(rows.size(), ticket, tickets);
            count(tree.codes, rows.slice(start, stop), tree.pairs, into, first, last);
            ticket = tickets == parts ? tickets : member.board->ticket.fetch_add(1);
        }
    }
    Span own{std::min(lanes, 8 * first), std::min(lanes, 8 * last)};
    if (parts > 1) {
        meet(member);
        own = own_share(lanes, member);
    }
    for (i64 s = 0; s < lines; ++s)
        for (i64 j = own.first; j < own.last; ++j) {
            i64* new_lane = histogram(new_leaf, s, j).data;
            i64* old_lane = histogram(slot, s, j).data;
            for (i64 other = 0; other < parts - 1; ++other) {
                const i64* counted = partial(other, s, j).data;
                for (i64 k = 0; k < width; ++k) new_lane[k] += counted[k];
            }
            if (new_leaf > 0)
                for (i64 k = 0; k < width; ++k) old_lane[k] -= new_lane[k];
        }
    return own;
}

Span subtract_rows(const Member& member, const GrowingTree& tree, Array<const u32> rows, i64 slot) {
    auto words = tree.codes.words;
    auto histogram = tree.histogram[slot];
    const i64 width = histogram.shape[2], lanes = tree.codes.lanes;
    auto [first, last] = own_share(words.shape[0], member);
    for (i64 s = 0; s < tree.pairs.shape[0]; ++s)
        for (i64 b = first; b < last; ++b) {
            Array<const u64> block = words[b];
            Array<const i64> line = tree.pairs[s];
            i64* h = histogram[s].data + 8 * b * width;
            for (i64 k = 0; k < rows.size(); ++k) {
                u64 w = block[rows[k]];
                i64 d = line[rows[k]];
#pragma GCC unroll 8
                for (int j = 0; j < 8; ++j) h[j * width + code_of(w, j)] -= d;
            }
        }
    return {std::min(lanes, 8 * first), std::min(lanes, 8 * last)};
}

}  // namespace pacboost
