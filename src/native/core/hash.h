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

}  // namespace pacboost
