// What CUDA C++ has and C++ does not, so that kernels can be compiled for a CPU and tested there.
//
// The threads of a block are contexts that take turns: each runs until it waits for its block or
// its warp. Blocks run one after the other, so a grid whose blocks wait for each other has to have
// a single one. Memory that a block shares is static.
#pragma once
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using std::isnan;
using std::max;
using std::min;

#define __global__
#define __device__
#define __shared__ static
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)

struct Place {
  unsigned x;
};
static Place threadIdx{0}, blockIdx{0}, blockDim{1}, gridDim{1};

namespace on_cpu {

enum State { READY, AT_BLOCK, AT_WARP, DONE };
typedef long long Whole;

// Numbers and pointers are passed in one kind of registers, floats in another, so that a kernel can
// be called with more of both than it has, whatever their order.
typedef void (*Kernel)(Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole,
                       Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole,
                       Whole, Whole, double, double, double, double, double, double, double,
                       double);
const int WHOLES = 24, FLOATS = 8, WARP = 32, MOST_THREADS = 1024;
const size_t STACK = 64 * 1024;

struct Thread {
  ucontext_t first;
  jmp_buf place;
  bool begun;
  State state;
};

static std::vector<Thread> threads;
static std::vector<char> stacks;
static jmp_buf scheduler;
static int now;
static Whole slots[MOST_THREADS];
static Kernel kernel;
static Whole a[WHOLES];
static double d[FLOATS];

inline void leave(State state) {
  threads[now].state = state;
  if (_setjmp(threads[now].place) == 0) _longjmp(scheduler, 1);
}

static void enter() {
  kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
         a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23], d[0], d[1], d[2],
         d[3], d[4], d[5], d[6], d[7]);
  leave(DONE);
}

static void __attribute__((noinline)) resume(int thread) {
  now = thread;
  threadIdx.x = thread;
  if (_setjmp(scheduler) != 0) return;
  if (threads[thread].begun) _longjmp(threads[thread].place, 1);
  threads[thread].begun = true;
  setcontext(&threads[thread].first);
}

static void prepare(int block) {
  if ((int)threads.size() < block) {
    threads.resize(block);
    stacks.resize(block * STACK);
  }
  for (int i = 0; i < block; i++) {
    getcontext(&threads[i].first);
    threads[i].first.uc_stack.ss_sp = stacks.data() + i * STACK;
    threads[i].first.uc_stack.ss_size = STACK;
    threads[i].first.uc_link = nullptr;
    makecontext(&threads[i].first, enter, 0);
    threads[i].state = READY;
    threads[i].begun = false;
  }
}

// Let threads go on for which all others have arrived; tell whether there are some.
static bool release(int first, int last, State state) {
  int waiting = 0, alive = 0;
  for (int i = first; i < last; i++) {
    waiting += threads[i].state == state;
    alive += threads[i].state != DONE;
  }
  if (waiting == 0 || waiting < alive) return false;
  for (int i = first; i < last; i++)
    if (threads[i].state == state) threads[i].state = READY;
  return true;
}

static void run_block(int block) {
  prepare(block);
  for (;;) {
    for (int i = 0; i < block; i++)
      if (threads[i].state == READY) resume(i);
    bool goes_on = release(0, block, AT_BLOCK), done = true;
    for (int first = 0; first < block; first += WARP)
      goes_on |= release(first, min(block, first + WARP), AT_WARP);
    for (int i = 0; i < block; i++) done &= threads[i].state == DONE;
    if (done) return;
    if (!goes_on) {
      fprintf(stderr, "threads of a block wait for others that never come\n");
      abort();
    }
  }
}

// What a lane of the same warp has; lanes that are not there give one's own.
template <typename T>
T of_lane(T own, int lane) {
  int from = lane < 0 || lane >= WARP ? now : (now & ~(WARP - 1)) + lane;
  memcpy(&slots[now], &own, sizeof own);
  leave(AT_WARP);
  T found;
  memcpy(&found, &slots[from], sizeof found);
  leave(AT_WARP);
  return found;
}

}  // namespace on_cpu

extern "C" void run_on_cpu(void* kernel, const long long* wholes, const double* floats, int grid,
                           int block) {
  on_cpu::kernel = (on_cpu::Kernel)kernel;
  memcpy(on_cpu::a, wholes, sizeof on_cpu::a);
  memcpy(on_cpu::d, floats, sizeof on_cpu::d);
  gridDim.x = grid;
  blockDim.x = block;
  for (int b = 0; b < grid; b++) {
    blockIdx.x = b;
    on_cpu::run_block(block);
  }
}

inline void __syncthreads() { on_cpu::leave(on_cpu::AT_BLOCK); }
inline void __syncwarp() { on_cpu::leave(on_cpu::AT_WARP); }
inline void __threadfence() {}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(unsigned x) { return __builtin_ffs((int)x); }
inline int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
inline int lane_now() { return on_cpu::now & (on_cpu::WARP - 1); }

template <typename T>
T __shfl_sync(unsigned, T own, int lane) { return on_cpu::of_lane(own, lane); }
template <typename T>
T __shfl_xor_sync(unsigned, T own, int step) { return on_cpu::of_lane(own, lane_now() ^ step); }
template <typename T>
T __shfl_up_sync(unsigned, T own, int step) { return on_cpu::of_lane(own, lane_now() - step); }
template <typename T>
T __shfl_down_sync(unsigned, T own, int step) { return on_cpu::of_lane(own, lane_now() + step); }

inline unsigned __ballot_sync(unsigned, bool own) {
  unsigned found = 0;
  for (int lane = 0; lane < on_cpu::WARP; lane++)
    found |= (unsigned)on_cpu::of_lane((int)own, lane) << lane;
  return found;
}

template <typename T, typename U>
T atomicAdd(T* sum, U more) {
  T before = *sum;
  *sum += (T)more;
  return before;
}

inline int __float_as_int(float number) {
  int found;
  memcpy(&found, &number, sizeof found);
  return found;
}

inline double __longlong_as_double(long long bits) {
  double found;
  memcpy(&found, &bits, sizeof found);
  return found;
}
