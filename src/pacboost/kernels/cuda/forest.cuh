// The arrays of the trees of a forest that is being grown; kernels/cuda/forest.py fills them in.
#pragma once
#include "grid.cuh"

#define CODES 256
#define TINY 32    // maximum rows of a node in the registers of one warp
#define SMALL 512  // maximum rows of a node whose features are searched by one warp each
#define WARPS 8    // of a block
#define MOST_IN_DECK 1024  // maximum features whose order fits into the memory of a block
#define MOST_GAINS 256     // maximum features whose gains fit there
#define LOW 0xFFFFFFFFll  // two classes: weight times target << 32 | weight
#define CLASS 0xFFFFll    // many classes: weight << 16 | class
#define LEAF 0x7FFFFFull  // the feature of a leaf
#define NONE (~0u)

struct Forest {
  const byte* columns;  // (features, rows)
  const byte* lines;    // (rows, stride): for nodes with few of the rows
  whole rows, stride, features;
  whole classes, missing, tries, least, smallest, deepest, random;  // the plan of kernels/forest.py
  whole weighted;       // whether weights are not part of the parcels
  const whole *parcels, *weights, *medians;  // of rows and features
  whole trees, room;    // the number of trees, and the rows that each has room for
  const void* counts;   // (trees, rows): how often a row is in the bag; null: once
  whole count_bytes;
  const word* seeds;    // (trees)
  whole most_waiting;   // maximum number of nodes of a tree that wait
  // The work space and the results of each tree:
  uint *rows_of, *spare_rows;                          // (trees, room)
  whole *own, *heavy, *spare, *spare_heavy;            // (trees, room): parcels and weights
  uint* decks;                                         // (trees, features)
  whole *totals, *left;                                // (trees, WARPS, classes), of many classes
  whole* by_code;                                      // (trees, CODES, classes), of many classes
  uint* stacks;                                        // (trees, most_waiting, 4)
  word* stacked;                                       // (trees, most_waiting): nodes that wait
  word* nodes;                                         // (trees, 2 room)
  uint* ranges;                                        // (trees, room): rows of impure leaves
  double* gains;                                       // (trees, features)
  whole* found;                                        // (trees, 3): nodes, impure leaves, failure
};

// The part of one tree.
struct Own {
  uint *rows, *spare_rows, *deck, *stack, *ranges;
  whole *parcels, *weights, *spare, *spare_weights, *totals, *left, *by_code;
  word *stacked, *nodes;
  double* gains;
};

// The memory of a warp, or of the whole block for a large node.
struct Strip {
  whole heavy[CODES], pulls[CODES];
  uint numbers[CODES];
};

// A feature that was drawn and searched: its place in the deck, and the state of the draws.
struct Drawn {
  bool there, as_expected;
  whole feature, at, drawn, passed;
  word state;
  double score;
  uint key;
  int low, high;
};

// The memory that the threads of a block share.
struct Bench {
  Strip strips[WARPS];
  Drawn drawn[WARPS];
  whole scratch[WARPS];
  uint counts[WARPS];
  uint deck[MOST_IN_DECK];
  double gains[MOST_GAINS];
};

// The state of growth: the current node, and the numbers of nodes and leaves written.
struct Turn {
  whole start, stop, depth, known, written, waiting, lines, done;
  word state;  // of the random numbers
};

// A node: its rows, their weight, and the sum of their weighted targets. With many classes, that is
// the sum of squared weights of classes.
struct Node {
  whole start, size, weight, pull;
  double score;
  bool pure, dense;
};

// A row of a node with few rows, one for each lane.
struct Held {
  uint row;
  whole weight, pull;
};

// The best cut of a feature. Its key orders cuts: 1 if missing values go left, the code
// before the cut, the cut.
struct Found {
  double score;
  uint key;
  int low, high;
};

