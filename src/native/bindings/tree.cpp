#include "bindings/module.h"
#include "bindings/tree_arrays.h"
#include "tree/grow.h"

namespace pacboost {
namespace {

template <class Cell>
void bind_growing(nb::module_& m) {
    def_long_team(m, "grow_tree", grow_tree<Cell>, "team"_a, "tree"_a, "spans"_a.none(), "interactions"_a.none(),
                  "Grow a tree on the rows of a `TreeArrays`, and write the leaf of each to its cells. `spans` is "
                  "None if no split is monotone, a category or of many outputs, and `interactions` if all features "
                  "may interact.");
}

}  // namespace

void bind_tree(nb::module_& m) {
    bind_growing<u8>(m);
    bind_growing<u16>(m);
}

}  // namespace pacboost
