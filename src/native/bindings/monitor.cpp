#include "monitor/monitor.h"

#include "bindings/arrays.h"
#include "bindings/module.h"

namespace pacboost {

void bind_monitor(nb::module_& m) {
    def(m, "follow", follow, "mistakes"_a, "counts"_a, "squares"_a, "logs"_a, "goal"_a, "levels"_a, "weights"_a,
        "run_length"_a, "marks"_a,
        "Count rows and mistakes, and record when the capital or the detector reaches its goal.\n\n"
        "``counts`` are rows and mistakes; ``logs`` the logarithms of each bet's factors, in the first\n"
        "row after no mistake; ``weights`` the share of each bet in the detector; ``marks`` the row of\n"
        "refutation, the first and last row at which the detector gave an alarm, and the number of\n"
        "alarms. The detector restarts after each.");
    def(m, "boost_rules", boost_rules, "codes"_a, "half"_a, "shrink"_a, "rules"_a, "values"_a,
        "Boost trees of four leaves that distinguish new rows (before ``half``) from old ones.\n\n"
        "``rules`` holds column and cut of the root, of its left and of its right child; ``values`` are\n"
        "those of the four leaves. Codes are smaller than 40.");
    def(m, "pay", pay, "new_rows"_a, "old_rows"_a, "rules"_a, "values"_a, "payoffs"_a, "won"_a,
        "Write the payoff of a bet on each pair of rows, and add it to the gains of the columns.\n\n"
        "The bet is tanh of the score, which lies in [-1, 1]; it pays half the difference between the new\n"
        "and the old row. A leaf's value is shared by the column of the root and that of its child.");
}

}  // namespace pacboost
