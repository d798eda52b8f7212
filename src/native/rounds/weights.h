/// The weights and pulls of rows after a round, and their pairs, which trees are grown on.
///
/// Each member of a team updates its share of the rows, and writes the sums over it to its line of
/// `totals`.
#pragma once

#include "team/team.h"

namespace pacboost {

using Totals = Array<i64, 2>;

/// Add the vote to the margins, set the new weights, and sum them.
///
/// `weight = max(1, round(exp(V - margin + b + s)))`, where `V` is the sum of all votes so far: a row
/// that the newest rule got right keeps its weight unless the scale `s` changed. Weights are at least
/// one unit, so that every row counts and an error of 0 means no mistake. `b` is the logarithm of the
/// row's base weight, one for each row or one for all.
void exponential(const Member& member, Array<const i8> agree, double vote, double total_vote,
                 Array<const double> log_base, double log_scale, Floats margins, Wholes weights, Totals totals);

/// Add the values of cells to the margins (rows, outputs), set new weights, and sum them.
void exponential_cells(const Member& member, Cells cells, Array<const double, 2> values, Array<const i8, 2> signs,
                       Array<const double> log_base, double log_scale, Array<double, 2> margins, Array<i64, 2> weights,
                       Totals totals);

/// Set weights to base·min(1, exp(-margin)), at least one unit; return their sum.
i64 clipped_weights(Array<const double> margins, Array<const double> log_base, Wholes weights);

/// Add each cell's value, then set weights q(1 - q) and pulls ±q for q = 1/(1 + exp(2·margin)).
///
/// Pulls are clipped to `max_target` times the weight; both are in units of the row's base. `totals`
/// gets the sums of weights and of absolute pulls.
void logistic(const Member& member, Cells cells, Array<const double> values, Array<const i8> signs,
              Array<const double> base, double max_target, Floats margins, Wholes weights, Wholes pulls, Totals totals);

/// Add each cell's values, then set weights p(1 - p) and pulls y* - p, with p = softmax(F).
///
/// Only the chosen rows are updated. `totals` gets the increase of the sums of weights and of absolute
/// pulls, `raised_sums` (rows, 2) the largest score and the sum of exponentials of each row.
void softmax(const Member& member, Array<const i64> chosen, Cells cells, Array<const double, 2> values,
             Array<const i8, 2> signs, Array<const double> base, double max_target, Array<double, 2> margins,
             Array<i64, 2> weights, Array<i64, 2> pulls, Array<double, 2> raised_sums, Totals totals);

/// Write exp(sign · score).
void raise_scores(const Member& member, Array<const double> scores, double sign, Floats out);

// Residuals: target minus score.

/// Add the values of cells to the scores; each member writes its largest absolute residual.
void advance(const Member& member, Cells cells, Array<const double> values, Array<const double> targets, Floats scores,
             Floats largest);

/// Write weight times residual as integers, and sum their absolute values.
///
/// Residuals are clipped to ±`cut`. `scale` brings each of them to 1 or less, so that a pull is at most
/// as large as its weight.
void residual_pulls(const Member& member, Array<const double> targets, Array<const double> scores,
                    Array<const i64> weights, double cut, double scale, Wholes out, Wholes sums);

/// Write `above` times the weight, or `below` times it for negative residuals.
///
/// Residuals of less than a unit give 0. Also sum the absolute values. If `sides` are bytes, it gets the
/// factors without the weights.
void residual_sides(const Member& member, Array<const double> targets, Array<const double> scores,
                    Array<const i64> weights, double above, double below, double unit, AnyArray<1, i8, i64> sides,
                    Wholes sums);

/// Round pulls and weights (rows, outputs) to small integers, and pair them: see tree/grow.
///
/// Line s of `flips` holds the signs (or 0) of the outputs in the sum of pulls of pair s; weights are
/// always summed. A single output has one line, +1. If `times_weight`, pulls are signs that multiply
/// the weights.
void pair_up(const Member& member, Array<const i64, 2> weights, Pulls pulls, bool times_weight,
             Array<const i8, 2> flips, double pull_scale, double weight_scale, Array<i64, 2> pairs);

INLINE i64 pair_of(double pull, double weight) {
    return i64(u64(i64(std::nearbyint(pull))) << 32) + i64(std::nearbyint(weight));
}

/// Pair pulls and weights of a single output.
template <class Pull>
void pairs_of_one(const i64* weights, const Pull* pulls, bool times_weight, double pull_scale, double weight_scale,
                  i64* pairs, i64 size) {
    for (i64 i = 0; i < size; ++i) {
        i64 pull = i64(pulls[i]);
        if (times_weight) pull *= weights[i];
        pairs[i] = pair_of(double(pull) * pull_scale, double(weights[i]) * weight_scale);
    }
}

}  // namespace pacboost
