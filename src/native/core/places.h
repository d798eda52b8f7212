/// Numbered columns and places of the arrays that trees are grown on. CUDA compiles this file, too.
#pragma once

#include "core/scalar.h"

namespace pacboost {

/// Columns of `features`, a line for each feature: its lane, its first code there, the number of bins,
/// the default code (-1 if it has a lane alone), whether it is categorical, and its slope.
enum : i64 { LANE, BASE, BINS, DEFAULT, CATEGORY, MONOTONE, FEATURE_COLUMNS };

/// Columns of splits. `best` has the first three, `columns` five, nodes of a scored tree all. A child is
/// the number of a split, or ~leaf; MEMBER is a line of `members` or -1.
enum : i64 { FEATURE, CUT, MISSING_LEFT, LEFT, RIGHT, MEMBER };
constexpr i64 SPLIT_COLUMNS = 5;

/// Places in `rules`, the parameters of the search for splits.
enum : i64 { CRITERION, PENALTY, LEAST_WEIGHT, LEAST_ROWS, SMOOTH, LEVEL_PENALTY, LEVEL_ROWS, CHANCE, RULES };

/// Codes are bytes.
constexpr i64 CODES = 256;

}  // namespace pacboost
