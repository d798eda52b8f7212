#include "bindings/arrays.h"
#include "bindings/module.h"
#include "core/row_hashes.h"
#include "tree/bins.h"
#include "tree/predict.h"
#include "tree/shap.h"

namespace nanobind::detail {
using pacboost::ShapTree;
template <>
struct type_caster<ShapTree>
    : tuple_caster<ShapTree, &ShapTree::missing, &ShapTree::feature, &ShapTree::cut, &ShapTree::missing_left,
                   &ShapTree::left, &ShapTree::right, &ShapTree::member, &ShapTree::members, &ShapTree::values,
                   &ShapTree::before, &ShapTree::factor, &ShapTree::inverse, &ShapTree::pull> {};
}  // namespace nanobind::detail

namespace pacboost {
namespace {

template <class Value, class Code>
void bind_codes(nb::module_& m) {
    def(m, "encode", encode<Value, Code>, "values"_a, "first"_a, "features"_a, "cuts"_a, "offsets"_a, "missing"_a,
        "codes"_a, "start"_a,
        "Write the codes of some features, one line for each, from row ``start`` on.\n\n"
        "The columns of ``values`` are the features from ``first`` on.");
}

template <class Value>
void bind_values(nb::module_& m) {
    def(m, "score_steps", score_steps<Value>, "values"_a, "columns"_a, "cuts"_a, "offsets"_a, "steps"_a, "missing"_a,
        "scores"_a,
        "Add to each row's score the step of its value, for some columns.\n\n"
        "``steps`` are laid out like the cuts: a feature's k-th step is the one above k of its cuts.");
    def(m, "add_hashes", add_hashes<Value>, "values"_a, "factors"_a, "total"_a,
        "Add the hash of every value (rows, columns) to that of its row.");
    def(m, "below_limit", below_limit<Value>, "values"_a, "columns"_a, "factors"_a, "salt"_a, "limit"_a, "is_below"_a,
        "Find the rows whose hash of some columns is below a limit.");
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
    def(m, "add_hashes", add_hashes<u64>, "cells"_a, "factors"_a, "total"_a,
        "Add the hash of every cell of 64 bits (rows, columns) to that of its row.");
    def(m, "mix", mix, "total"_a, "Turn the sum of every row into its hash.");
    def(m, "draw", draw, "rows"_a, "key"_a, "out"_a, "Write the random numbers of rows, 53 bits each.");
    def(m, "draw_below", draw_below, "kinds"_a, "limits"_a, "first"_a, "key"_a, "out"_a,
        "Find the rows first, first + 1, … whose random number is below the limit of their kind.\n\n"
        "Return how many there are.");
    def(m, "keep", keep, "tickets"_a, "key"_a, "chances"_a, "bounds"_a, "scale"_a, "odds"_a, "chosen"_a,
        "Choose each row with a probability: the smaller of its chance and its bound, over the scale.\n\n"
        "Write the chosen rows and their probabilities (``odds``), and return how many they are.\n"
        "``bounds`` may be empty.");
    def(m, "shap_edges", shap_edges, "feature"_a, "left"_a, "right"_a, "cover"_a, "parent"_a, "before"_a, "distinct"_a,
        "share"_a, "reach"_a, "Write the tables of a tree for descents, for each node below the root.");
    def(m, "add_shap", add_shap, "codes"_a, "start"_a, "stop"_a, "out"_a, "tree"_a,
        "Add one tree's shares to ``out`` (rows, features, outputs), from row ``start`` to ``stop``.");
}

}  // namespace pacboost
