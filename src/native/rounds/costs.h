/// What a round is measured by: sums over cells, mistakes, and the costs of margins.
///
/// Sums of floats are computed in spans of `size` rows, from first to last or in tiles, so that they do
/// not depend on the team.
#pragma once

#include "team/team.h"

namespace pacboost {

/// Write +1 for rows whose sign is the answer of a stump, and -1 for others.
void stump_agreement(const Member& member, AnyArray<1, const u8, const u16> codes, i64 cut, i64 above, i64 missing,
                     i64 if_missing, Array<const i8> signs, Signs agree);

/// Sum weights, weights of wrong rows, and squared weights of each span of `size` rows.
void masses(const Member& member, Array<const i64> weights, Array<const i8> agree, i64 size, Array<i64, 2> sums,
            Floats squares);

/// Sum the first weights (one for all, or one each) of rows that are wrong or tied.
void mistakes(const Member& member, Array<const double> margins, Array<const i64> first_weights, Array<i64, 2> totals);

/// Sum the first weights of rows whose class does not score above every other.
void wrong_classes(const Member& member, Array<const double, 2> margins, Array<const i8, 2> signs,
                   Array<const i64> first_weights, Array<i64, 2> totals);

/// Sum pulls and weights (rows, outputs) in every cell.
///
/// `sums` is (members, 2, cells, outputs). Also write, for each span of `size` rows, the sum of the
/// squares of the pulls.
void cell_sums(const Member& member, Cells cells, Array<const i64, 2> weights, Pulls pulls, bool times_weight, i64 size,
               Array<i64, 4> sums, Floats squares);

/// Sum as `cell_sums` does, for the chosen rows and pulls as integers, without squares.
void class_sums(const Member& member, Array<const i64> chosen, Cells cells, Array<const i64, 2> weights,
                Array<const i64, 2> pulls, Array<i64, 4> sums);

/// Write the costs of the chosen rows, -ln p(y|x) with p = softmax(F).
///
/// Also write whether their class does not score above every other, and Σ pull². `raised_sums` (rows, 2)
/// has the largest score and the sum of exponentials if they were computed before; with a shape of
/// (0, 2) they are computed here, which takes most of the time.
void class_rows(const Member& member, Array<const i64> chosen, Array<const double, 2> margins, Array<const i8, 2> signs,
                Array<const i64, 2> pulls, Array<const double, 2> raised_sums, Floats costs, Array<bool> wrong,
                Floats squares);

/// LOGISTIC: ln(1 + exp(-2·margin)). CLIPPED: exp(-margin), or 1 - margin for a negative margin. SQUARE
/// and ABSOLUTE: of residuals, passed as margins.
enum Cost : i64 { LOGISTIC, CLIPPED, SQUARE, ABSOLUTE };

/// Sum the costs of the margins (rows, outputs) of each span, times the base weights, one for each row
/// or one for all.
void potential(const Member& member, i64 kind, Array<const double, 2> margins, Array<const double> base, i64 size,
               Floats sums);

/// Sum as `potential` does for SQUARE, of targets and scores.
void square_costs(const Member& member, Array<const double> targets, Array<const double> scores,
                  Array<const double> base, i64 size, Floats sums);

/// Sum as `potential` does for LOGISTIC, one output and base weights of 1.
///
/// Two classes are the common case, so this takes one logarithm for sixteen rows of a tile, of their
/// product.
void log_costs(const Member& member, Array<const double> margins, i64 size, Floats sums);

}  // namespace pacboost
