// The exponentials and logarithms of the CPU, from src/native/core.
// Everything here is compiled without fused multiply-adds, which would round differently.
#pragma once
#include "core/exact.h"
#include "grid.cuh"

using namespace pacboost;

#define UNIT 0x1p-53

__device__ __forceinline__ double raised(double margin) {
  return (double)whole_exp(LOG_UNITS - 2.0 * fabs(margin)) * UNIT;
}
