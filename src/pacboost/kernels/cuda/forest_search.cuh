// The best cut of one feature in one node: the twin of native/forest/cuts.cpp.
//
// Sums are of integers, so their order does not matter. If the squared weight of many classes is not
// exact as a float, trees are not grown here.
#pragma once
#include "forest.cuh"

#define AT_ONCE 4  // rows whose loads a thread has under way

// Find the smallest and the largest code that occurs, by each warp separately.
__device__ __forceinline__ void ends_of(const uint* numbers, int& low, int& high) {
  int lane = threadIdx.x & 31, first = CODES, last = -1;
  for (int code = 8 * lane; code < 8 * lane + 8; code++)
    if (numbers[code]) {
      first = min(first, code);
      last = code;
    }
  uint lanes = __ballot_sync(~0u, last >= 0);
  low = __shfl_sync(~0u, first, __ffs(lanes) - 1);
  high = __shfl_sync(~0u, last, 31 - __clz(lanes));
}

// Find the best of the cuts after every code that occurs; missing values go right, or left if
// ``way`` is 1. ``score`` returns the score of the cut after a code. Each warp does all of it.
template <class Score>
__device__ __forceinline__ void best_over_codes(const Forest& f, const uint* numbers, whole size,
                                                int way, Score score, Found& found) {
  int lane = threadIdx.x & 31;
  uint mine = 0, count = 0;
  for (int k = 0; k < 8; k++) {
    uint here = numbers[8 * lane + k];
    mine |= (uint)(here > 0) << k;
    count += here;
  }
  uint lanes = __ballot_sync(~0u, mine != 0), later = lanes & ~((2u << lane) - 1);
  int first = mine ? 8 * lane + __ffs(mine) - 1 : CODES;
  int after = __shfl_sync(~0u, first, later ? __ffs(later) - 1 : lane);
  if (!later) after = CODES;
  whole rows = add_up_to(count) - count + (way ? numbers[f.missing] : 0);
  double best = -1.0;
  uint key = NONE;
#pragma unroll 1
  for (int k = 0; k < 8; k++) {
    if (!((mine >> k) & 1)) continue;
    int code = 8 * lane + k;
    rows += numbers[code];
    uint rest = mine >> (k + 1);
    int following = rest ? code + __ffs(rest) : after;
    if (following == CODES || (way && following == f.missing)) continue;
    if (rows < f.least || size - rows < f.least) continue;
    double here = score(code);
    if (here > best) {
      best = here;
      key = key_of(way, code, following, (int)f.missing);
    }
  }
  best_of_lanes(best, key);
  if (best > found.score) {
    found.score = best;
    found.key = key;
  }
}

// Replace sums of codes by those of all codes up to them; by the first warp.
__device__ __forceinline__ void add_up_codes(whole* sums) {
  int lane = threadIdx.x & 31;
  whole own[8], sum = 0;
  for (int k = 0; k < 8; k++) own[k] = sum += sums[8 * lane + k];
  whole before = add_up_to(sum) - sum;
  for (int k = 0; k < 8; k++) sums[8 * lane + k] = before + own[k];
}

