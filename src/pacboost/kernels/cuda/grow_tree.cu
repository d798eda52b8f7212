// Grow one tree: the twin of kernels/grow_team.py.
//
// All blocks enter ``grow_tree`` and stay until the tree is grown. Rows are divided for sorting and
// counting, features for the search of splits. Whoever is last at a barrier does what only one may
// do. All sums are of whole numbers, and of equal splits the first one counts, so the tree is the
// one that the CPU grows, bit for bit.
#include "scan.cuh"

#define ROWS_WORTH_COUNTING 2048  // by another block
#define ROWS_AT_ONCE 4            // whose loads a thread has under way

extern __shared__ whole shared_words[];

__device__ __forceinline__ whole at_least_one(whole x) { return x > 0 ? x : 1; }

// Write for every code of a split's lane whether it goes left: kernels/routing.py, ``sides``.
__device__ void sides(const Tree& t, whole leaf, byte* goes_left) {
  const whole* feature = t.features + t.best[3 * leaf + FEATURE] * FEATURE_COLUMNS;
  whole bins = feature[BINS], standard = feature[DEFAULT];
  for (whole code = threadIdx.x; code < CODES; code += blockDim.x) {
    whole b = code;
    if (standard >= 0) {
      b = code - feature[BASE];
      if (b < 0 || b >= bins - 1) b = standard;
      else if (b >= standard) b += 1;
    }
    if (feature[CATEGORY]) goes_left[code] = t.members[leaf * CODES + b];
    else if (b == t.missing) goes_left[code] = (byte)t.best[3 * leaf + MISSING_LEFT];
    else goes_left[code] = (byte)(b <= t.best[3 * leaf + CUT]);
  }
  __syncthreads();
}

// Move the rows of a leaf to the other order: those that go left to its front, the others to its
// end. Each block takes piece after piece, and reserves room for it.
__device__ void sort_rows(const Tree& t, whole leaf, bool every_row) {
  __shared__ byte goes_left[CODES];
  __shared__ uint counts[ROWS_AT_ONCE * 32], bases[2];
  sides(t, leaf, goes_left);
  whole start = t.starts[leaf], size = t.sizes[leaf];
  whole lane_of = t.features[t.best[3 * leaf + FEATURE] * FEATURE_COLUMNS + LANE];
  const uint* from = every_row ? nullptr : t.order[t.sides_of[leaf]] + start;
  uint* to = t.order[1 - t.sides_of[leaf]] + start;
  const byte* codes = t.codes + lane_of;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  whole piece = (whole)blockDim.x * ROWS_AT_ONCE;
  for (whole first = blockIdx.x * piece; first < size; first += gridDim.x * piece) {
    uint rows[ROWS_AT_ONCE], votes[ROWS_AT_ONCE];
    bool mine[ROWS_AT_ONCE], left[ROWS_AT_ONCE];
    for (int k = 0; k < ROWS_AT_ONCE; k++) {
      whole at = first + k * blockDim.x + threadIdx.x;
      mine[k] = at < size;
      rows[k] = !mine[k] ? 0 : from ? from[at] : (uint)at;
    }
    for (int k = 0; k < ROWS_AT_ONCE; k++)
      left[k] = mine[k] && goes_left[codes[(whole)rows[k] * t.stride]];
    for (int k = 0; k < ROWS_AT_ONCE; k++) {
      votes[k] = __ballot_sync(~0u, left[k]);
      if (lane == 0) counts[k * warps + warp] = __popc(votes[k]);
    }
    __syncthreads();
    if (warp == 0) {  // how many go left before each warp's rows
      uint sum = 0, entries = ROWS_AT_ONCE * warps, each = (entries + 31) / 32;
      for (uint k = lane * each; k < (lane + 1) * each && k < entries; k++) sum += counts[k];
      uint before = (uint)add_up_to(sum) - sum, all = __shfl_sync(~0u, before + sum, 31);
      for (uint k = lane * each; k < (lane + 1) * each && k < entries; k++) {
        uint own = counts[k];
        counts[k] = before;
        before += own;
      }
      if (lane == 0) {
        uint here = (uint)min(piece, size - first);
        bases[0] = atomicAdd(t.placed, all);
        bases[1] = (uint)size - atomicAdd(t.placed + 1, here - all) - (here - all);
      }
    }
    __syncthreads();
    for (int k = 0; k < ROWS_AT_ONCE; k++) {
      if (!mine[k]) continue;
      uint lefts = counts[k * warps + warp] + __popc(votes[k] & ((1u << lane) - 1));
      uint number = k * blockDim.x + threadIdx.x;
      to[left[k] ? bases[0] + lefts : bases[1] + (number - lefts)] = rows[k];
    }
    __syncthreads();
  }
}

