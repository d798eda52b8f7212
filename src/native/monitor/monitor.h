/// Follow mistakes row by row, and boost rules that distinguish new rows from old ones.
///
/// Rows are processed one by one, in order, so the result does not depend on how they are batched.
#pragma once

#include "core/array.h"

namespace pacboost {

/// Count rows and mistakes, and record when the capital or the detector reaches its goal.
///
/// `counts` are rows and mistakes; `logs` the logarithms of each bet's factors, in the first row after
/// no mistake; `weights` the share of each bet in the detector; `marks` the row of refutation, the first
/// and last row at which the detector gave an alarm, and the number of alarms. The detector restarts
/// after each.
void follow(Array<const bool> mistakes, Wholes counts, Floats squares, Array<const double, 2> logs, double goal,
            Floats levels, Array<const double> weights, double run_length, Wholes marks);

/// Boost trees of four leaves that distinguish new rows (before `half`) from old ones.
///
/// `rules` holds column and cut of the root, of its left and of its right child; `values` are those of
/// the four leaves. Codes are smaller than 40.
void boost_rules(Array<const u8, 2> codes, i64 half, double shrink, Array<i64, 2> rules, Array<double, 2> values);

/// Write the payoff of a bet on each pair of rows, and add it to the gains of the columns.
///
/// The bet is tanh of the score, which lies in [-1, 1]; it pays half the difference between the new and
/// the old row. A leaf's value is shared by the column of the root and that of its child.
void pay(Array<const u8, 2> new_rows, Array<const u8, 2> old_rows, Array<const i64, 2> rules,
         Array<const double, 2> values, Floats payoffs, Floats won);

}  // namespace pacboost
