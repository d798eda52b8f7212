#include "rounds/rounds.h"

#include "bindings/arrays.h"
#include "bindings/module.h"
#include "bindings/tree_arrays.h"
#include "rounds/costs.h"
#include "rounds/draws.h"
#include "rounds/weights.h"

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)

using pacboost::Progress;
using pacboost::Records;
using pacboost::RoundInputs;
using pacboost::RoundRows;
using pacboost::RoundSettings;
using pacboost::Watched;

template <>
struct type_caster<RoundRows>
    : tuple_caster<RoundRows, &RoundRows::signs, &RoundRows::targets, &RoundRows::base, &RoundRows::base_of_costs,
                   &RoundRows::first_weights, &RoundRows::scores, &RoundRows::weights, &RoundRows::pulls> {};
template <>
struct type_caster<RoundSettings>
    : tuple_caster<RoundSettings, &RoundSettings::max_sum, &RoundSettings::l2, &RoundSettings::max_step,
                   &RoundSettings::unit, &RoundSettings::min_edge, &RoundSettings::max_target,
                   &RoundSettings::level_penalty, &RoundSettings::rows_per_sum, &RoundSettings::is_measured> {};
template <>
struct type_caster<RoundInputs> : tuple_caster<RoundInputs, &RoundInputs::keys, &RoundInputs::rates> {};
template <>
struct type_caster<Progress> : tuple_caster<Progress, &Progress::rounds, &Progress::weight, &Progress::pull,
                                            &Progress::scale, &Progress::largest> {};
template <>
struct type_caster<Records>
    : tuple_caster<Records, &Records::splits, &Records::members, &Records::gains, &Records::values, &Records::cover,
                   &Records::leaves, &Records::weights, &Records::pulls, &Records::wrong, &Records::edges,
                   &Records::validation_costs, &Records::squares, &Records::costs> {};
template <>
struct type_caster<Watched>
    : tuple_caster<Watched, &Watched::codes, &Watched::signs, &Watched::targets, &Watched::scores, &Watched::rounds,
                   &Watched::best_round, &Watched::patience, &Watched::least, &Watched::best> {};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)