// Finish what the split before has left to do, and make room for the next histogram.
__device__ void subtract_and_clear(const Tree& t, whole slot_to_clear) {
  whole cells = t.lines * t.lanes * CODES;
  whole rest = t.plan[REST_OF], counted = t.plan[COUNTED_IN];
  whole me = (whole)blockIdx.x * blockDim.x + threadIdx.x, step = (whole)gridDim.x * blockDim.x;
  if (rest >= 0)
    for (whole k = me; k < cells; k += step)
      t.histogram[rest * cells + k] -= t.histogram[counted * cells + k];
  for (whole k = me; k < cells; k += step) t.histogram[slot_to_clear * cells + k] = 0;
}

// Count the rows of a leaf into the histograms of a slot, which are 0. A block counts some of the
// rows in some of the lanes, in its own memory, where additions of 32 bits are fast.
__device__ void count_rows(const Tree& t, whole leaf, whole slot, bool every_row) {
  uint* pulls = (uint*)shared_words;
  uint* weights = pulls + t.group * CODES;
  whole size = t.sizes[leaf], groups = (t.lanes + t.group - 1) / t.group;
  whole passes = groups * t.lines;
  whole pieces = min(at_least_one(gridDim.x / passes), at_least_one(size / ROWS_WORTH_COUNTING));
  const uint* from = every_row ? nullptr : t.order[t.sides_of[leaf]] + t.starts[leaf];
  for (whole task = blockIdx.x; task < passes * pieces; task += gridDim.x) {
    whole pass = task % passes, piece = task / passes;
    whole line = pass / groups, first_lane = pass % groups * t.group;
    int lanes = (int)min(t.group, t.lanes - first_lane), quads = (lanes + 3) / 4;
    for (int k = threadIdx.x; k < quads * 4 * CODES; k += blockDim.x) pulls[k] = weights[k] = 0;
    __syncthreads();
    int rows_each = blockDim.x / quads, row_of = threadIdx.x / quads, quad = threadIdx.x % quads;
    whole first = size * piece / pieces, last = size * (piece + 1) / pieces;
    const whole* pairs = t.pairs + line * t.rows;
    const byte* codes = t.codes + first_lane + 4 * quad;
    uint* pull_at = pulls + quad * 4 * CODES;
    uint* weight_at = weights + quad * 4 * CODES;
    if (row_of < rows_each)
      for (whole k = first + row_of; k < last; k += (whole)rows_each * ROWS_AT_ONCE) {
        uint rows[ROWS_AT_ONCE], four[ROWS_AT_ONCE];
        whole pair[ROWS_AT_ONCE];
        for (int i = 0; i < ROWS_AT_ONCE; i++) {
          whole at = k + (whole)i * rows_each;
          rows[i] = at >= last ? ~0u : from ? from[at] : (uint)at;
        }
        for (int i = 0; i < ROWS_AT_ONCE; i++)
          if (rows[i] != ~0u) {
            four[i] = *(const uint*)(codes + (whole)rows[i] * t.stride);
            pair[i] = pairs[rows[i]];
          }
        for (int i = 0; i < ROWS_AT_ONCE; i++)
          if (rows[i] != ~0u) {
            uint pull = (uint)(pair[i] >> 32), weight = (uint)pair[i];
            for (int j = 0; j < 4; j++) {
              uint code = j * CODES + ((four[i] >> (8 * j)) & 255);
              atomicAdd(pull_at + code, pull);
              atomicAdd(weight_at + code, weight);
            }
          }
      }
    __syncthreads();
    word* out = (word*)histogram_of(t, slot, line, first_lane);
    for (int k = threadIdx.x; k < lanes * CODES; k += blockDim.x)
      if (pulls[k] | weights[k]) atomicAdd(out + k, (word)packed((int)pulls[k], weights[k]));
    __syncthreads();
  }
}

