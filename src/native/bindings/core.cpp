#include "bindings/arrays.h"
#include "bindings/module.h"
#include "core/exact_loops.h"

namespace pacboost {
void bind_core(nb::module_& m) {
    def(m, "exponentials", exponentials, "values"_a, "out"_a, "Write the exponential of every number.");
    def(m, "logarithms", logarithms, "values"_a, "out"_a, "Write the logarithm of every number.");
    def(m, "sigmoids", sigmoids, "values"_a, "out"_a, "Write 1/(1 + exp(-x)) of every number.");
    def(m, "raise_rows", raise_rows, "rows"_a, "less"_a, "raised"_a, "sums"_a,
        "Write numbers minus the largest of their row, their exponentials, and the sums of those.");
    def(m, "steps_below_1", steps_below_1, "values"_a, "steps"_a, "last"_a, "out"_a,
        "Write floor(-steps * log2(value)) of numbers in [0, 1], at most `last`.");
}
}  // namespace pacboost
