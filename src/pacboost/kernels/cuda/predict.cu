// Scores of rows under a vote of trees: the twin of ``score`` of kernels/walk.py.
//
// A block brings the codes of some rows, and the splits of some trees after others, into its own
// memory; a thread walks its row down these trees. Values are multiples of a unit, so their sums do
// not depend on the order.
#include "grid.cuh"

#define CODES 256

extern __shared__ word shared_words[];

// A split in a word: the feature in the upper 16 bits, then left and right child (16 bits each; a
// leaf is ~leaf), the cut, and in the lowest bits whether missing values go left and whether
// levels are looked up.
#define FEATURE_OF(split) ((int)((split) >> 48))
#define LEFT_OF(split) ((int)(short)((split) >> 32))
#define RIGHT_OF(split) ((int)(short)((split) >> 16))
#define CUT_OF(split) ((int)(((split) >> 8) & 255))

extern "C" __global__ void score(const byte* codes, whole stride, whole rows, const word* splits,
                                 const int* members_of, const byte* members, whole missing,
                                 const whole* trees, whole tree_count, const whole* groups,
                                 whole group_count, const double* values, whole outputs,
                                 whole split_room, double* scores) {
  word* held = shared_words;
  byte* tile = (byte*)(shared_words + split_room);
  int line = (int)stride | 4;  // an odd number of words: see bytes_a_row in predict.py
  for (whole first = (whole)blockIdx.x * blockDim.x; first < rows;
       first += (whole)gridDim.x * blockDim.x) {
    int here = (int)min((whole)blockDim.x, rows - first);
    __syncthreads();
    for (int k = threadIdx.x; k < here * (int)(stride / 4); k += blockDim.x) {
      int row = k / (int)(stride / 4), four = k % (int)(stride / 4);
      *(uint*)(tile + row * line + 4 * four) =
          *(const uint*)(codes + (first + row) * stride + 4 * four);
    }
    double sum = 0.0;
    for (whole group = 0; group < group_count; group++) {
      whole tree = groups[group], last_tree = groups[group + 1];
      whole from = trees[3 * tree], to = last_tree < tree_count ? trees[3 * last_tree]
                                                                : trees[3 * tree_count];
      __syncthreads();
      for (whole k = threadIdx.x; k < to - from; k += blockDim.x) held[k] = splits[from + k];
      __syncthreads();
      if (threadIdx.x >= here) continue;
      const byte* own = tile + threadIdx.x * line;
      for (; tree < last_tree; tree++) {
        whole start = trees[3 * tree] - from, base = trees[3 * tree + 2];
        int at = trees[3 * tree + 1] > 0 ? 0 : -1;
        while (at >= 0) {
          word split = held[start + at];
          int code = own[FEATURE_OF(split)];
          bool left = code == missing ? split & 1 : code <= CUT_OF(split);
          if (split & 2) left = members[members_of[from + start + at] * CODES + code] != 0;
          at = left ? LEFT_OF(split) : RIGHT_OF(split);
        }
        if (outputs == 1) sum += values[base + ~at];
        else
          for (whole k = 0; k < outputs; k++)
            scores[(first + threadIdx.x) * outputs + k] += values[(base + ~at) * outputs + k];
      }
    }
    if (outputs == 1 && threadIdx.x < here) scores[first + threadIdx.x] += sum;
  }
}
