// Passes over all rows: the twins of native/rounds, each of
// the same name.
#include "exact.cuh"

#define THREADS 256
#define PIECE 2048  // rows that a block loads at once
#define TILE 1024   // as in native/rounds/sums.h: floats are summed in tiles, and those in parts
#define PARTS 64
#define EACH_THREAD (TILE / THREADS)

__device__ __forceinline__ whole me() { return (whole)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ whole step() { return (whole)gridDim.x * blockDim.x; }

__device__ __forceinline__ whole cell_of(const void* cells, whole bytes, whole i) {
  return bytes == 1 ? ((const byte*)cells)[i] : ((const unsigned short*)cells)[i];
}

// Add the counts of all threads of the block to a sum of all blocks.
__device__ void add_to(whole* sum, whole mine) {
  mine = add_over_warp(mine);
  if ((threadIdx.x & 31) == 0 && mine != 0) atomicAdd((word*)sum, (word)mine);
}

// src/native/tree/pair.h; pulls are integers, or signs if ``times_weight``. Without ``flips``
// there is one output.
extern "C" __global__ void pair_up(const whole* weights, const whole* pulls,
                                   const signed char* signs, const signed char* flips,
                                   double pull_scale, double weight_scale, whole rows,
                                   whole outputs, whole lines, whole* pairs, const whole* totals) {
  if (totals) {  // the sums of weights and of absolute pulls give the scales
    weight_scale = scale_of(totals[0]);
    pull_scale = scale_of(totals[1]);
  }
  for (whole i = me(); i < rows; i += step()) {
    whole weight = 0;
    for (whole k = 0; k < outputs; k++) weight += weights[i * outputs + k];
    whole small = (whole)rint((double)weight * weight_scale);
    for (whole s = 0; s < lines; s++) {
      whole pull = 0;
      for (whole k = 0; k < outputs; k++) {
        whole own = signs ? weights[i * outputs + k] * signs[i * outputs + k]
                          : pulls[i * outputs + k];
        pull += flips ? own * flips[s * outputs + k] : own;
      }
      pairs[s * rows + i] = ((whole)rint((double)pull * pull_scale) << 32) + small;
    }
  }
}

// The numbers of a tile that a thread holds: the one of its number, and every 256th after it.
// ``fold_sums`` of native/rounds/sums.h adds them in this order.
__device__ __forceinline__ double folded(const double* own) {
  return (own[0] + own[2]) + (own[1] + own[3]);
}

// Fold a tile further: ``room`` holds a number for every thread, and PARTS remain. By the block.
__device__ __forceinline__ void fold_sums(double* room) {
  __syncthreads();
  if (threadIdx.x < 2 * PARTS) room[threadIdx.x] += room[threadIdx.x + 2 * PARTS];
  __syncthreads();
  if (threadIdx.x < PARTS) room[threadIdx.x] += room[threadIdx.x + PARTS];
}

// Sum the parts as ``sum_of_parts`` of native/rounds/sums.h does; the first PARTS threads hold them.
__device__ double sum_of_parts(double mine) {
  __shared__ double second[PARTS / 2];
  if (threadIdx.x >= PARTS / 2 && threadIdx.x < PARTS) second[threadIdx.x - PARTS / 2] = mine;
  __syncthreads();
  if (threadIdx.x < PARTS / 2) {
    mine += second[threadIdx.x];
    for (int step = PARTS / 4; step > 0; step >>= 1) mine += __shfl_down_sync(~0u, mine, step);
  }
  return mine;
}

// Add the values of cells, then set weights q(1 - q) and pulls: native/rounds/weights.h, ``logistic``. Count
// wrong rows, and write the folded costs (``log_costs`` of native/rounds/costs.h) and squared pulls of
// every tile, PARTS of each.
extern "C" __global__ void __launch_bounds__(THREADS, 4) logistic(
    const void* cells, whole cell_bytes, const double* values, const signed char* signs,
    const double* base, whole bases, double base_of_all, double most, whole rows, double* margins,
    whole* weights, whole* pulls, double* costs, double* squares, whole* totals) {
  __shared__ double products[THREADS], lows[THREADS], powers[THREADS];
  whole weight_sum = 0, pull_sum = 0, wrong_rows = 0;
  for (whole tile = blockIdx.x; tile * TILE < rows; tile += gridDim.x) {
    double product[EACH_THREAD], low[EACH_THREAD], square[EACH_THREAD];
#pragma unroll
    for (int k = 0; k < EACH_THREAD; k++) {
      whole i = tile * TILE + k * THREADS + threadIdx.x;
      product[k] = 1.0;
      low[k] = square[k] = 0.0;
      if (i >= rows) continue;
      double side = (double)signs[i];
      double margin = margins[i] + values[cell_of(cells, cell_bytes, i)] * side;
      margins[i] = margin;
      double e = raised(margin), own = bases > 1 ? base[i] : base_of_all;
      double right = own / (1.0 + e), wrong = e * right, curve = wrong / (1.0 + e);
      double q = margin > 0 ? wrong : right, held = most * curve;
      whole asked = (whole)((held < q ? held : q) + 0.5), curved = (whole)(curve + 0.5);
      whole pull = asked * signs[i];
      weights[i] = curved;
      pulls[i] = pull;
      weight_sum += curved;
      pull_sum += asked;
      wrong_rows += margin <= 0;
      product[k] = 1.0 + e;
      low[k] = margin < 0 ? margin : 0.0;
      square[k] = (double)pull * (double)pull;
    }
    products[threadIdx.x] = (product[0] * product[2]) * (product[1] * product[3]);
    lows[threadIdx.x] = folded(low);
    powers[threadIdx.x] = folded(square);
    __syncthreads();
    if (threadIdx.x < 2 * PARTS) products[threadIdx.x] *= products[threadIdx.x + 2 * PARTS];
    fold_sums(lows);
    fold_sums(powers);
    if (threadIdx.x < PARTS) {
      double product_of_all = products[threadIdx.x] * products[threadIdx.x + PARTS];
      costs[tile * PARTS + threadIdx.x] = natural_log(product_of_all) - 2.0 * lows[threadIdx.x];
      squares[tile * PARTS + threadIdx.x] = powers[threadIdx.x];
    }
    __syncthreads();
  }
  add_to(totals, weight_sum);
  add_to(totals + 1, pull_sum);
  add_to(totals + 2, wrong_rows);
}

// Recompute weights q(1 - q) from margins as ``logistic`` does: while a tree is grown, the order of
// rows uses their memory. Also sum pulls and weights in every cell, as ``cell_sums``
// does, unless ``cell_count`` is 0. Few cells are summed by every thread first, because many
// threads that add to the same place wait for each other.
#define FEW_CELLS 4

extern "C" __global__ void weigh_again(const double* margins, const double* base, whole bases,
                                       double base_of_all, const void* cells, whole cell_bytes,
                                       const whole* pulls, whole rows, whole cell_count,
                                       whole here, whole* weights, whole* sums) {
  extern __shared__ whole own_sums[];
  whole few[2][FEW_CELLS] = {};
  whole* into = here ? own_sums : sums;
  if (here) {
    for (whole k = threadIdx.x; k < 2 * cell_count; k += blockDim.x) own_sums[k] = 0;
    __syncthreads();
  }
  for (whole i = me(); i < rows; i += step()) {
    double e = raised(margins[i]), own = bases > 1 ? base[i] : base_of_all;
    double right = own / (1.0 + e), wrong = e * right, curve = wrong / (1.0 + e);
    whole weight = (whole)(curve + 0.5);
    weights[i] = weight;
    if (cell_count == 0) continue;
    whole cell = cell_of(cells, cell_bytes, i), pull = pulls[i];
    if (cell_count <= FEW_CELLS) {
#pragma unroll
      for (int c = 0; c < FEW_CELLS; c++) {
        few[0][c] += cell == c ? pull : 0;
        few[1][c] += cell == c ? weight : 0;
      }
      continue;
    }
    if (pull != 0) atomicAdd((word*)into + cell, (word)pull);
    if (weight != 0) atomicAdd((word*)into + cell_count + cell, (word)weight);
  }
#pragma unroll
  for (int c = 0; c < FEW_CELLS; c++)
    if (c < cell_count && cell_count <= FEW_CELLS) {
      add_to(into + c, few[0][c]);
      add_to(into + cell_count + c, few[1][c]);
    }
  if (here) {
    __syncthreads();
    for (whole k = threadIdx.x; k < 2 * cell_count; k += blockDim.x)
      if (own_sums[k] != 0) atomicAdd((word*)sums + k, (word)own_sums[k]);
  }
}

// Sum the folded tiles of every span, with a block for each: costs first, then squares.
extern "C" __global__ void add_spans(const double* costs, const double* squares, whole tiles,
                                     whole tiles_a_span, whole spans, double* sums) {
  const double* from = blockIdx.x < spans ? costs : squares;
  whole first = blockIdx.x % spans * tiles_a_span, last = min(first + tiles_a_span, tiles);
  double part = 0.0;
  for (whole tile = first; tile < last; tile += 8) {  // loaded together, added in their order
    double held[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
      held[k] = tile + k < last ? from[(tile + k) * PARTS + threadIdx.x] : 0.0;
#pragma unroll
    for (int k = 0; k < 8; k++) part += held[k];
  }
  part = sum_of_parts(part);
  if (threadIdx.x == 0) sums[blockIdx.x] = part;
}

// exp(F - max F) of a row's scores F = margin·sign, as ``raise_rows`` of native/rounds/sums.h.
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

// Add each cell's values, then set weights p(1 - p) and pulls y* - p: native/rounds/weights.h, ``softmax``. A
// block takes ``tile`` rows at a time, with their scores in its memory, so that neighbouring threads
// read and write neighbouring numbers. ``chosen`` is null for all rows.
extern "C" __global__ void softmax(const whole* chosen, whole count, const void* cells,
                                   whole cell_bytes, const double* values,
                                   const signed char* signs, const double* base, whole bases,
                                   double most, whole outputs, whole tile, double* margins,
                                   whole* weights, whole* pulls, whole* totals) {
  extern __shared__ double held[];
  double *tops = held + tile * outputs, *sums = tops + tile;
  int width = (int)outputs;
  whole weight_sum = 0, pull_sum = 0;
  for (whole first = blockIdx.x * tile; first < count; first += gridDim.x * tile) {
    int here = (int)min(tile, count - first), size = here * width;
    for (int e = threadIdx.x; e < size; e += blockDim.x) {
      int row = e / width, k = e % width;
      whole i = chosen ? chosen[first + row] : first + row, at = i * outputs + k;
      double side = (double)signs[at];
      double margin = margins[at] + values[cell_of(cells, cell_bytes, i) * outputs + k] * side;
      margins[at] = margin;
      held[e] = margin * side;
    }
    __syncthreads();
    for (int row = threadIdx.x; row < here; row += blockDim.x) {
      double top = held[row * width];
      for (int k = 0; k < width; k++) {
        double score = held[row * width + k];
        top = score > top ? score : top;
      }
      tops[row] = top;
    }
    __syncthreads();
    for (int e = threadIdx.x; e < size; e += blockDim.x)
      held[e] = (double)whole_exp(LOG_UNITS + (held[e] - tops[e / width])) * UNIT;
    __syncthreads();
    for (int row = threadIdx.x; row < here; row += blockDim.x) {
      double total = 0.0;
      for (int k = 0; k < width; k++) total += held[row * width + k];
      sums[row] = total;
    }
    __syncthreads();
    for (int e = threadIdx.x; e < size; e += blockDim.x) {
      int row = e / width;
      whole i = chosen ? chosen[first + row] : first + row, at = i * outputs + e % width;
      double line = held[e], total = sums[row], scale = base[bases > 1 ? i : 0] / total;
      double part = line * scale, other = (total - line) * scale, curve = line * other / total;
      double gap = signs[at] > 0 ? other : part, bound = most * curve;
      whole curved = (whole)(curve + 0.5), asked = (whole)((bound < gap ? bound : gap) + 0.5);
      whole before = pulls[at];
      weight_sum += curved - weights[at];
      pull_sum += asked - (before < 0 ? -before : before);
      weights[at] = curved;
      pulls[at] = asked * signs[at];
    }
    __syncthreads();
  }
  add_to(totals, weight_sum);
  add_to(totals + 1, pull_sum);
}

// native/rounds/weights.h, ``exponential_cells``: all arrays are (rows, outputs).
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

// native/rounds/weights.h, ``exponential``: all arrays are flat. Without ``agree`` no vote is added.
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

// Sum pulls and weights in every cell: ``sums`` is (2, cells, outputs). If ``here``, a block sums
// in its memory first.
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

// Sum the squares of pulls, span by span, as native/rounds/costs.h does, with a block for each.
extern "C" __global__ void squares_of_pulls(const whole* weights, const whole* pulls,
                                            const signed char* signs, whole numbers, whole size,
                                            double* sums) {
  __shared__ double powers[THREADS];
  whole first = blockIdx.x * size, last = min(first + size, numbers);
  double part = 0.0;
  for (whole tile = first; tile < last; tile += TILE) {
    double square[EACH_THREAD];
#pragma unroll
    for (int k = 0; k < EACH_THREAD; k++) {
      whole at = tile + k * THREADS + threadIdx.x;
      double pull = 0.0;
      if (at < last) pull = (double)(signs ? weights[at] * signs[at] : pulls[at]);
      square[k] = pull * pull;
    }
    powers[threadIdx.x] = folded(square);
    fold_sums(powers);
    if (threadIdx.x < PARTS) part += powers[threadIdx.x];
    __syncthreads();
  }
  part = sum_of_parts(part);
  if (threadIdx.x == 0) sums[blockIdx.x] = part;
}

// native/rounds/costs.h, ``log_costs``: a block for each span, and one logarithm for sixteen rows.
extern "C" __global__ void log_costs(const double* margins, whole rows, whole size, double* sums) {
  __shared__ double products[THREADS], lows[THREADS];
  whole first = blockIdx.x * size, last = min(first + size, rows);
  double part = 0.0;
  for (whole tile = first; tile < last; tile += TILE) {
    double product[EACH_THREAD], low[EACH_THREAD];
#pragma unroll
    for (int k = 0; k < EACH_THREAD; k++) {
      whole at = tile + k * THREADS + threadIdx.x;
      double margin = at < last ? margins[at] : 0.0;
      product[k] = at < last ? 1.0 + raised(margin) : 1.0;
      low[k] = margin < 0 ? margin : 0.0;
    }
    products[threadIdx.x] = (product[0] * product[2]) * (product[1] * product[3]);
    lows[threadIdx.x] = folded(low);
    __syncthreads();
    if (threadIdx.x < 2 * PARTS) products[threadIdx.x] *= products[threadIdx.x + 2 * PARTS];
    fold_sums(lows);
    if (threadIdx.x < PARTS)
      part += natural_log(products[threadIdx.x] * products[threadIdx.x + PARTS]) -
              2.0 * lows[threadIdx.x];
    __syncthreads();
  }
  part = sum_of_parts(part);
  if (threadIdx.x == 0) sums[blockIdx.x] = part;
}

// native/rounds/costs.h, ``potential``: a block for each span; it computes the costs of some rows at
// a time, and one of its threads adds them in order.
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

// native/rounds/costs.h, ``mistakes``.
extern "C" __global__ void mistakes(const double* margins, const whole* first_weights,
                                    whole weighted, whole rows, whole* totals) {
  whole sum = 0;
  for (whole i = me(); i < rows; i += step())
    if (margins[i] <= 0) sum += first_weights[weighted ? i : 0];
  add_to(totals, sum);
}

// native/rounds/costs.h, ``wrong_classes``.
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

// native/rounds/costs.h, ``class_rows``: the costs of rows of many classes.
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

// Set the leaves of rows that the tree was not grown on: src/native/tree/grow.cpp, ``settle``.
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

// Transpose codes: from words of eight lanes, (blocks, rows), to (rows, stride).
extern "C" __global__ void lay_out(const word* words, whole rows, whole first_row, whole lanes,
                                   whole stride, byte* codes) {
  for (whole k = me(); k < rows * stride; k += step()) {
    whole row = k / stride, lane = k % stride;
    codes[(first_row + row) * stride + lane] =
        lane < lanes ? (byte)(words[(lane >> 3) * rows + row] >> (8 * (lane & 7))) : 0;
  }
}
