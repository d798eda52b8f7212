/// Pairs: the pull and the weight of a row, or of many, in one 64-bit integer.
///
/// Each row has a pair of integers for every output: its pull (the change of the score that it asks
/// for, times its weight) and its weight. Both sums fit into 32 bits, so a pair is one integer,
/// `pull·2³² + weight`, and one addition counts both (measured: up to twice as fast).
#pragma once

#include <bit>

#include "core/array.h"

namespace pacboost {

/// The bits of a pair that hold the weight.
constexpr i64 LOW = 0xFFFFFFFF;

/// The weight and the pull of a pair, by masks and shifts that every processor has for vectors:
/// 2^52 + weight and 2^52 + 2^31 + pull are doubles whose low bits are those of the pair. Both are exact.
INLINE double weight_of(i64 pair) { return std::bit_cast<double>((pair & LOW) | 0x4330000000000000) - 0x1p52; }
INLINE double pull_of(i64 pair) {
    return std::bit_cast<double>(i64(u64(pair) >> 32) ^ 0x4330000080000000) - (0x1p52 + 0x1p31);
}

}  // namespace pacboost