// What a warp needs of the memory of its block to look at a feature.
__device__ __forceinline__ whole words_a_warp(const Tree& t) {
  return t.lines * (CODES + 1) + t.lines + (CODES + 1) + (CODES + 1) / 4 + 1;
}

// Open a feature and look at all its cuts; where it is a category, ``order`` is left behind.
__device__ __noinline__ Cut look_at(const Tree& t, const View& view, whole size, double low_end, double high_end,
                       whole*& own, short*& order, double& before) {
  int room = threadIdx.x >> 5;
  own = shared_words + room * words_a_warp(t);
  whole* totals = own + t.lines * (CODES + 1);
  double* ratio = (double*)(totals + t.lines);
  order = (short*)(ratio + CODES + 1);
  __syncwarp();
  double squares = 0.0;
  for (int s = 0; s < t.lines; s++) {
    whole total = view.total(s);
    if ((threadIdx.x & 31) == 0) totals[s] = total;
    squares += pull_of(total) * pull_of(total);
    open_feature(view, s, total, own + s * (CODES + 1));
  }
  __syncwarp();
  Question ask;
  ask.criterion = (int)t.rules[CRITERION];
  ask.slope = (int)view.feature[MONOTONE];
  ask.bins = (int)view.feature[BINS];
  ask.category = (int)view.feature[CATEGORY];
  ask.penalty = t.rules[PENALTY];
  ask.chance = 0.0;
  ask.low_end = low_end;
  ask.high_end = high_end;
  ask.quick = t.lines == 1 && !ask.category && ask.criterion == NEWTON && ask.slope == 0;
  double weight = weight_of(totals[0]);
  ask.least = fmax(fmax(t.rules[LEAST_WEIGHT], t.rules[LEAST_ROWS] * weight / (double)size), 1.0);
  Cut none = {0.0, 0, -1, false};
  before = 0.0;
  if (weight < 2 * ask.least) return none;
  before = t.lines == 1 ? worth_of_one(ask.criterion, pull_of(totals[0]), weight, ask.penalty)
                        : squares / (weight + ask.penalty);
  ask.wanted = before + NOISE * fabs(before);
  if (ask.category) {
    pool_rare(t, own, ask.bins, t.rules[LEVEL_ROWS] * weight / (double)size);
    order_of(own, ask.bins, t.rules[SMOOTH], ratio, order);
    ask.chance = chance_of(own, ask.bins, t.rules[LEVEL_PENALTY]);
  }
  return scan_feature(t, own, ask.category ? order : nullptr, totals, ask);
}

// The histogram of one side of a split. The counted side has one of its own, the other is what
// that leaves of the parent's, which is still in the slot of the leaf.
__device__ View side_of(const Tree& t, whole leaf, whole new_leaf, int side, whole feature) {
  View view = {&t, t.features + feature * FEATURE_COLUMNS, new_leaf, -1};
  if (new_leaf > 0 && (side == 0) != (t.plan[LEFT_COUNTED] != 0)) view.parent = t.slots[leaf];
  return view;
}

