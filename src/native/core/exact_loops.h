/// The functions of exact.h over arrays, in loops that every compiler makes vectors of.
#pragma once

#include "core/array.h"
#include "core/exact.h"

namespace pacboost {

/// `whole_exp` in two loops over at most CHUNK numbers, both vectorized by every compiler: GCC makes no
/// vectors of a shift whose count is computed in the same loop.
constexpr i64 CHUNK = 1024;
struct HalfDone {
    u64 fixed[CHUNK], shift[CHUNK];
};
INLINE i64 small_whole(double k) { return bits_of(k + 0x1.8p52) - bits_of(0x1.8p52); }
INLINE double exact_double(i64 e) {  // of 0 to 2^53
    double high = double_of((e >> 32) | 0x4330000000000000) - 0x1p52;
    return high * 0x1p32 + (double_of((e & 0xFFFFFFFF) | 0x4330000000000000) - 0x1p52);
}
INLINE void begin_exp(double x, i64 i, HalfDone& half) {
    x = x > -1.0 ? x : -1.0;
    x = x < MAX_LOG_WEIGHT ? x : MAX_LOG_WEIGHT;
    double k = std::floor(x * LOG2_E + 0.5);
    double r = (x - k * LN2_HIGH) - k * LN2_LOW;
    u64 bits = u64(bits_of(exp_near_0(r)));  // from 2^-0.5 to 2^0.5: times 2^55 it is whole
    half.fixed[i] = ((bits & 0xFFFFFFFFFFFFF) | 0x10000000000000) << 2 << ((bits >> 52) & 1);
    half.shift[i] = u64(POINT - 1 - small_whole(k));
}
INLINE i64 end_exp(const HalfDone& half, i64 i) {
    u64 rounded = ((half.fixed[i] >> half.shift[i]) + 1) >> 1;
    return rounded > 1 ? i64(rounded) : 1;
}

/// Write the exponential of every number.
void exponentials(Array<const double> values, Floats out);
/// Write the logarithm of every number: -inf of 0, NaN below.
void logarithms(Array<const double> values, Floats out);
/// Write 1/(1 + exp(-x)) of every number.
void sigmoids(Array<const double> values, Floats out);
/// Write numbers minus the largest of their row, their exponentials, and the sums of those.
void raise_rows(Array<const double, 2> rows, Array<double, 2> less, Array<double, 2> raised, Floats sums);
/// Write ⌊-steps·log₂(value)⌋ of numbers in [0, 1], at most `last`.
void steps_below_1(Array<const double> values, double steps, i64 last, Bytes out);

}  // namespace pacboost
