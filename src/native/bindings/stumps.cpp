#include "stumps/stumps.h"

#include "bindings/arrays.h"
#include "bindings/module.h"

namespace pacboost {
namespace {

template <class Code>
void bind_codes(nb::module_& m) {
    def_team(m, "largest_edges", largest_edges<Code>, "team"_a, "codes"_a, "weights"_a, "signs"_a, "counted_weights"_a,
             "missing"_a, "histogram"_a, "partial"_a, "edges"_a, "totals"_a,
             "Update the histograms, and write the largest edge of a cut of every feature.\n\n"
             "All members but the first count into ``partial``; ``totals`` are the sums of their weights.");
}

std::tuple<i64, i64, i64> scan(Array<const i64> histogram, i64 missing, i64 min_edge) {
    StumpCut cut = scan_stump(histogram, missing, min_edge);
    return {cut.edge, cut.place, cut.difference};
}

std::tuple<i64, i64, i64> first(Array<const i64, 2> histogram, Array<const i64> edges, i64 missing, i64 slack) {
    BestStump stump = first_stump(histogram, edges, missing, slack);
    return {stump.feature, stump.place, stump.difference};
}

}  // namespace

void bind_stumps(nb::module_& m, nb::module_& testing) {
    testing.attr("NEVER") = NEVER;
    bind_codes<u8>(m);
    bind_codes<u16>(m);
    def(testing, "scan_stump", scan, "histogram"_a, "missing"_a, "min_edge"_a,
        "Find the first cut of a feature whose edge reaches ``min_edge``.\n\n"
        "Return its edge, its place, and the sum above minus the sum below. If there is none, return the\n"
        "largest edge, and -1 for the place.");
    def(m, "first_stump", first, "histogram"_a, "edges"_a, "missing"_a, "slack"_a,
        "Find the first cut of the first feature whose edge is within ``slack`` of the largest.\n\n"
        "Return the feature, the place of the cut, and the sum above minus the sum below.");
}

}  // namespace pacboost
