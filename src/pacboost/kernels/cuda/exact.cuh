// The functions of native/core/exact.h: the same operations in the same order.
// Everything here is compiled without fused multiply-adds, which would round differently.
#pragma once
#include "grid.cuh"

#define LOG2_E 1.4426950408889634
#define LN2_HIGH 0x1.62e42fee00000p-1
#define LN2_LOW 0x1.a39ef35793c76p-33
#define POINT 55
#define SCALE 36028797018963968.0        // 2^55
#define MOST_LOG 37.42994775023705       // 54 ln 2
#define UNIT 0x1p-53
#define LOG_UNITS 36.7368005696771       // 53 ln 2

__device__ __forceinline__ double taylor(double r) {
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

__device__ __forceinline__ whole whole_exp(double x) {
  x = x > -1.0 ? x : -1.0;
  x = x < MOST_LOG ? x : MOST_LOG;
  double k = floor(x * LOG2_E + 0.5);
  double r = (x - k * LN2_HIGH) - k * LN2_LOW;
  int shift = POINT - (int)k;
  whole rounded = ((whole)(taylor(r) * SCALE) + (1ll << (shift - 1))) >> shift;
  return rounded > 1 ? rounded : 1;
}

__device__ __forceinline__ double raised(double margin) {
  return (double)whole_exp(LOG_UNITS - 2.0 * fabs(margin)) * UNIT;
}

__device__ __forceinline__ double natural_exp(double x) {
  double held = fmin(fmax(x, -700.0), 700.0), k = floor(held * LOG2_E + 0.5);
  double r = (held - k * LN2_HIGH) - k * LN2_LOW;
  return ldexp(taylor(r), (int)k);
}

__device__ __forceinline__ double natural_log(double x) {
  int k;
  double m = frexp(x, &k);
  if (m < 0.7071067811865476) {
    m = 2.0 * m;
    k -= 1;
  }
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
  return (double)k * LN2_HIGH + (2.0 * f * p + (double)k * LN2_LOW);
}
