// Scores of rows under a vote of trees: the twin of ``score`` of src/native/tree/predict.cpp.
//
// A block loads the codes of some rows, and group after group of trees, into its memory; a thread
// walks its row down these trees. Values are multiples of a unit, so their sums do not depend on the
// order.
#include "grid.cuh"

#define CODES 256

extern __shared__ uint shared_words[];

// A split or a leaf in a word. A split has the feature in the upper 9 bits, the cut in 8 bits, whether
// missing values go left, whether levels are looked up, and in the lowest 13 bits the place of
// its left child in the tree; the right one follows it. A leaf has 0 there, and its number above.
#define PART_OF(entry) ((int)((entry) & 0x1FFF))
#define FEATURE_OF(entry) ((int)((entry) >> 23))
#define CUT_OF(entry) ((int)(((entry) >> 15) & 255))
#define MISSING_LEFT(entry) (((entry) >> 14) & 1)
#define BY_LEVELS(entry) ((entry) & 0x2000)
#define LEAF_OF(entry) ((int)((entry) >> 13))

// ``trees`` holds the first entry and the first leaf value of each tree.
extern "C" __global__ void score(const byte* codes, whole stride, whole rows, const uint* entries,
                                 const int* members_of, const byte* members, whole missing,
                                 const whole* trees, const whole* groups, whole group_count,
                                 const double* values, whole outputs, whole entry_room,
                                 double* scores) {
  uint *held = shared_words, *tile = shared_words + entry_room;
  int quads = (int)stride / 4, line = quads | 1;  // in words: see row_distance in predict.py
  for (whole first = (whole)blockIdx.x * blockDim.x; first < rows;
       first += (whole)gridDim.x * blockDim.x) {
    int here = (int)min((whole)blockDim.x, rows - first);
    const uint* from = (const uint*)(codes + first * stride);
    __syncthreads();
    for (int k = threadIdx.x; k < here * quads; k += blockDim.x)
      tile[k / quads * line + k % quads] = from[k];
    double sum = 0.0;
    for (int group = 0; group < group_count; group++) {
      int tree = (int)groups[group], last_tree = (int)groups[group + 1];
      whole begin = trees[2 * tree];
      int size = (int)(trees[2 * last_tree] - begin);
      __syncthreads();
      for (int k = threadIdx.x; k < size; k += blockDim.x) held[k] = entries[begin + k];
      __syncthreads();
      if (threadIdx.x >= here) continue;
      const byte* own = (const byte*)(tile + threadIdx.x * line);
      for (; tree < last_tree; tree++) {
        const uint* root = held + (trees[2 * tree] - begin);
        const double* leaves = values + trees[2 * tree + 1] * outputs;
        int at = 0;
        uint entry = root[0];
        while (PART_OF(entry) != 0) {
          int code = own[FEATURE_OF(entry)];
          bool left = code == missing ? MISSING_LEFT(entry) != 0 : code <= CUT_OF(entry);
          if (BY_LEVELS(entry))
            left = members[(whole)members_of[trees[2 * tree] + at] * CODES + code] != 0;
          at = PART_OF(entry) + (left ? 0 : 1);
          entry = root[at];
        }
        if (outputs == 1) sum += leaves[LEAF_OF(entry)];
        else
          for (whole k = 0; k < outputs; k++)
            scores[(first + threadIdx.x) * outputs + k] += leaves[LEAF_OF(entry) * outputs + k];
      }
    }
    if (outputs == 1 && threadIdx.x < here) scores[first + threadIdx.x] += sum;
  }
}
