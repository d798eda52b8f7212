/// Many rounds of boosted trees in one call, for two classes (LogitBoost) and squared errors.
///
/// A team stays in compiled code from round to round: Python would take longer for the steps between the
/// kernels than the kernels for their work, on small samples or with many threads. Trees are those
/// without constraints. Every round has the same bits as one that runs by itself.
#pragma once

#include <optional>

#include "rounds/costs.h"
#include "tree/grow.h"

namespace pacboost {

/// The rows, and what changes from round to round: scores (margins of classes), weights and pulls.
struct RoundRows {
    /// Of two classes; empty for squared errors.
    Array<const i8> signs;
    /// Of squared errors; empty for classes.
    Array<const double> targets;
    /// The weight of a row in units of weights, and in the mean cost: one for each, or one for all.
    Array<const double> base, base_of_costs;
    /// The weight of a mistake.
    Array<const i64> first_weights;
    Floats scores;
    Wholes weights, pulls;
};

struct RoundSettings {
    /// Pulls and weights are paired with scales that bring their sums to this.
    double max_sum;
    /// What is added to the weight of a leaf.
    double l2;
    /// The maximum mean of a leaf; values are multiples of the unit.
    double max_step, unit;
    double min_edge;
    /// The maximum ratio of a pull to its weight, for classes.
    double max_target;
    /// The penalty of levels; below 0 if there are no categories.
    double level_penalty;
    i64 rows_per_sum;
    /// Whether the cost of all rows is measured after every round.
    bool is_measured;
};

/// The key and the learning rate of each round.
struct RoundInputs {
    Array<const i64> keys;
    Array<const double> rates;
};

/// Where a run stands before a batch of rounds, and after it.
struct Progress {
    /// The number of finished rounds.
    i64 rounds;
    /// The sums of weights and of absolute pulls.
    i64 weight, pull;
    /// The factor from residuals to pulls, and the largest residual (1 and infinite for classes).
    double scale, largest;
};

/// The results of each round, a line or a table for each.
struct Records {
    /// (rounds, columns, splits).
    Array<i32, 3> splits;
    /// (rounds, splits, codes), if there are categories.
    Array<u8, 3> members;
    Array<double, 2> gains, values, cover;
    /// (rounds,): the leaves of the tree; the sums of weights and of pulls before it; the mistakes after it.
    Wholes leaves, weights, pulls, wrong;
    Floats edges, validation_costs;
    /// (rounds, spans of rows).
    Array<double, 2> squares, costs;
};

/// Validation rows, and the progress of a run on them.
struct Watched {
    /// (features, rows).
    Array<const u8, 2> codes;
    Array<const i8> signs;
    Array<const double> targets;
    /// Updated after every round.
    Floats scores;
    /// The number of rounds measured, the best of them, the rounds without progress to stop after (-1:
    /// never), and the minimum number of rounds.
    i64 rounds, best_round, patience, least;
    double best;
};

/// Run rounds until as many are done as there are keys, a tree has no edge, no residual is left, or
/// validation rows show no progress. A tree without an edge is not counted, and moves no score.
template <class Cell>
Progress boost_trees(i64 team, const TreeArrays<Cell>& tree, const std::optional<Spans>& spans, const RoundRows& rows,
                     const RoundSettings& settings, const RoundInputs& inputs, const Progress& start,
                     const Records& records, const std::optional<Watched>& watched);

}  // namespace pacboost