__device__ __noinline__ void search(const Tree& t, whole leaf, whole new_leaf) {
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  whole rooms = min((whole)(blockDim.x >> 5), t.group * CODES / words_a_warp(t));
  whole tasks = t.features_count * (new_leaf > 0 ? 2 : 1);
  if (warp < rooms)
    for (whole task = blockIdx.x + warp * gridDim.x; task < tasks; task += rooms * gridDim.x) {
      int side = (int)(task / t.features_count);
      whole feature = task % t.features_count, k = side == 0 ? leaf : new_leaf;
      whole at = side * t.features_count + feature;
      if (!t.allowed[at]) {
        if (lane == 0) t.found_cut[at] = -1;
        continue;
      }
      whole* own;
      short* order;
      double before;
      Cut cut = look_at(t, side_of(t, leaf, new_leaf, side, feature), t.sizes[k],
                        t.spans[2 * k], t.spans[2 * k + 1], own, order, before);
      bool absent = !t.features[feature * FEATURE_COLUMNS + CATEGORY] &&
                    own[t.features[feature * FEATURE_COLUMNS + BINS]] != 0;
      if (lane == 0) {
        t.found[at] = cut.found;
        t.found_cut[at] = cut.place < 0 ? -1 : 2 * cut.place + (absent ? cut.way : cut.heavier);
        t.worth[side] = before;  // the same for every feature
      }
    }
}

// Hand a leaf's span down to its parts: kernels/grow.py, ``narrow``. By one warp.
__device__ __noinline__ void narrow(const Tree& t, whole leaf, whole new_leaf) {
  const whole* feature = t.features + t.best[3 * leaf + FEATURE] * FEATURE_COLUMNS;
  whole slope = t.best[3 * leaf + CUT] < feature[BINS] - 1 ? feature[MONOTONE] : 0;
  double middle = 0.0, low = t.spans[2 * leaf], high = t.spans[2 * leaf + 1];
  for (int side = 0; side < 2 && slope != 0; side++) {
    whole total = side_of(t, leaf, new_leaf, side, 0).total(0);
    double below = weight_of(total);
    double mean = pull_of(total) / (below > 1.0 ? below : 1.0);
    middle += 0.5 * fmin(fmax(mean, low), high);
  }
  if ((threadIdx.x & 31) == 0) {
    t.spans[2 * new_leaf] = slope > 0 ? middle : low;
    t.spans[2 * new_leaf + 1] = slope < 0 ? middle : high;
    if (slope > 0) t.spans[2 * leaf + 1] = middle;
    if (slope < 0) t.spans[2 * leaf] = middle;
  }
}

// Write which levels of a category go left: kernels/category_split.py, ``choose_members``.
__device__ bool choose_members(const Tree& t, const whole* own, int bins, const short* order,
                               int cut, bool heavier_left, byte* members) {
  bool missing_left = heavier_left && own[bins] == 0;
  for (int k = 0; k < CODES; k++) members[k] = 0;
  for (int k = 0; k <= cut; k++) {
    if (order[k] < bins) members[order[k]] = 1;
    else if (own[bins] != 0) missing_left = true;
  }
  members[t.missing] = missing_left;
  for (int k = 0; k < bins; k++)
    if (own[k] == 0) members[k] = missing_left;
  return missing_left;
}

// Give a leaf the best of the cuts that were found; of equal ones that of the first feature. By
// one warp.
__device__ __noinline__ void take_best(const Tree& t, whole leaf, whole new_leaf, int side) {
  int lane = threadIdx.x & 31;
  whole k = side == 0 ? leaf : new_leaf;
  Cut mine = {0.0, 0, -1, false};
  for (whole j = lane; j < t.features_count; j += 32) {
    whole at = side * t.features_count + j;
    if (t.found_cut[at] >= 0) keep_better(mine, Cut{t.found[at], 0, (int)j, false});
  }
  mine = best_of_warp(mine);
  if (mine.place < 0) {
    if (lane == 0) t.gains[k] = 0.0;
    return;
  }
  whole feature = mine.place, cut = t.found_cut[side * t.features_count + feature];
  bool left = cut & 1;
  if (t.features[feature * FEATURE_COLUMNS + CATEGORY]) {
    whole* own;
    short* order;
    double before;
    look_at(t, side_of(t, leaf, new_leaf, side, feature), t.sizes[k], t.spans[2 * k],
            t.spans[2 * k + 1], own, order, before);
    if (lane == 0)
      left = choose_members(t, own, (int)t.features[feature * FEATURE_COLUMNS + BINS], order,
                            (int)(cut >> 1), left, t.members + k * CODES);
  }
  if (lane == 0) {
    t.gains[k] = mine.found - t.worth[side];
    t.best[3 * k + FEATURE] = feature;
    t.best[3 * k + CUT] = cut >> 1;
    t.best[3 * k + MISSING_LEFT] = left;
  }
}

