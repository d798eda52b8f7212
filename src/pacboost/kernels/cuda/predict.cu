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
                                 const whole* trees, const whole* groups,
                                 whole group_count, const double* values, whole outputs,
                                 whole split_room, double* scores) {
  word* held = shared_words;
  byte* tile = (byte*)(shared_words + split_room);
  int quads = (int)stride / 4, line = quads | 1;  // of words: see bytes_a_row in predict.py
  for (whole first = (whole)blockIdx.x * blockDim.x; first < rows;
       first += (whole)gridDim.x * blockDim.x) {
    int here = (int)min((whole)blockDim.x, rows - first);
    const uint* from = (const uint*)(codes + first * stride);
    __syncthreads();
    for (int k = threadIdx.x; k < here * quads; k += blockDim.x)
      ((uint*)tile)[k / quads * line + k % quads] = from[k];
    double sum = 0.0;
    for (int group = 0; group < group_count; group++) {
      int tree = (int)groups[group], last_tree = (int)groups[group + 1];
      whole from_split = trees[3 * tree];
      int size = (int)(trees[3 * last_tree] - from_split);
      __syncthreads();
      for (int k = threadIdx.x; k < size; k += blockDim.x) held[k] = splits[from_split + k];
      __syncthreads();
      if (threadIdx.x >= here) continue;
      const byte* own = tile + threadIdx.x * 4 * line;
      for (; tree < last_tree; tree++) {
        int start = (int)(trees[3 * tree] - from_split), at = trees[3 * tree + 1] > 0 ? 0 : -1;
        const double* leaves = values + trees[3 * tree + 2] * outputs;
        while (at >= 0) {
          word split = held[start + at];
          int code = own[FEATURE_OF(split)];
          bool left = code == missing ? split & 1 : code <= CUT_OF(split);
          if (split & 2)
            left = members[(whole)members_of[from_split + start + at] * CODES + code] != 0;
          at = left ? LEFT_OF(split) : RIGHT_OF(split);
        }
        if (outputs == 1) sum += leaves[~at];
        else
          for (whole k = 0; k < outputs; k++)
            scores[(first + threadIdx.x) * outputs + k] += leaves[~at * outputs + k];
      }
    }
    if (outputs == 1 && threadIdx.x < here) scores[first + threadIdx.x] += sum;
  }
}
