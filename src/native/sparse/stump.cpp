#include <vector>

#include "sparse/columns.h"
#include "stumps/scan.h"

namespace pacboost {

template <class Code>
void find_sparse_stump(const Member& member, const SparseColumns<Code>& columns, Array<const i64> bins, i64 missing,
                       Array<const i64> amounts, i64 total, i64 slack, Wholes edges, Wholes found) {
    std::vector<i64> own(std::size_t(missing + 1));
    Wholes histogram{own.data(), {missing + 1}};
    auto count = [&](i64 j) {
        i64 begin = columns.starts[j], end = columns.starts[j + 1];
        count_column(columns.rows.slice(begin, end), columns.codes.data + begin, amounts, total, columns.defaults[j],
                     bins[j], missing, histogram);
    };
    auto [first, last] = share_of_lists(columns.starts, member);
    for (i64 j = first; j < last; ++j) {
        count(j);
        edges[j] = scan_stump(histogram, bins[j], NEVER).edge;
    }
    if (!last_to_arrive(member)) return;
    const i64 min_edge = *std::max_element(edges.begin(), edges.end()) - slack;
    i64 j = 0;
    while (edges[j] < min_edge) ++j;
    count(j);
    StumpCut cut = scan_stump(histogram, bins[j], min_edge);
    found[0] = j, found[1] = cut.place, found[2] = cut.difference, found[3] = histogram[bins[j]];
    release(member);
}

template void find_sparse_stump(const Member&, const SparseColumns<u8>&, Array<const i64>, i64, Array<const i64>, i64,
                                i64, Wholes, Wholes);
template void find_sparse_stump(const Member&, const SparseColumns<u16>&, Array<const i64>, i64, Array<const i64>, i64,
                                i64, Wholes, Wholes);

}  // namespace pacboost