// Allow some features, drawn as kernels/grow.py does.
__device__ void draw_features(const Tree& t, int side, word seed) {
  if (t.drawn >= t.features_count) return;
  byte* allowed = t.allowed + side * t.features_count;
  whole* deck = t.decks + side * t.features_count;
  for (whole j = 0; j < t.features_count; j++) {
    deck[j] = j;
    allowed[j] = 0;
  }
  word state = seed;
  for (whole k = 0; k < t.drawn; k++) {
    state += 0x9E3779B97F4A7C15ull;
    word mixed = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBull;
    mixed ^= mixed >> 31;
    whole place = k + (whole)(mixed % (word)(t.features_count - k));
    whole other = deck[place];
    deck[place] = deck[k];
    deck[k] = other;
    allowed[other] = 1;
  }
}

// Write down the split of a leaf: kernels/grow.py, ``record``. By one thread.
__device__ void record(const Tree& t, whole leaf, whole new_leaf) {
  whole number = new_leaf - 1;
  whole* split = t.splits + number * SPLIT_COLUMNS;
  for (int k = 0; k < 3; k++) split[k] = t.best[3 * leaf + k];
  split[LEFT] = ~leaf;
  split[RIGHT] = ~new_leaf;
  t.split_gains[number] = t.gains[leaf];
  if (t.features[split[FEATURE] * FEATURE_COLUMNS + CATEGORY])
    for (int k = 0; k < CODES; k++)
      t.split_members[number * CODES + k] = t.members[leaf * CODES + k];
  if (number > 0) t.splits[t.hangs[2 * leaf] * SPLIT_COLUMNS + t.hangs[2 * leaf + 1]] = number;
  t.hangs[2 * leaf] = t.hangs[2 * new_leaf] = number;
  t.hangs[2 * leaf + 1] = LEFT;
  t.hangs[2 * new_leaf + 1] = RIGHT;
  t.depths[leaf] += 1;
  t.depths[new_leaf] = t.depths[leaf];
}

// Choose the leaf whose split wins most, the first of equals, and plan it. By one warp.
__device__ __noinline__ void plan_next(const Tree& t, word seed) {
  int lane = threadIdx.x & 31;
  whole leaves = t.plan[LEAVES];
  Cut mine = {0.0, 0, -1, false};
  if (leaves < t.most_leaves)
    for (whole k = lane; k < leaves; k += 32)
      if (t.gains[k] > 0.0) keep_better(mine, Cut{t.gains[k], 0, (int)k, false});
  mine = best_of_warp(mine);
  if (lane == 0) {
    t.plan[LEAF] = mine.place;
    t.plan[NEW] = leaves;
    if (mine.place >= 0) {
      record(t, mine.place, leaves);
      t.plan[LEAVES] = leaves + 1;
    }
    t.placed[0] = t.placed[1] = 0;
  }
  if (mine.place >= 0 && lane < 2) draw_features(t, lane, seed + (word)(2 * leaves + lane));
}

template <typename Cell>
__device__ void label(const Tree& t, bool every_row) {
  Cell* cells = (Cell*)t.cells;
  whole me = (whole)blockIdx.x * blockDim.x + threadIdx.x, step = (whole)gridDim.x * blockDim.x;
  for (whole leaf = 0; leaf < t.plan[LEAVES]; leaf++) {
    const uint* rows = t.order[t.sides_of[leaf]] + t.starts[leaf];
    bool untouched = every_row && t.plan[LEAVES] == 1;
    for (whole k = me; k < t.sizes[leaf]; k += step)
      cells[untouched ? k : (whole)rows[k]] = (Cell)leaf;
  }
}

