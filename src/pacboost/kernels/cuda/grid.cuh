// Cooperation of the blocks of a grid: the twin of src/native/team.
// All blocks of a launch are resident at once (a cooperative launch), so that they may wait for
// each other.
#pragma once

typedef long long whole;          // sums, as in NumPy's int64
typedef unsigned long long word;  // the type of 64-bit atomic additions
typedef unsigned int uint;
typedef unsigned char byte;

// The words of ``barrier``: how many blocks have arrived, and how often all have met.
enum { ARRIVED, MET, BARRIER_WORDS };

// Return true in the last block that arrives at a barrier; it has to call ``release``. The others
// wait here until it does.
__device__ bool last_to_arrive(uint* barrier) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    volatile uint* met = barrier + MET;
    uint before = *met;
    __threadfence();
    last = atomicAdd(barrier + ARRIVED, 1u) == gridDim.x - 1;
    if (!last)
      while (*met == before) {
      }
    __threadfence();
  }
  __syncthreads();
  return last;
}

__device__ void release(uint* barrier) {
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier[ARRIVED] = 0;
    __threadfence();
    atomicAdd(barrier + MET, 1u);
  }
}

__device__ void meet(uint* barrier) {
  if (last_to_arrive(barrier)) release(barrier);
}

// The factor that scales integers with the sum ``total`` to a sum of 2^30: learners/growing.py.
__device__ __forceinline__ double scale_of(whole total) {
  return 1073741824.0 / (double)(total > 1 ? total : 1);
}

__device__ __forceinline__ whole packed(int pull, uint weight) {
  return ((whole)pull << 32) + weight;
}

__device__ __forceinline__ double weight_of(whole pair) {
  return (double)(pair & 0xFFFFFFFFll);
}

__device__ __forceinline__ double pull_of(whole pair) { return (double)(pair >> 32); }

__device__ __forceinline__ whole add_over_warp(whole x) {
  for (int step = 16; step > 0; step >>= 1) x += __shfl_xor_sync(~0u, x, step);
  return x;
}

// The sum over this thread of the warp and all before it.
__device__ __forceinline__ whole add_up_to(whole x) {
  int lane = threadIdx.x & 31;
  for (int step = 1; step < 32; step <<= 1) {
    whole other = __shfl_up_sync(~0u, x, step);
    if (lane >= step) x += other;
  }
  return x;
}

// Add numbers to a sum one after the other, as a loop on the CPU does. They are loaded sixteen at a
// time, so that an addition waits only for the one before it.
__device__ __forceinline__ double add_in_order(double sum, const double* numbers, int count) {
  int k = 0;
  for (; k + 16 <= count; k += 16) {
    double held[16];
#pragma unroll
    for (int i = 0; i < 16; i++) held[i] = numbers[k + i];
#pragma unroll
    for (int i = 0; i < 16; i++) sum += held[i];
  }
  for (; k < count; k++) sum += numbers[k];
  return sum;
}
