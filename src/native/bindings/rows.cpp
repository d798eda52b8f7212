#include "bindings/arrays.h"
#include "bindings/module.h"
#include "tree/bins.h"
#include "tree/predict.h"

namespace pacboost {
namespace {

template <class Value, class Code>
void bind_codes(nb::module_& m) {
    def(m, "encode", encode<Value, Code>, "values"_a, "first"_a, "features"_a, "cuts"_a, "offsets"_a, "missing"_a,
        "codes"_a, "start"_a,
        "Write the codes of some features, one line for each, from row ``start`` on.\n\n"
        "The columns of ``values`` are the features from ``first`` on.");
    def(m, "encode_rows", encode_rows<Value, Code>, "values"_a, "rows"_a, "cuts"_a, "offsets"_a, "missing"_a, "codes"_a,
        "Write the codes of some rows of a matrix; return False if a value is infinite.");
}

template <class Value>
void bind_values(nb::module_& m) {
    def(m, "score_steps", score_steps<Value>, "values"_a, "columns"_a, "cuts"_a, "offsets"_a, "steps"_a, "missing"_a,
        "scores"_a,
        "Add to each row's score the step of its value, for some columns.\n\n"
        "``steps`` are laid out like the cuts: a feature's k-th step is the one above k of its cuts.");
}

template <class Code>
void bind_scores(nb::module_& m) {
    def(m, "score_trees", score_trees<Code>, "codes"_a, "nodes"_a, "members"_a, "missing"_a, "trees"_a, "values"_a,
        "start"_a, "scores"_a,
        "Add the values of every tree to the scores (rows, outputs), from row ``start`` on.\n\n"
        "A line of ``trees`` holds the first split of a tree, the number of its splits, and its first value.");
    def(m, "score_tables", score_tables<Code>, "codes"_a, "features"_a, "tables"_a, "start"_a, "scores"_a,
        "Add tables[f, code, k] of some features to the scores (rows, outputs), from row ``start`` on.");
}

}  // namespace

void bind_rows(nb::module_& m) {
    bind_codes<double, u8>(m);
    bind_codes<float, u8>(m);
    bind_codes<double, u16>(m);
    bind_codes<float, u16>(m);
    bind_values<double>(m);
    bind_values<float>(m);
    bind_scores<u8>(m);
    bind_scores<u16>(m);
}

}  // namespace pacboost
