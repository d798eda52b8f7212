/// Hashes of 64 bits, and random numbers that depend on a row and a key alone. CUDA compiles this file,
/// too.
#pragma once

#include "core/scalar.h"

namespace pacboost {

/// The increment of splitmix64 (Steele, Lea and Flood 2014).
constexpr u64 STEP = 0x9E3779B97F4A7C15;
/// Random numbers are integers below 2^53, which are exact as floats.
constexpr int RANDOM_BITS = 53;

/// Spread bits over the whole word: the finalizer of splitmix64.
INLINE u64 mixed(u64 x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

/// The random number of a row under a key.
INLINE u64 drawn(u64 row, u64 key) { return mixed(row * STEP + key) >> (64 - RANDOM_BITS); }

/// The cell of missing values.
constexpr u64 MISSING_CELL = STEP;

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
