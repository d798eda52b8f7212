/// Exponentials and logarithms with the same bits on every machine, as in numerics/same_bits.py:
/// additions, multiplications and divisions in one order, without fused multiply-adds. CUDA compiles
/// this file, too.
#pragma once

#include "core/scalar.h"

namespace pacboost {

/// ln 2 to 32 bits, so that k·LN2_HIGH is exact, and the rest.
constexpr double LN2_HIGH = 0x1.62e42fee00000p-1;
constexpr double LN2_LOW = 0x1.a39ef35793c76p-33;
constexpr double LOG2_E = 0x1.71547652b82fep+0;
constexpr double MAX_EXPONENT = 0x1.74c0000000000p+9;
constexpr double ROOT_HALF = 0x1.6a09e667f3bcdp-1;
/// The exponential of larger numbers is not a normal double.
constexpr double MAX_ARGUMENT = 700.0;
constexpr double MIN_NORMAL = 0x1p-1022;
/// 54 ln 2: a weight is at most 2^54.
constexpr double MAX_LOG_WEIGHT = 0x1.2b708872320e2p+5;
/// 53 ln 2.
constexpr double LOG_UNITS = 0x1.25e4f7b2737fap+5;
/// The double 2^k has the bits (k + BIAS) << FRACTION.
constexpr i64 BIAS = 1023, FRACTION = 52;
/// Bits after the binary point when the polynomial becomes an integer.
constexpr int POINT = 55;
constexpr double SCALE = 36028797018963968.0;  // 2^55

/// exp(r) for |r| ≤ ln(2)/2: Taylor's series up to r^13/13!, which is off by 4e-18.
INLINE double exp_near_0(double r) {
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    return p * r + 1.0;
}
/// round(exp(x)), at least 1 and at most 2^54: additions and multiplications give the same bits on
/// every machine.
INLINE i64 whole_exp(double x) {
    x = x > -1.0 ? x : -1.0;
    x = x < MAX_LOG_WEIGHT ? x : MAX_LOG_WEIGHT;
    double k = floor(x * LOG2_E + 0.5);
    double r = (x - k * LN2_HIGH) - k * LN2_LOW;
    double p = exp_near_0(r);
    i64 shift = i64(POINT) - i64(k);
    i64 rounded = (i64(p * SCALE) + (i64(1) << (shift - 1))) >> shift;
    return rounded > 1 ? rounded : 1;
}

/// exp(x) of a number that is 0 or less. 2^k is a product of two powers: the first product is exact, so
/// the result is rounded once, even if it is tiny.
INLINE double exp_below_0(double x) {
    x = x > -MAX_EXPONENT ? x : -MAX_EXPONENT;
    double k = floor(x * LOG2_E + 0.5);
    double r = (x - k * LN2_HIGH) - k * LN2_LOW;
    double p = exp_near_0(r);
    i64 power = i64(k), half = power >> 1;
    double first = double_of((half + BIAS) << FRACTION);
    double rest = double_of((power - half + BIAS) << FRACTION);
    return p * first * rest;
}
/// exp(x) of |x| up to 700 (others are clipped), as 2^k times a polynomial.
INLINE double natural_exp(double x) {
    x = x > -MAX_ARGUMENT ? x : -MAX_ARGUMENT;
    x = x < MAX_ARGUMENT ? x : MAX_ARGUMENT;
    double k = floor(x * LOG2_E + 0.5);
    double r = (x - k * LN2_HIGH) - k * LN2_LOW;
    return exp_near_0(r) * double_of((i64(k) + BIAS) << FRACTION);
}
/// ln x for a positive x. With x = 2^k·m and f = (m - 1)/(m + 1), ln m = 2(f + f³/3 + f⁵/5 + …);
/// |f| ≤ 0.172, so the series up to f²³ is off by less than 1e-18.
INLINE double natural_log(double x) {
    int exponent;
    double m = frexp(x, &exponent);
    i64 k = exponent;
    if (m < ROOT_HALF) m = 2.0 * m, k -= 1;
    double f = (m - 1.0) / (m + 1.0), s = f * f, p = 1.0 / 23.0;
    p = p * s + 1.0 / 21.0;
    p = p * s + 1.0 / 19.0;
    p = p * s + 1.0 / 17.0;
    p = p * s + 1.0 / 15.0;
    p = p * s + 1.0 / 13.0;
    p = p * s + 1.0 / 11.0;
    p = p * s + 1.0 / 9.0;
    p = p * s + 1.0 / 7.0;
    p = p * s + 1.0 / 5.0;
    p = p * s + 1.0 / 3.0;
    p = p * s + 1.0;
    return double(k) * LN2_HIGH + (2.0 * f * p + double(k) * LN2_LOW);
}

/// A number as 2^power·(1 + f), with 1 + f between √½ and √2, and f - ln(1 + f).
struct Powers {
    double power, f, low;
};
INLINE Powers powers(double x) {
    bool is_tiny = x < MIN_NORMAL;
    i64 bits = bits_of(is_tiny ? x * 0x1p54 : x);
    i64 power = (bits >> FRACTION) - (BIAS - 1) - (is_tiny ? 54 : 0);
    double fraction = double_of((bits & 0xFFFFFFFFFFFFF) | ((BIAS - 1) << FRACTION));
    bool is_small = fraction < ROOT_HALF;
    double f = (is_small ? 2 * fraction : fraction) - 1.0;
    double s = f / (2.0 + f), z = s * s;
    double rest = 2.0 / 25 * z + 2.0 / 23;  // of the series of ln((1 + s)/(1 - s))/s - 2
    rest = rest * z + 2.0 / 21;
    rest = rest * z + 2.0 / 19;
    rest = rest * z + 2.0 / 17;
    rest = rest * z + 2.0 / 15;
    rest = rest * z + 2.0 / 13;
    rest = rest * z + 2.0 / 11;
    rest = rest * z + 2.0 / 9;
    rest = rest * z + 2.0 / 7;
    rest = rest * z + 2.0 / 5;
    rest = rest * z + 2.0 / 3;
    return {double(power - is_small), f, s * (f - rest * z)};
}

}  // namespace pacboost