// ``every_row``: the tree is grown on all rows; else the first order holds ``size`` chosen ones.
extern "C" __global__ void __launch_bounds__(1024, 1)
    grow_tree(const Tree* given, whole size, whole every_row, word seed) {
  __shared__ Tree t;
  if (threadIdx.x == 0) t = *given;
  __syncthreads();
  if (last_to_arrive(t.barrier)) {
    if (threadIdx.x == 0) {
      whole plan[PLAN_WORDS] = {0, 0, 1, 1, 1, -1, -1};
      for (int k = 0; k < PLAN_WORDS; k++) t.plan[k] = plan[k];
      t.starts[0] = t.slots[0] = t.depths[0] = t.sides_of[0] = 0;
      t.sizes[0] = size;
      t.spans[0] = __longlong_as_double(0xFFF0000000000000ll);
      t.spans[1] = __longlong_as_double(0x7FF0000000000000ll);
      draw_features(t, 0, seed);
    }
    release(t.barrier);
  }
  subtract_and_clear(t, 0);
  meet(t.barrier);
  while (t.plan[LEAF] >= 0) {
    whole leaf = t.plan[LEAF], new_leaf = t.plan[NEW];
    bool untouched = every_row && new_leaf <= 1;  // the rows of the root are in no order yet
    if (new_leaf > 0) {
      subtract_and_clear(t, new_leaf);
      sort_rows(t, leaf, untouched);
      if (last_to_arrive(t.barrier)) {
        if (threadIdx.x == 0) {
          whole left = t.placed[0];
          t.starts[new_leaf] = t.starts[leaf] + left;
          t.sizes[new_leaf] = t.sizes[leaf] - left;
          t.sizes[leaf] = left;
          t.sides_of[leaf] = t.sides_of[new_leaf] = 1 - t.sides_of[leaf];
          t.plan[SEARCH] = t.plan[LEAVES] < t.most_leaves && t.depths[leaf] < t.deepest;
          t.plan[LEFT_COUNTED] = 2 * left <= t.sizes[leaf] + t.sizes[new_leaf];
          t.plan[REST_OF] = -1;
        }
        release(t.barrier);
      }
    }
    if (t.plan[SEARCH]) {
      whole counted = t.plan[LEFT_COUNTED] ? leaf : new_leaf;
      count_rows(t, counted, new_leaf, untouched && new_leaf == 0);
      if (last_to_arrive(t.barrier)) {
        if (new_leaf > 0 && threadIdx.x < 32) narrow(t, leaf, new_leaf);
        release(t.barrier);
      }
      search(t, leaf, new_leaf);
    }
    if (last_to_arrive(t.barrier)) {
      int warp = threadIdx.x >> 5;
      if (warp < (new_leaf > 0 ? 2 : 1)) {
        if (t.plan[SEARCH]) take_best(t, leaf, new_leaf, warp);
        else if ((threadIdx.x & 31) == 0) t.gains[warp == 0 ? leaf : new_leaf] = 0.0;
      }
      __syncthreads();
      if (warp == 0) {
        if ((threadIdx.x & 31) == 0 && t.plan[SEARCH] && new_leaf > 0) {
          whole slot = t.slots[leaf];  // of the parent; the side that was not counted takes it
          t.slots[leaf] = t.plan[LEFT_COUNTED] ? new_leaf : slot;
          t.slots[new_leaf] = t.plan[LEFT_COUNTED] ? slot : new_leaf;
          t.plan[REST_OF] = slot;
          t.plan[COUNTED_IN] = new_leaf;
        }
        __syncwarp();
        plan_next(t, seed);
      }
      release(t.barrier);
    }
  }
  if (t.cell_bytes == 1) label<byte>(t, every_row);
  else label<unsigned short>(t, every_row);
}