// Two classes or numbers.
template <bool ALL>
__device__ __noinline__ Found best_of_numbers(const Forest& f, const Own& own, Strip& b,
                                              const Node& n, whole feature, double lightest) {
  int me = rank<ALL>(), step = team<ALL>();
  for (int k = me; k < CODES; k += step) b.heavy[k] = b.pulls[k] = b.numbers[k] = 0;
  wait<ALL>();
  for (whole base = me; base < n.size; base += AT_ONCE * step) {
    uint rows[AT_ONCE];
    int codes[AT_ONCE];
    whole parcels[AT_ONCE], weights[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
      whole at = n.start + base + k * step;
      bool mine = base + k * step < n.size;
      rows[k] = mine ? own.rows[at] : NONE;
      parcels[k] = mine ? own.parcels[at] : 0;
      weights[k] = mine && f.weighted ? own.weights[at] : parcels[k];  // both halves at once
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      codes[k] = rows[k] == NONE ? 0 : code_at(f, n.dense, feature, rows[k]);
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      if (rows[k] != NONE) {
        atomicAdd((word*)b.heavy + codes[k], (word)weights[k]);
        if (f.weighted) atomicAdd((word*)b.pulls + codes[k], (word)(weights[k] * parcels[k]));
        atomicAdd(b.numbers + codes[k], 1u);
      }
  }
  wait<ALL>();
  Found found = {-1.0, NONE, 0, 0};
  ends_of(b.numbers, found.low, found.high);
  if (found.low == found.high) return found;
  if (me < 32) {
    add_up_codes(b.heavy);
    if (f.weighted) add_up_codes(b.pulls);
  }
  wait<ALL>();
#pragma unroll 1
  for (int way = 0; way < (found.high == f.missing ? 2 : 1); way++) {
    whole more = way ? b.heavy[f.missing] - b.heavy[f.missing - 1] : 0;
    whole more_pull = way ? b.pulls[f.missing] - b.pulls[f.missing - 1] : 0;
    auto score = [&](int code) {
      whole weight = b.heavy[code] + more;
      if (f.weighted) return score_of(n, weight, b.pulls[code] + more_pull, lightest);
      return score_of(n, weight & LOW, weight >> 32, lightest);
    };
    best_over_codes(f, b.numbers, n.size, way, score, found);
  }
  return found;
}

// The same for a node whose rows are in the lanes of a warp.
__device__ Found best_of_few_numbers(const Forest& f, const Node& n, const Held& held,
                                     whole feature, double lightest) {
  int lane = threadIdx.x & 31, size = (int)n.size;
  int code = lane < size ? code_at(f, n.dense, feature, held.row) : CODES;
  int first = __shfl_sync(~0u, code, 0);
  Found found = {-1.0, NONE, first, first};
  if (__ballot_sync(~0u, lane < size && code != first) == 0) return found;
  whole weight = 0, pull = 0, more = 0, more_pull = 0;
  int rows = 0, more_rows = 0, following = CODES;
  for (int k = 0; k < size; k++) {
    int its = __shfl_sync(~0u, code, k);
    whole w = __shfl_sync(~0u, held.weight, k), p = __shfl_sync(~0u, held.pull, k);
    if (its <= code) {
      weight += w;
      pull += p;
      rows++;
    } else following = min(following, its);
    if (its == f.missing) {
      more += w;
      more_pull += p;
      more_rows++;
    }
  }
  double best = -1.0;
  uint key = NONE;
#pragma unroll 1
  for (int way = 0; way < (more_rows > 0 ? 2 : 1); way++) {
    if (lane >= size || following == CODES || (way && following == f.missing)) continue;
    int count = rows + (way ? more_rows : 0);
    if (count < f.least || size - count < f.least) continue;
    double here = way ? score_of(n, weight + more, pull + more_pull, lightest)
                      : score_of(n, weight, pull, lightest);
    if (here > best) {
      best = here;
      key = key_of(way, code, following, (int)f.missing);
    }
  }
  best_of_lanes(best, key);
  found.score = best;
  found.key = key;
  found.low = -1;  // it only has to differ from the largest one
  found.high = more_rows > 0 ? (int)f.missing : CODES;
  return found;
}

// The memory for the order of up to SMALL rows.
__device__ __forceinline__ uint* order_of(Strip& b) { return (uint*)b.heavy; }

// Sort the rows of a node by code, as code << 16 | number. By a warp.
__device__ void sort_by_code(const Forest& f, const Own& own, Strip& b, const Node& n,
                             whole feature, Found& found) {
  int lane = threadIdx.x & 31;
  for (int k = lane; k < CODES; k += 32) b.numbers[k] = 0;
  __syncwarp();
  for (whole i = lane; i < n.size; i += 32)
    atomicAdd(b.numbers + code_at(f, n.dense, feature, own.rows[n.start + i]), 1u);
  __syncwarp();
  ends_of(b.numbers, found.low, found.high);
  if (found.low == found.high) return;
  uint begin = 0;
  for (int k = 0; k < 8; k++) begin += b.numbers[8 * lane + k];
  begin = (uint)add_up_to(begin) - begin;
  for (int k = 0; k < 8; k++) {
    uint here = b.numbers[8 * lane + k];
    b.numbers[8 * lane + k] = begin;
    begin += here;
  }
  __syncwarp();
  for (whole i = lane; i < n.size; i += 32) {
    uint code = code_at(f, n.dense, feature, own.rows[n.start + i]);
    order_of(b)[atomicAdd(b.numbers + code, 1u)] = (code << 16) | (uint)i;
  }
  __syncwarp();
}

// Move rows from right to left in the order of their codes, 32 at once: every class has its
// sum on the left, and each row changes the sums of squares. The ``absent`` rows, whose values are
// missing, come first if ``way`` is 1. By a warp.
__device__ void best_in_order(const Forest& f, const Own& own, Strip& b, const Node& n, int way,
                              int absent, double lightest, Found& found) {
  int lane = threadIdx.x & 31, size = (int)n.size;
  const uint* order = order_of(b);
  for (whole c = lane; c < f.classes; c += 32) own.left[c] = 0;
  __syncwarp();
  whole weight = 0, ours = 0, gone = 0;
  double best = -1.0;
  uint key = NONE;
  for (int base = 0; base < size; base += 32) {
    int k = base + lane, shift = way ? size - absent : 0;
    bool mine = k < size;
    uint entry = mine ? order[(k + shift) % size] : 0;
    uint next = k + 1 < size ? order[(k + 1 + shift) % size] : entry;
    whole parcel = mine ? own.parcels[n.start + (entry & 0xFFFF)] : -1;
    whole w = mine ? parcel >> 16 : 0, before = 0;
    int its = (int)(parcel & CLASS);
    bool last = true;
    for (int j = 0; j < 32; j++) {
      whole other = __shfl_sync(~0u, parcel, j);
      bool same = mine && other >= 0 && (int)(other & CLASS) == its;
      if (same && j < lane) before += other >> 16;
      if (same && j > lane) last = false;
    }
    whole total = 0;
    if (mine) {
      before += own.left[its];
      total = own.totals[its];
    }
    __syncwarp();
    if (mine && last) own.left[its] = before + w;
    __syncwarp();
    whole on_left = weight + add_up_to(w), squares = ours + add_up_to(w * (2 * before + w));
    whole lost = gone + add_up_to(mine ? w * (2 * (total - before) - w) : 0);
    bool valid = mine && k + 1 < size && next >> 16 != entry >> 16 && k >= (way ? absent : 0);
    if (valid && k + 1 >= f.least && size - k - 1 >= f.least) {
      double here = score_of_squares(n, on_left, squares, n.pull - lost, lightest);
      if (here > best) {
        best = here;
        key = key_of(way, (int)(entry >> 16), (int)(next >> 16), (int)f.missing);
      }
    }
    weight = __shfl_sync(~0u, on_left, 31);
    ours = __shfl_sync(~0u, squares, 31);
    gone = __shfl_sync(~0u, lost, 31);
  }
  best_of_lanes(best, key);
  if (best > found.score) {
    found.score = best;
    found.key = key;
  }
}

// Many classes, in a node of few rows.
__device__ __noinline__ Found best_of_few_classes(const Forest& f, const Own& own, Strip& b,
                                                  const Node& n, whole feature, double lightest) {
  Found found = {-1.0, NONE, 0, 0};
  sort_by_code(f, own, b, n, feature, found);
  if (found.low == found.high) return found;
  // After sorting, numbers[code] is where the rows of the code end.
  int absent = found.high == f.missing ? (int)n.size - (int)b.numbers[f.missing - 1] : 0;
#pragma unroll 1
  for (int way = 0; way < (absent ? 2 : 1); way++)
    best_in_order(f, own, b, n, way, absent, lightest, found);
  return found;
}

// Many classes, in a node of many rows: a histogram of classes by code.
__device__ __noinline__ Found best_of_classes(const Forest& f, const Own& own, Bench& bench,
                                              const Node& n, whole feature, double lightest) {
  Strip& b = bench.strips[0];
  whole* others = bench.strips[1].heavy;
  int me = threadIdx.x, step = blockDim.x;
  for (whole k = me; k < CODES * f.classes; k += step) own.by_code[k] = 0;
  for (int k = me; k < CODES; k += step) b.numbers[k] = 0;
  __syncthreads();
  for (whole i = me; i < n.size; i += step) {
    whole parcel = own.parcels[n.start + i];
    int code = code_at(f, n.dense, feature, own.rows[n.start + i]);
    atomicAdd((word*)own.by_code + code * f.classes + (parcel & CLASS), (word)(parcel >> 16));
    atomicAdd(b.numbers + code, 1u);
  }
  __syncthreads();
  Found found = {-1.0, NONE, 0, 0};
  ends_of(b.numbers, found.low, found.high);
  if (found.low == found.high) return found;
  for (whole c = me; c < f.classes; c += step)
    for (int code = found.low + 1; code <= found.high; code++)
      own.by_code[code * f.classes + c] += own.by_code[(code - 1) * f.classes + c];
  __syncthreads();
  int lane = me & 31;
#pragma unroll 1
  for (int way = 0; way < (found.high == f.missing ? 2 : 1); way++) {
    for (int code = found.low + (me >> 5); code < found.high; code += step >> 5) {
      whole weight = 0, ours = 0, theirs = 0;
      for (whole c = lane; c < f.classes; c += 32) {
        whole total = own.totals[c], left = own.by_code[code * f.classes + c];
        if (way) left += total - own.by_code[(f.missing - 1) * f.classes + c];
        weight += left;
        ours += left * left;
        theirs += (total - left) * (total - left);
      }
      weight = add_over_warp(weight);
      ours = add_over_warp(ours);
      theirs = add_over_warp(theirs);
      if (lane == 0) {
        b.heavy[code] = weight;
        b.pulls[code] = ours;
        others[code] = theirs;
      }
    }
    __syncthreads();
    auto score = [&](int code) {
      return score_of_squares(n, b.heavy[code], b.pulls[code], others[code], lightest);
    };
    best_over_codes(f, b.numbers, n.size, way, score, found);
    __syncthreads();
  }
  return found;
}

// Draw a cut, and score it.
template <bool ALL>
__device__ __noinline__ Found random_cut(const Forest& f, const Own& own, Bench& b,
                                         const Node& n, whole feature, double lightest,
                                         word& state) {
  int me = rank<ALL>(), step = team<ALL>(), low = -CODES, present = -1, high = -1;
  for (whole i = me; i < n.size; i += step) {
    int code = code_at(f, n.dense, feature, own.rows[n.start + i]);
    low = max(low, -code);
    high = max(high, code);
    if (code != f.missing) present = max(present, code);
  }
  low = -largest_of_team<ALL>(low, b);
  high = largest_of_team<ALL>(high, b);
  Found found = {-1.0, NONE, low, high};
  if (low == high) return found;
  int side = 0, cut = low;
  if (high == f.missing) high = largest_of_team<ALL>(present, b);
  if (high > low) {
    if (found.high == f.missing) side = (int)below(state, 2);
    cut += (int)below(state, high - low);
  }
  found.key = ((uint)side << 16) | (uint)cut;
  bool many = f.classes > 2;
  if (many)
    for (whole c = me; c < f.classes; c += step) own.left[c] = 0;
  wait<ALL>();
  whole rows = 0, weight = 0, pull = 0, ours = 0, theirs = 0;
  for (whole i = me; i < n.size; i += step) {
    whole at = n.start + i;
    int code = code_at(f, n.dense, feature, own.rows[at]);
    if (code <= cut || (side && code == f.missing)) {
      rows++;
      if (many) {
        whole parcel = own.parcels[at];
        weight += parcel >> 16;
        atomicAdd((word*)own.left + (parcel & CLASS), (word)(parcel >> 16));
      } else {
        whole w, p;
        share_of(f, own, at, w, p);
        weight += w;
        pull += p;
      }
    }
  }
  wait<ALL>();
  rows = add_over_team<ALL>(rows, b);
  weight = add_over_team<ALL>(weight, b);
  if (rows < f.least || n.size - rows < f.least) return found;
  if (!many) {
    found.score = score_of(n, weight, add_over_team<ALL>(pull, b), lightest);
    return found;
  }
  for (whole c = me; c < f.classes; c += step) {
    whole left = own.left[c], right = own.totals[c] - left;
    ours += left * left;
    theirs += right * right;
  }
  ours = add_over_team<ALL>(ours, b);
  theirs = add_over_team<ALL>(theirs, b);
  found.score = score_of_squares(n, weight, ours, theirs, lightest);
  return found;
}

// Search a feature; ``strip`` is the memory of the warp, or of the block.
template <bool ALL>
__device__ __forceinline__ Found look_at(const Forest& f, const Own& own, Bench& b, Strip& strip,
                                         const Node& n, const Held& held, whole feature,
                                         double lightest, word& state) {
  if (f.random) return random_cut<ALL>(f, own, b, n, feature, lightest, state);
  if (f.classes > 2) {
    if (ALL) return best_of_classes(f, own, b, n, feature, lightest);
    return best_of_few_classes(f, own, strip, n, feature, lightest);
  }
  if (!ALL && n.size <= TINY) return best_of_few_numbers(f, n, held, feature, lightest);
  return best_of_numbers<ALL>(f, own, strip, n, feature, lightest);
}
