#include "bindings/module.h"
#include "bindings/tree_arrays.h"
#include "tree/grow.h"
#include "tree/words.h"

namespace pacboost {
namespace {

template <class Cell>
void bind_growing(nb::module_& m) {
    def_long_team(
        m, "grow_tree", grow_tree<Cell>, "team"_a, "tree"_a, "spans"_a.none(), "interactions"_a.none(),
        "Grow a tree on the chosen rows of a `TreeArrays`, and write the leaf of each row to its cells. `spans` is "
        "None if no split is monotone, a category or of many outputs, and `interactions` if all features "
        "may interact.");
}

}  // namespace

void bind_tree(nb::module_& m) {
    bind_growing<u8>(m);
    bind_growing<u16>(m);
    def(m, "place", place, "codes"_a, "maps"_a, "features"_a, "words"_a, "first"_a, "last"_a, "clashes"_a,
        "Pack the codes of some rows into words, a byte for each.\n\n"
        "`clashes` counts the rows in which the lane of a column already holds the code of another, or has no code "
        "for the value.");
}

}  // namespace pacboost
