/// Codes in words: eight codes of a row in one 64-bit word, a byte (lane) for each.
///
/// Features that never differ from their defaults in the same row may share a lane; see
/// samples/blocks.py.
#pragma once

#include "team/team.h"
#include "tree/layout.h"

namespace pacboost {

/// The code of values that cannot share a lane.
constexpr u8 NO_PLACE = 255;

/// Pack the codes (columns, rows) of the rows from `first` to before `last` into words.
///
/// Columns may share a lane; `maps` has the code there for every code of a column. `clashes` counts the
/// rows in which the lane of a column already holds the code of another, or has no code for the value.
void place(Array<const u8, 2> codes, Array<const u8, 2> maps, Array<const i64, 2> features, Array<u64, 2> words,
           i64 first, i64 last, Wholes clashes);

}  // namespace pacboost