__device__ __forceinline__ int cut_of(uint key) { return key & 255; }
__device__ __forceinline__ int side_of(uint key) { return (key >> 16) & 1; }
__device__ __forceinline__ uint key_of(int side, int code, int following, int missing) {
  int cut = following == missing ? code : (code + following - 1) >> 1;
  return ((uint)side << 16) | ((uint)code << 8) | (uint)cut;
}

// All threads of a block work together, or those of a warp.
template <bool ALL>
__device__ __forceinline__ int team() {
  return ALL ? blockDim.x : 32;
}

template <bool ALL>
__device__ __forceinline__ int rank() {
  return ALL ? threadIdx.x : threadIdx.x & 31;
}

template <bool ALL>
__device__ __forceinline__ void wait() {
  if (ALL) __syncthreads();
  else __syncwarp();
}

template <bool ALL>
__device__ __forceinline__ whole add_over_team(whole x, Bench& bench) {
  x = add_over_warp(x);
  if (!ALL) return x;
  __syncthreads();
  if ((threadIdx.x & 31) == 0) bench.scratch[threadIdx.x >> 5] = x;
  __syncthreads();
  x = 0;
  for (int warp = 0; warp < (int)(blockDim.x >> 5); warp++) x += bench.scratch[warp];
  return x;
}

template <bool ALL>
__device__ __forceinline__ int largest_of_team(int x, Bench& bench) {
  for (int step = 16; step > 0; step >>= 1) x = max(x, __shfl_xor_sync(~0u, x, step));
  if (!ALL) return x;
  __syncthreads();
  if ((threadIdx.x & 31) == 0) bench.scratch[threadIdx.x >> 5] = x;
  __syncthreads();
  for (int warp = 0; warp < (int)(blockDim.x >> 5); warp++) x = max(x, (int)bench.scratch[warp]);
  return x;
}

// The best of all lanes: the largest score, the first of equals.
__device__ __forceinline__ void best_of_lanes(double& score, uint& key) {
  for (int step = 16; step > 0; step >>= 1) {
    double other = __shfl_xor_sync(~0u, score, step);
    uint its = __shfl_xor_sync(~0u, key, step);
    if (other > score || (other == score && its < key)) {
      score = other;
      key = its;
    }
  }
}

// Draw one of 0 ... limit - 1: native/forest/cuts.cpp.
__device__ __forceinline__ whole below(word& state, whole limit) {
  state += 0x9E3779B97F4A7C15ull;
  word x = state;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  x ^= x >> 31;
  return (whole)(((x >> 32) * (word)limit) >> 32);
}

__device__ __forceinline__ int code_at(const Forest& f, bool dense, whole feature, uint row) {
  return dense ? f.columns[feature * f.rows + row] : f.lines[(whole)row * f.stride + feature];
}

// The weight of a row of a node, and its weighted target.
__device__ __forceinline__ void share_of(const Forest& f, const Own& own, whole at, whole& weight,
                                         whole& pull) {
  whole parcel = own.parcels[at];
  if (f.weighted) {
    weight = own.weights[at];
    pull = weight * parcel;
  } else {
    weight = parcel & LOW;
    pull = parcel >> 32;
  }
}

// The score of a cut by the weights and sums of its left side and of the whole node.
__device__ __forceinline__ double score_of(const Node& n, whole weight, whole pull,
                                           double lightest) {
  double ours = (double)weight, theirs = (double)(n.weight - weight);
  if (min(ours, theirs) < lightest) return -1.0;
  double one = (double)pull, other = (double)(n.pull - pull);
  return one * one / ours + other * other / theirs;
}

// The same for many classes, by the sums of squares of both sides.
__device__ __forceinline__ double score_of_squares(const Node& n, whole weight, whole ours,
                                                   whole theirs, double lightest) {
  double one = (double)weight, other = (double)(n.weight - weight);
  if (min(one, other) < lightest) return -1.0;
  return (double)ours / one + (double)theirs / other;
}
