// Codes of numbers, laid out row by row: the twin of ``encode`` of kernels/bins.py and ``place`` of
// src/native/tree/words.cpp in one pass. A block takes tile after tile of rows; their codes are in its
// memory, feature by feature, until they are written to their lanes.
#include "core/hash.h"
#include "tree.cuh"

#define NO_PLACE 255  // the code of values that cannot share a lane
#define GAP 4         // after every feature's part of the tile, so that threads rarely collide

extern __shared__ byte tile[];

// Count the cuts below a value; their number is any power of two.
__device__ __forceinline__ int rank(const double* cuts, int size, double value) {
  int low = 0;
  for (int step = size >> 1; step > 0; step >>= 1) low += cuts[low + step - 1] < value ? step : 0;
  return low;
}

template <typename Number>
__device__ void encode_tile(const Number* values, whole row_step, whole column_step, int rows,
                            int columns, const double* cuts, const whole* offsets, byte missing,
                            int line) {
  // the threads of a warp search the same cuts, so that they occupy few places in its cache
  for (int k = threadIdx.x; k < rows * columns; k += blockDim.x) {
    int row = k % rows, column = k / rows;
    double value = (double)values[row * row_step + column * column_step];
    whole first = offsets[column];
    byte code = (byte)rank(cuts + first, (int)(offsets[column + 1] - first), value);
    tile[column * line + row] = isnan(value) ? missing : code;
  }
}

// ``lane_features`` from ``lane_starts[lane]`` on are the features of a lane. ``clashes`` counts,
// for each feature, how often its lane was taken or has no code for it.
extern "C" __global__ void encode(const void* values, whole bytes, whole row_step,
                                  whole column_step, whole rows, whole columns,
                                  const double* cuts, const whole* offsets, whole missing,
                                  const whole* features, const byte* maps,
                                  const whole* lane_starts, const whole* lane_features,
                                  whole lanes, whole stride, whole tile_rows, byte* codes,
                                  uint* clashes) {
  int line = (int)tile_rows + GAP;
  for (whole first = blockIdx.x * tile_rows; first < rows; first += gridDim.x * tile_rows) {
    int here = (int)min(tile_rows, rows - first);
    if (bytes == 4)
      encode_tile((const float*)values + first * row_step, row_step, column_step, here,
                  (int)columns, cuts, offsets, (byte)missing, line);
    else
      encode_tile((const double*)values + first * row_step, row_step, column_step, here,
                  (int)columns, cuts, offsets, (byte)missing, line);
    __syncthreads();
    int quads = (int)stride / 4;
    for (int k = threadIdx.x; k < here * quads; k += blockDim.x) {
      int row = k / quads, quad = k % quads;
      uint four = 0;
      for (int b = 0; b < 4 && 4 * quad + b < lanes; b++) {
        int lane = 4 * quad + b;
        byte taken = 0;
        for (whole f = lane_starts[lane]; f < lane_starts[lane + 1]; f++) {
          whole feature = lane_features[f];
          byte code = tile[feature * line + row];
          if (features[feature * FEATURE_COLUMNS + DEFAULT] >= 0) {
            code = maps[feature * CODES + code];
            if (code == NO_PLACE || (code != 0 && taken != 0)) atomicAdd(clashes + feature, 1u);
          }
          taken |= code;
        }
        four |= (uint)taken << (8 * b);
      }
      *(uint*)(codes + (first + row) * stride + 4 * quad) = four;
    }
    __syncthreads();
  }
}

// src/native/core/row_hashes.h, ``below_limit``.
extern "C" __global__ void below_limit(const void* values, whole bytes, whole row_step,
                                       whole column_step, whole rows, const whole* columns,
                                       whole count, const word* factors, word salt, word limit,
                                       byte* below) {
  whole step = (whole)gridDim.x * blockDim.x;
  for (whole row = (whole)blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += step) {
    word total = salt;
    for (whole k = 0; k < count; k++) {
      whole column = columns[k], at = row * row_step + column * column_step;
      float value = bytes == 4 ? ((const float*)values)[at] : (float)((const double*)values)[at];
      value += 0.0f;  // turns -0 into 0
      word x = STEP;
      if (!isnan(value)) x = (word)(uint)__float_as_int(value);
      total += mixed(x + factors[column]);
    }
    below[row] = mixed(total) < limit;
  }
}

// Return the codes of a feature, row after row.
extern "C" __global__ void codes_of_feature(const byte* codes, whole stride, whole rows,
                                            const whole* feature, byte* out) {
  whole lane = feature[LANE], base = feature[BASE], bins = feature[BINS];
  whole standard = feature[DEFAULT], step = (whole)gridDim.x * blockDim.x;
  for (whole row = (whole)blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += step) {
    whole b = codes[row * stride + lane];
    if (standard >= 0) {  // codes of other features mean that this one has its default
      b -= base;
      if (b < 0 || b >= bins - 1) b = standard;
      else if (b >= standard) b += 1;
    }
    out[row] = (byte)b;
  }
}
