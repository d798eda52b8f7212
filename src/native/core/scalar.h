/// Numbers, and what is written differently for CPUs and GPUs. CUDA compiles this file, too.
#pragma once

#if defined(__CUDACC__)
#define INLINE __device__ __forceinline__
#else
#include <bit>
#include <cmath>
#include <cstdint>
#if defined(_MSC_VER) && !defined(__clang__)
#define INLINE __forceinline
#define LAMBDA_INLINE
#else
#define INLINE inline __attribute__((always_inline))
#define LAMBDA_INLINE __attribute__((always_inline))
#endif
#endif

namespace pacboost {

#if defined(__CUDACC__)
using i64 = long long;
using u64 = unsigned long long;
INLINE i64 bits_of(double x) { return __double_as_longlong(x); }
INLINE double double_of(i64 bits) { return __longlong_as_double(bits); }
#else
using i64 = std::int64_t;
using u64 = std::uint64_t;
INLINE i64 bits_of(double x) { return std::bit_cast<i64>(x); }
INLINE double double_of(i64 bits) { return std::bit_cast<double>(bits); }
#endif

}  // namespace pacboost
