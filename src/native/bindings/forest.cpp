#include "bindings/arrays.h"
#include "bindings/module.h"
#include "forest/grow.h"
#include "forest/predict.h"

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)
using ForestPlan = pacboost::forest::Plan;
template <>
struct type_caster<ForestPlan>
    : tuple_caster<ForestPlan, &ForestPlan::classes, &ForestPlan::missing, &ForestPlan::tries, &ForestPlan::least,
                   &ForestPlan::smallest, &ForestPlan::deepest, &ForestPlan::random> {};
NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)

namespace pacboost {
namespace {

/// Give Python an array that owns the numbers.
template <class T>
nb::object to_python(std::vector<T>&& numbers, std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(numbers));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape, owner));
}

nb::tuple grow_tree(Array<const u8, 2> columns, Array<const u8, 2> lines, Array<const i64> parcels,
                    Array<const i64> weights, Array<const i64> counts, double unit, double lightest,
                    Array<const i64> medians, const forest::Plan& plan, u64 seed) {
    forest::Tree tree;
    {
        nb::gil_scoped_release released;
        tree = forest::grow_tree(columns, lines, parcels, weights, counts, unit, lightest, medians, plan, seed);
    }
    std::size_t nodes = tree.nodes.size(), features = tree.gains.size();
    std::size_t width = plan.classes > 2 ? std::size_t(plan.classes) : 1, distributions = tree.table.size() / width;
    return nb::make_tuple(to_python(std::move(tree.nodes), {nodes}),
                          to_python(std::move(tree.table), {distributions, width}),
                          to_python(std::move(tree.gains), {features}));
}

}  // namespace

void bind_forest(nb::module_& m) {
    m.def("grow_forest_tree", grow_tree, "columns"_a, "lines"_a, "parcels"_a, "weights"_a, "counts"_a, "unit"_a,
          "lightest"_a, "medians"_a, "plan"_a, "seed"_a,
          "Return the tree of a bag: its nodes, the distributions of its impure leaves, and the gains of features.");
    def(m, "find_leaves", forest::find_leaves, "lines"_a, "nodes"_a, "first"_a, "missing"_a, "places"_a,
        "Write the place of each row's leaf within the tree that begins at node first.");
    def(m, "add_values", forest::add_values, "lines"_a, "nodes"_a, "firsts"_a, "table"_a, "bases"_a, "missing"_a,
        "hard"_a, "sums"_a, "Add the values of every row's leaves, tree by tree.");
}

}  // namespace pacboost
