/// The functions of hash.h over arrays of rows.
#pragma once

#include "core/array.h"
#include "core/hash.h"

namespace pacboost {

/// Add the hash of every value (rows, columns) to that of its row. A value counts as its bits when it is
/// rounded to 32 bits; numbers of 64 bits count as they are.
template <class Value>
void add_hashes(Strided<Value> values, Array<const u64> factors, Words total);

/// Turn the sum of every row into its hash.
void mix(Words total);

/// Find the rows whose hash of some columns is below a limit.
template <class Value>
void below_limit(Strided<Value> values, Array<const i64> columns, Array<const u64> factors, u64 salt, u64 limit,
                 Array<bool> is_below);

/// Write the random numbers of rows.
void draw(Array<const u64> rows, u64 key, Words out);

/// Find the rows first, first + 1, … whose random number is below the limit of their kind; return how
/// many there are.
i64 draw_below(Array<const u8> kinds, Array<const u64> limits, i64 first, u64 key, Wholes out);

/// Choose each row with a probability: the smaller of its chance and its bound, over the scale.
///
/// Write the chosen rows and their probabilities (`odds`), and return how many they are. `bounds` may be
/// empty.
i64 keep(Array<const u64> tickets, u64 key, Array<const double> chances, Array<const double> bounds, double scale,
         Floats odds, Wholes chosen);

}  // namespace pacboost
