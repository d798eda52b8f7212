// Passes over all rows: the twins of kernels/shares.py, each of the same name.
#include "exact.cuh"

#define THREADS 256
#define PIECE 2048  // rows that a block fetches at once

__device__ __forceinline__ whole me() { return (whole)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ whole step() { return (whole)gridDim.x * blockDim.x; }

__device__ __forceinline__ whole cell_of(const void* cells, whole bytes, whole i) {
  return bytes == 1 ? ((const byte*)cells)[i] : ((const unsigned short*)cells)[i];
}

// Add what every thread of the block has counted to a sum of all blocks.
__device__ void add_to(whole* sum, whole mine) {
  mine = add_over_warp(mine);
  if ((threadIdx.x & 31) == 0 && mine != 0) atomicAdd((word*)sum, (word)mine);
}

// kernels/pairing.py; pulls are whole numbers, or signs where ``times_weight``.
extern "C" __global__ void pair_up(const whole* weights, const whole* pulls,
                                   const signed char* signs, const signed char* flips,
                                   double pull_scale, double weight_scale, whole rows,
                                   whole outputs, whole lines, whole* pairs) {
  for (whole i = me(); i < rows; i += step()) {
    whole weight = 0;
    for (whole k = 0; k < outputs; k++) weight += weights[i * outputs + k];
    whole small = (whole)rint((double)weight * weight_scale);
    for (whole s = 0; s < lines; s++) {
      whole pull = 0;
      for (whole k = 0; k < outputs; k++) {
        whole own = signs ? weights[i * outputs + k] * signs[i * outputs + k]
                          : pulls[i * outputs + k];
        pull += own * flips[s * outputs + k];
      }
      pairs[s * rows + i] = ((whole)rint((double)pull * pull_scale) << 32) + small;
    }
  }
}

// Add each cell's value, then set weights q(1 - q) and pulls: kernels/update.py.
extern "C" __global__ void logistic(const void* cells, whole cell_bytes, const double* values,
                                    const signed char* signs, const double* base, whole bases,
                                    double most, whole rows, double* margins, whole* weights,
                                    whole* pulls, whole* totals) {
  whole weight_sum = 0, pull_sum = 0;
  for (whole i = me(); i < rows; i += step()) {
    double side = (double)signs[i];
    double margin = margins[i] + values[cell_of(cells, cell_bytes, i)] * side;
    margins[i] = margin;
    double e = raised(margin), own = base[bases > 1 ? i : 0];
    double right = own / (1.0 + e), wrong = e * right, curve = wrong / (1.0 + e);
    double q = margin > 0 ? wrong : right, held = most * curve;
    whole asked = (whole)((held < q ? held : q) + 0.5), curved = (whole)(curve + 0.5);
    weights[i] = curved;
    pulls[i] = asked * signs[i];
    weight_sum += curved;
    pull_sum += asked;
  }
  add_to(totals, weight_sum);
  add_to(totals + 1, pull_sum);
}

// exp(F - max F) of a row's scores F = margin·sign, as ``raise_rows`` of kernels/update.py.
__device__ double raise_row(const double* margin, const signed char* side, whole outputs,
                            double& top) {
  top = margin[0] * side[0];
  for (whole k = 0; k < outputs; k++) {
    double score = margin[k] * side[k];
    top = score > top ? score : top;
  }
  double total = 0.0;
  for (whole k = 0; k < outputs; k++)
    total += (double)whole_exp(LOG_UNITS + (margin[k] * side[k] - top)) * UNIT;
  return total;
}

// Add each cell's values, then set weights p(1 - p) and pulls y* - p: kernels/update.py. A row a
// thread. ``chosen`` is null for all rows.
extern "C" __global__ void softmax(const whole* chosen, whole count, const void* cells,
                                   whole cell_bytes, const double* values,
                                   const signed char* signs, const double* base, whole bases,
                                   double most, whole outputs, double* margins, whole* weights,
                                   whole* pulls, whole* totals) {
  whole weight_sum = 0, pull_sum = 0;
  for (whole j = me(); j < count; j += step()) {
    whole i = chosen ? chosen[j] : j;
    const double* own = values + cell_of(cells, cell_bytes, i) * outputs;
    const signed char* side = signs + i * outputs;
    double *margin = margins + i * outputs, top;
    for (whole k = 0; k < outputs; k++) margin[k] += own[k] * side[k];
    double total = raise_row(margin, side, outputs, top);
    double scale = base[bases > 1 ? i : 0] / total;
    for (whole k = 0; k < outputs; k++) {
      double line = (double)whole_exp(LOG_UNITS + (margin[k] * side[k] - top)) * UNIT;
      double part = line * scale, other = (total - line) * scale, curve = line * other / total;
      double gap = side[k] > 0 ? other : part, held = most * curve;
      whole curved = (whole)(curve + 0.5), asked = (whole)((held < gap ? held : gap) + 0.5);
      whole* weight = weights + i * outputs + k;
      whole* pull = pulls + i * outputs + k;
      weight_sum += curved - *weight;
      pull_sum += asked - (*pull < 0 ? -*pull : *pull);
      *weight = curved;
      *pull = asked * side[k];
    }
  }
  add_to(totals, weight_sum);
  add_to(totals + 1, pull_sum);
}

// kernels/update.py, ``exponential_cells``: all arrays are (rows, outputs).
extern "C" __global__ void exponential_cells(const void* cells, whole cell_bytes,
                                             const double* values, const signed char* signs,
                                             const double* log_base, whole bases,
                                             double log_scale, whole rows, whole outputs,
                                             double* margins, whole* weights, whole* totals) {
  whole sum = 0;
  for (whole at = me(); at < rows * outputs; at += step()) {
    whole cell = cell_of(cells, cell_bytes, at / outputs);
    double margin = margins[at] + values[cell * outputs + at % outputs] * (double)signs[at];
    margins[at] = margin;
    whole weight = whole_exp(log_scale - margin + log_base[bases > 1 ? at : 0]);
    weights[at] = weight;
    sum += weight;
  }
  add_to(totals, sum);
}

// kernels/update.py, ``exponential``: all arrays are flat. Without ``agree`` no vote is added.
extern "C" __global__ void exponential(const signed char* agree, double vote, double total_vote,
                                       const double* log_base, whole bases, double log_scale,
                                       whole rows, double* margins, whole* weights,
                                       whole* totals) {
  whole sum = 0;
  double shift = log_base[0] + log_scale;
  for (whole i = me(); i < rows; i += step()) {
    double margin = margins[i] + vote * (double)agree[i];
    margins[i] = margin;
    if (bases > 1) shift = log_base[i] + log_scale;
    whole weight = whole_exp(total_vote - margin + shift);
    weights[i] = weight;
    sum += weight;
  }
  add_to(totals, sum);
}

// Sum pulls and weights in every cell: ``sums`` is (2, cells, outputs). Where ``here``, a block
// sums in its own memory first.
extern "C" __global__ void cell_sums(const whole* chosen, whole count, const void* cells,
                                     whole cell_bytes, const whole* weights, const whole* pulls,
                                     const signed char* signs, whole outputs, whole cell_count,
                                     whole here, whole* sums) {
  extern __shared__ whole own[];
  whole size = cell_count * outputs;
  whole* into = here ? own : sums;
  if (here) {
    for (whole k = threadIdx.x; k < 2 * size; k += blockDim.x) own[k] = 0;
    __syncthreads();
  }
  for (whole j = me(); j < count * outputs; j += step()) {
    whole i = chosen ? chosen[j / outputs] : j / outputs, at = i * outputs + j % outputs;
    whole cell = cell_of(cells, cell_bytes, i) * outputs + j % outputs;
    whole weight = weights[at], pull = signs ? weight * signs[at] : pulls[at];
    if (pull != 0) atomicAdd((word*)into + cell, (word)pull);
    if (weight != 0) atomicAdd((word*)into + size + cell, (word)weight);
  }
  if (here) {
    __syncthreads();
    for (whole k = threadIdx.x; k < 2 * size; k += blockDim.x)
      if (own[k] != 0) atomicAdd((word*)sums + k, (word)own[k]);
  }
}

// Sum the squares of pulls, span by span and in the order of the rows, as kernels/measure.py does:
// a block fetches a piece, and one of its threads adds it up.
extern "C" __global__ void squares_of_pulls(const whole* weights, const whole* pulls,
                                            const signed char* signs, whole numbers, whole size,
                                            double* sums) {
  __shared__ double piece[2][PIECE];
  whole first = blockIdx.x * size, last = min(first + size, numbers);
  double sum = 0.0;
  int turn = 0;
  for (whole start = first; start < last; start += PIECE, turn ^= 1) {
    for (whole k = threadIdx.x; k < PIECE && start + k < last; k += blockDim.x) {
      whole at = start + k;
      double pull = (double)(signs ? weights[at] * signs[at] : pulls[at]);
      piece[turn][k] = pull * pull;
    }
    __syncthreads();
    if (threadIdx.x == 0)
      sum = add_in_order(sum, piece[turn], (int)min((whole)PIECE, last - start));
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// kernels/measure.py, ``log_costs``: a block a span, a warp a tile, with one logarithm for sixteen
// rows. What is summed in floats is summed in the order of the rows.
#define TILE 1024
#define GROUPS (TILE / 16)
#define WARPS (THREADS / 32)

extern "C" __global__ void log_costs(const double* margins, whole rows, whole size, double* sums) {
  extern __shared__ double fetched[];  // (WARPS, TILE + GROUPS): a gap behind every sixteen rows
  __shared__ double logs[WARPS][GROUPS], slopes[WARPS];
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  double* own = fetched + warp * (TILE + GROUPS);
  whole first = blockIdx.x * size, last = min(first + size, rows);
  double total = 0.0;
  for (whole batch = first; batch < last; batch += WARPS * TILE) {
    whole start = batch + warp * TILE;
    for (int k = lane; k < TILE; k += 32)  // far on the right side, a row costs nothing
      own[k + k / 16] = start + k < last ? margins[start + k] : 1e9;
    __syncwarp();
    for (int g = lane; g < GROUPS; g += 32) {
      double product = 1.0;
      for (int k = 0; k < 16; k++) {
        double margin = own[17 * g + k];
        product *= 1.0 + (margin < 1e9 ? raised(margin) : 0.0);
      }
      logs[warp][g] = natural_log(product);
    }
    if (lane == 0) {
      double slope = 0.0;
      for (int g = 0; g < GROUPS; g++) {
#pragma unroll
        for (int k = 0; k < 16; k++) slope += own[17 * g + k] < 0 ? own[17 * g + k] : 0.0;
      }
      slopes[warp] = slope;
    }
    __syncthreads();
    if (threadIdx.x == 0)
      for (int w = 0; w < WARPS && batch + w * TILE < last; w++) {
        total -= 2.0 * slopes[w];
        total = add_in_order(total, logs[w], GROUPS);
      }
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// kernels/measure.py, ``potential``: a block a span; it computes the costs of a piece of the rows,
// and one of its threads adds them up in their order.
enum { LOGISTIC, CLIPPED, SQUARE, ABSOLUTE };

extern "C" __global__ void potential(whole kind, const double* margins, const double* base,
                                     whole bases, whole rows, whole outputs, whole size,
                                     double* sums) {
  __shared__ double piece[2][PIECE];
  whole first = blockIdx.x * size, last = min(first + size, rows);
  double total = 0.0;
  int turn = 0;
  for (whole start = first; start < last; start += PIECE, turn ^= 1) {
    for (whole i = threadIdx.x; i < PIECE && start + i < last; i += blockDim.x) {
      const double* margin = margins + (start + i) * outputs;
      double cost = 0.0;
      for (whole k = 0; k < outputs; k++) {
        double z = margin[k], size_of_z = fabs(z);
        if (kind == SQUARE) cost += size_of_z * size_of_z;
        else if (kind == ABSOLUTE) cost += size_of_z;
        else {
          double e = natural_exp(-size_of_z * (kind == LOGISTIC ? 2.0 : 1.0));
          if (kind == LOGISTIC) cost += natural_log(1.0 + e) - 2.0 * (z < 0.0 ? z : 0.0);
          else cost += z >= 0 ? e : 1.0 - z;
        }
      }
      piece[turn][i] = cost * base[bases > 1 ? start + i : 0];
    }
    __syncthreads();
    if (threadIdx.x == 0)
      total = add_in_order(total, piece[turn], (int)min((whole)PIECE, last - start));
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// kernels/measure.py, ``mistakes``.
extern "C" __global__ void mistakes(const double* margins, const whole* first_weights,
                                    whole weighted, whole rows, whole* totals) {
  whole sum = 0;
  for (whole i = me(); i < rows; i += step())
    if (margins[i] <= 0) sum += first_weights[weighted ? i : 0];
  add_to(totals, sum);
}

// kernels/measure.py, ``wrong_classes``.
extern "C" __global__ void wrong_classes(const double* margins, const signed char* signs,
                                         const whole* first_weights, whole weighted, whole rows,
                                         whole outputs, whole* totals) {
  whole sum = 0;
  for (whole i = me(); i < rows; i += step()) {
    double own = __longlong_as_double(0xFFF0000000000000ll), other = own;
    for (whole k = 0; k < outputs; k++) {
      double margin = margins[i * outputs + k];
      if (signs[i * outputs + k] > 0) own = margin;
      else other = fmax(other, -margin);
    }
    if (!(own > other)) sum += first_weights[weighted ? i : 0];
  }
  add_to(totals, sum);
}

// kernels/measure.py, ``class_rows``: what rows of many classes cost.
extern "C" __global__ void class_rows(const whole* chosen, whole count, const double* margins,
                                      const signed char* signs, const whole* pulls, whole outputs,
                                      double* costs, byte* wrong, double* squares) {
  for (whole j = me(); j < count; j += step()) {
    whole i = chosen ? chosen[j] : j;
    const double* margin = margins + i * outputs;
    const signed char* side = signs + i * outputs;
    double top, total = raise_row(margin, side, outputs, top);
    double own = __longlong_as_double(0xFFF0000000000000ll), other = own, square = 0.0;
    for (whole k = 0; k < outputs; k++) {
      if (side[k] > 0) own = margin[k];
      else other = fmax(other, -margin[k]);
      double pull = (double)pulls[i * outputs + k];
      square += pull * pull;
    }
    costs[i] = natural_log(total) + (top - own);
    wrong[i] = !(own > other);
    squares[i] = square;
  }
}

// Walk rows that did not take part in the growing to their leaves: kernels/routing.py, ``settle``.
extern "C" __global__ void settle(const byte* codes, whole stride, const whole* lanes,
                                  const byte* goes_left, const int* left, const int* right,
                                  const byte* grown_on, whole rows, void* cells,
                                  whole cell_bytes) {
  for (whole row = me(); row < rows; row += step()) {
    if (grown_on[row]) continue;
    whole at = 0;
    while (at >= 0) {
      byte code = codes[row * stride + lanes[at]];
      at = goes_left[at * 256 + code] ? left[at] : right[at];
    }
    if (cell_bytes == 1) ((byte*)cells)[row] = (byte)~at;
    else ((unsigned short*)cells)[row] = (unsigned short)~at;
  }
}

// Walk every row to its leaf, and add the leaf's values times a vote to its scores.
extern "C" __global__ void add_tree(const byte* codes, whole stride, const whole* features,
                                    const byte* goes_left, const int* left, const int* right,
                                    whole splits, const double* values, double vote, whole rows,
                                    whole outputs, double* scores) {
  for (whole row = me(); row < rows; row += step()) {
    whole at = splits > 0 ? 0 : -1;
    while (at >= 0) {
      byte code = codes[row * stride + features[at]];
      at = goes_left[at * 256 + code] ? left[at] : right[at];
    }
    for (whole k = 0; k < outputs; k++)
      scores[row * outputs + k] += vote * values[~at * outputs + k];
  }
}

// Bring the codes of rows together: from words of eight lanes, (blocks, rows), to (rows, stride).
extern "C" __global__ void lay_out(const word* words, whole rows, whole first_row, whole lanes,
                                   whole stride, byte* codes) {
  for (whole k = me(); k < rows * stride; k += step()) {
    whole row = k / stride, lane = k % stride;
    codes[(first_row + row) * stride + lane] =
        lane < lanes ? (byte)(words[(lane >> 3) * rows + row] >> (8 * (lane & 7))) : 0;
  }
}