namespace pacboost {
namespace {

template <class Cell>
void bind_boosting(nb::module_& m) {
    m.def(
        "boost_trees",
        [](i64 team, const TreeArrays<Cell>& tree, const std::optional<Spans>& spans, const RoundRows& rows,
           const RoundSettings& settings, const RoundInputs& inputs, const Progress& start, const Records& records,
           const std::optional<Watched>& watched) {
            const Progress now = boost_trees(team, tree, spans, rows, settings, inputs, start, records, watched);
            return std::make_tuple(now.rounds, now.weight, now.pull, now.scale, now.largest);
        },
        nb::call_guard<nb::gil_scoped_release>(), "team"_a, "tree"_a, "spans"_a.none(), "rows"_a, "settings"_a,
        "inputs"_a, "start"_a, "records"_a, "watched"_a.none(),
        "Run rounds of boosted trees, until all are done or one ends the run; return the fields of `Progress`.");
}

}  // namespace

void bind_rounds(nb::module_& m) {
    bind_boosting<u8>(m);
    bind_boosting<u16>(m);
    def_team(m, "exponential_cells", exponential_cells, "team"_a, "cells"_a, "values"_a, "signs"_a, "log_base"_a,
             "log_scale"_a, "margins"_a, "weights"_a, "totals"_a,
             "Add the values of cells to the margins, set AdaBoost's weights, and sum them.");
    def_team(m, "logistic", logistic, "team"_a, "cells"_a, "values"_a, "signs"_a, "base"_a, "max_target"_a, "margins"_a,
             "weights"_a, "pulls"_a, "totals"_a,
             "Add each cell's value, and set LogitBoost's weights and pulls for two classes.");
    def_team(m, "softmax", softmax, "team"_a, "chosen"_a, "cells"_a, "values"_a, "signs"_a, "base"_a, "max_target"_a,
             "margins"_a, "weights"_a, "pulls"_a, "raised_sums"_a, "totals"_a,
             "Add each cell's values, and set LogitBoost's weights and pulls for many classes.");
    def_team(m, "advance", advance, "team"_a, "cells"_a, "values"_a, "targets"_a, "scores"_a, "largest"_a,
             "Add the values of cells to the scores, and find the largest absolute residual.");
    def_team(m, "class_sums", class_sums, "team"_a, "chosen"_a, "cells"_a, "weights"_a, "pulls"_a, "sums"_a,
             "Sum pulls and weights of the chosen rows in every cell.");
    def_team(m, "cell_sums", cell_sums, "team"_a, "cells"_a, "weights"_a, "pulls"_a, "times_weight"_a, "size"_a,
             "sums"_a, "squares"_a, "Sum pulls and weights in every cell, and squared pulls span by span.");
    def_team(m, "pair_up", pair_up, "team"_a, "weights"_a, "pulls"_a, "times_weight"_a, "flips"_a, "pull_scale"_a,
             "weight_scale"_a, "pairs"_a, "Round pulls and weights to small integers, and pair them.");
    def_team(m, "residual_sides", residual_sides, "team"_a, "targets"_a, "scores"_a, "weights"_a, "above"_a, "below"_a,
             "unit"_a, "sides"_a, "sums"_a, "Write pulls that depend on the sign of a residual alone.");
    def_team(m, "stump_agreement", stump_agreement, "team"_a, "codes"_a, "cut"_a, "above"_a, "missing"_a,
             "if_missing"_a, "signs"_a, "agree"_a, "Write whether a stump is right (+1) or wrong (-1) on each row.");
    def_team(m, "exponential", exponential, "team"_a, "agree"_a, "vote"_a, "total_vote"_a, "log_base"_a, "log_scale"_a,
             "margins"_a, "weights"_a, "totals"_a,
             "Add the vote to the margins, set AdaBoost's weights, and sum them.");
    def(m, "clipped_weights", clipped_weights, "margins"_a, "log_base"_a, "weights"_a,
        "Set weights to base * min(1, exp(-margin)), at least one unit; return their sum.");
    def_team(m, "raise_scores", raise_scores, "team"_a, "scores"_a, "sign"_a, "out"_a, "Write exp(sign * score).");
    def_team(m, "residual_pulls", residual_pulls, "team"_a, "targets"_a, "scores"_a, "weights"_a, "cut"_a, "scale"_a,
             "out"_a, "sums"_a, "Write weight times residual as integers, and sum their absolute values.");
    def_team(m, "masses", masses, "team"_a, "weights"_a, "agree"_a, "size"_a, "sums"_a, "squares"_a,
             "Sum weights, weights of wrong rows, and squared weights, span by span.");
    def_team(m, "mistakes", mistakes, "team"_a, "margins"_a, "first_weights"_a, "totals"_a,
             "Sum the first weights of rows that are wrong or tied.");
    def_team(m, "wrong_classes", wrong_classes, "team"_a, "margins"_a, "signs"_a, "first_weights"_a, "totals"_a,
             "Sum the first weights of rows whose class does not score above every other.");
    def_team(m, "class_rows", class_rows, "team"_a, "chosen"_a, "margins"_a, "signs"_a, "pulls"_a, "raised_sums"_a,
             "costs"_a, "wrong"_a, "squares"_a, "Write costs, mistakes and squared pulls of the chosen rows.");
    m.attr("LOGISTIC") = i64(LOGISTIC);
    m.attr("CLIPPED") = i64(CLIPPED);
    m.attr("SQUARE") = i64(SQUARE);
    m.attr("ABSOLUTE") = i64(ABSOLUTE);
    def_team(m, "potential", potential, "team"_a, "kind"_a, "margins"_a, "base"_a, "size"_a, "sums"_a,
             "Sum the costs of margins or residuals, span by span.");
    m.attr("ROWS_PER_DRAWN_SPAN") = ROWS_PER_DRAWN_SPAN;
    def_team(m, "draw", draw, "team"_a, "key"_a, "rows"_a, "chosen"_a,
             "Draw as many of the rows 0, 1, ... as `chosen` holds, in ascending order.");
}
}  // namespace pacboost
