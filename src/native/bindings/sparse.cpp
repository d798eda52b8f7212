#include "bindings/module.h"
#include "bindings/tree_arrays.h"
#include "sparse/grow.h"

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)
template <class Code>
struct type_caster<pacboost::SparseColumns<Code>>
    : tuple_caster<pacboost::SparseColumns<Code>, &pacboost::SparseColumns<Code>::starts,
                   &pacboost::SparseColumns<Code>::rows, &pacboost::SparseColumns<Code>::codes,
                   &pacboost::SparseColumns<Code>::defaults> {};
template <>
struct type_caster<pacboost::SparseTree>
    : tuple_caster<pacboost::SparseTree, &pacboost::SparseTree::columns, &pacboost::SparseTree::features,
                   &pacboost::SparseTree::missing, &pacboost::SparseTree::order, &pacboost::SparseTree::pairs,
                   &pacboost::SparseTree::rules, &pacboost::SparseTree::leaves, &pacboost::SparseTree::splits> {};
NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)

namespace pacboost {
namespace {

template <class Cell>
i64 grow_tree(i64 team, const SparseTree& tree, i64 drawn, i64 deepest, u64 key, const std::optional<Spans>& spans,
              const std::optional<Interactions>& interactions, Array<Cell> cells) {
    i64 leaves;
    {
        nb::gil_scoped_release released;
        leaves = grow_sparse_tree(team, tree, {drawn, deepest, key}, spans, interactions, cells, poll_python);
    }
    raise_if_stopped();
    return leaves;
}

template <class Cell>
void bind_growing(nb::module_& m) {
    m.def("grow_sparse_tree", grow_tree<Cell>, "team"_a, "tree"_a, "drawn"_a, "deepest"_a, "key"_a, "spans"_a.none(),
          "interactions"_a.none(), "cells"_a,
          "Grow a tree on the rows of a `SparseTree`, write the leaf of each to `cells`, and return the number of "
          "leaves. `spans` and `interactions` may be None, as in `grow_tree`.");
}

template <class Code>
void bind_codes(nb::module_& m) {
    def(m, "encode_sparse", encode_sparse<float, Code>, "starts"_a, "values"_a, "cuts"_a, "offsets"_a, "missing"_a,
        "defaults"_a, "codes"_a, "Write the codes of stored values, and of 0 in each column.");
    def(m, "encode_sparse", encode_sparse<double, Code>, "starts"_a, "values"_a, "cuts"_a, "offsets"_a, "missing"_a,
        "defaults"_a, "codes"_a);
    def_team(m, "find_sparse_stump", find_sparse_stump<Code>, "team"_a, "columns"_a, "bins"_a, "missing"_a, "amounts"_a,
             "total"_a, "slack"_a, "edges"_a, "found"_a,
             "Write the largest edge of each column. Also find the first column and cut within `slack` of the "
             "largest: `found` gets both, the sum above the cut minus that below, and that of missing values.");
}

}  // namespace

void bind_sparse(nb::module_& m) {
    bind_growing<u8>(m);
    bind_growing<u16>(m);
    bind_codes<u8>(m);
    bind_codes<u16>(m);
}

}  // namespace pacboost
