// Grow one tree: the twin of src/native/tree/grow.cpp.
//
// All blocks enter ``grow_tree`` and stay until the tree is grown. Rows are divided for sorting and
// counting, features for the search of splits. The last block at a barrier does the work of a single
// one. All sums are of integers, and the first of equal splits is chosen.
//
// Best-first growth splits one leaf after the other, which leaves a GPU idle. So nodes that will
// probably have their turn are split along with the current one. The result of a split does not
// depend on when it is made: ``follow`` then numbers splits and leaves in the order of
// best-first growth, and the tree is the one that the CPU grows, bit for bit.
#include "core/hash.h"
#include "scan.cuh"

#define ROWS_WORTH_COUNTING 2048  // minimum rows per block
#define ROWS_AT_ONCE 4            // rows whose loads a thread has under way

extern __shared__ whole shared_words[];

__device__ __forceinline__ whole at_least_one(whole x) { return x > 0 ? x : 1; }

// Return the part of a batch that a task belongs to; ``before`` holds the tasks before each part.
__device__ __forceinline__ int part_of(const whole* before, int count, whole task) {
  int part = 0;
  while (part + 1 < count && before[part + 1] <= task) part++;
  return part;
}

// Write how many tasks come before each part of a batch, given those of each lane's part. By one
// warp: a batch has a part for every lane.
__device__ __forceinline__ void add_up_tasks(whole* before, whole own) {
  int lane = threadIdx.x & 31;
  whole sum = add_up_to(own);
  before[lane + 1] = sum;
  if (lane == 0) before[0] = 0;
}

// Write, for every code of a split's lane, whether it goes left: src/native/tree/route.h, ``sides``.
__device__ void sides(const Tree& t, whole node, byte* goes_left) {
  const whole* feature = t.features + t.best[3 * node + FEATURE] * FEATURE_COLUMNS;
  whole bins = feature[BINS], standard = feature[DEFAULT];
  for (whole code = threadIdx.x; code < CODES; code += blockDim.x) {
    whole b = code;
    if (standard >= 0) {
      b = code - feature[BASE];
      if (b < 0 || b >= bins - 1) b = standard;
      else if (b >= standard) b += 1;
    }
    if (feature[CATEGORY]) goes_left[code] = t.members[node * CODES + b];
    else if (b == t.missing) goes_left[code] = (byte)t.best[3 * node + MISSING_LEFT];
    else goes_left[code] = (byte)(b <= t.best[3 * node + CUT]);
  }
  __syncthreads();
}

// Move the rows of the nodes to the other order: those that go left to the front of a node's place,
// the others to its end. Each block takes piece after piece, and reserves room for it.
__device__ void sort_rows(const Tree& t, bool every_row) {
  __shared__ byte goes_left[CODES];
  __shared__ uint counts[ROWS_AT_ONCE * 32], bases[2];
  __shared__ whole before[BATCH + 1];
  int count = (int)t.plan[COUNT], prepared = -1;
  whole piece = (whole)blockDim.x * ROWS_AT_ONCE;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  if (warp == 0)
    add_up_tasks(before, lane < count ? (t.sizes[t.batch[lane]] + piece - 1) / piece : 0);
  __syncthreads();
  for (whole task = blockIdx.x; task < before[count]; task += gridDim.x) {
    int j = part_of(before, count, task);
    whole node = t.batch[j], start = t.starts[node], size = t.sizes[node];
    if (j != prepared) sides(t, node, goes_left);
    prepared = j;
    whole lane_of = t.features[t.best[3 * node + FEATURE] * FEATURE_COLUMNS + LANE];
    const uint* from = every_row && node == 0 ? nullptr : t.order[t.sides_of[node]] + start;
    uint* to = t.order[1 - t.sides_of[node]] + start;
    const byte* codes = t.codes + lane_of;
    whole first = (task - before[j]) * piece;
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
      uint passed = (uint)add_up_to(sum) - sum, all = __shfl_sync(~0u, passed + sum, 31);
      for (uint k = lane * each; k < (lane + 1) * each && k < entries; k++) {
        uint own = counts[k];
        counts[k] = passed;
        passed += own;
      }
      if (lane == 0) {
        uint here = (uint)min(piece, size - first);
        bases[0] = atomicAdd(t.placed + 2 * j, all);
        bases[1] = (uint)size - atomicAdd(t.placed + 2 * j + 1, here - all) - (here - all);
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

// Subtract the histograms that the splits before left open, and clear the next ones: that of split
// j of a batch is in slot SPLITS_MADE + 1 + j.
__device__ void subtract_and_clear(const Tree& t) {
  whole cells = t.lines * t.lanes * CODES;
  whole me = (whole)blockIdx.x * blockDim.x + threadIdx.x, step = (whole)gridDim.x * blockDim.x;
  for (whole k = me; k < t.plan[PENDING] * cells; k += step) {
    whole j = k / cells, at = k % cells;
    t.histogram[t.rests[2 * j] * cells + at] -= t.histogram[t.rests[2 * j + 1] * cells + at];
  }
  whole* first = t.histogram + (t.plan[SPLITS_MADE] + 1) * cells;
  for (whole k = me; k < t.plan[COUNT] * cells; k += step) first[k] = 0;
}

// Count a piece of the rows of a node into the histograms of a slot, which were 0, for some of the
// lanes: in the memory of the block first, where 32-bit additions are fast.
__device__ void count_piece(const Tree& t, const uint* from, whole first, whole last, whole line,
                            whole first_lane, whole slot) {
  uint* pulls = (uint*)shared_words;
  uint* weights = pulls + t.group * CODES;
  int lanes = (int)min(t.group, t.lanes - first_lane), quads = (lanes + 3) / 4;
  for (int k = threadIdx.x; k < quads * 4 * CODES; k += blockDim.x) pulls[k] = weights[k] = 0;
  __syncthreads();
  int rows_each = blockDim.x / quads, row_of = threadIdx.x / quads, quad = threadIdx.x % quads;
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

// The node whose rows are counted for a split of the batch: the part with fewer rows.
__device__ __forceinline__ whole counted_node(const Tree& t, int j) {
  whole node = t.batch[j];
  return t.counted_left[j] ? t.left_of[node] : t.right_of[node];
}

// Count the rows of all nodes of the batch, or of the root.
__device__ void count_rows(const Tree& t, bool root, bool every_row) {
  __shared__ whole before[BATCH + 1];
  int count = root ? 1 : (int)t.plan[COUNT];
  whole groups = (t.lanes + t.group - 1) / t.group, passes = groups * t.lines;
  if (threadIdx.x < 32) {
    int j = threadIdx.x;
    whole size = 0;
    if (j < count) size = root ? t.sizes[0] : t.searched[j] ? t.sizes[counted_node(t, j)] : 0;
    whole all = add_over_warp(size), fair = 1;
    if (all > 0) fair = at_least_one((whole)((double)size * gridDim.x / ((double)all * passes)));
    whole pieces = size ? min(fair, at_least_one(size / ROWS_WORTH_COUNTING)) : 0;
    add_up_tasks(before, passes * pieces);
  }
  __syncthreads();
  for (whole task = blockIdx.x; task < before[count]; task += gridDim.x) {
    int j = part_of(before, count, task);
    whole node = root ? 0 : counted_node(t, j), size = t.sizes[node];
    whole pieces = (before[j + 1] - before[j]) / passes, own = task - before[j];
    whole pass = own % passes, piece = own / passes;
    const uint* from =
        root && every_row ? nullptr : t.order[t.sides_of[node]] + t.starts[node];
    count_piece(t, from, size * piece / pieces, size * (piece + 1) / pieces, pass / groups,
                pass % groups * t.group, root ? 0 : t.plan[SPLITS_MADE] + 1 + j);
  }
}

// The part of the block's memory that a warp needs to search a feature.
__device__ __forceinline__ whole words_a_warp(const Tree& t) {
  return t.lines * (CODES + 1) + t.lines + (CODES + 1) + (CODES + 1) / 4 + 1;
}

// Search the cuts of a category with its levels in one of three orders, that of their codes, of the
// root or of this node: src/native/tree/split_general.cpp, ``scan_category``. ``order`` holds the last one.
__device__ Cut look_at_levels(const Tree& t, whole feature, bool root, int kind, double rare,
                              Question& ask, whole* own, const whole* totals, double* ratio,
                              short* order) {
  int lane = threadIdx.x & 31;
  Cut none = {0.0, 0, -1, false, 0};
  ask.chance = 0.0;
  if (kind == 1) {
    double evidence = root ? 0.0 : t.evidence[feature];
    if (evidence == 0.0) return none;
    ask.chance = chance_of(own, ask.bins, t.rules[LEVEL_PENALTY]) / evidence;
  }
  if (kind == 2) {
    pool_rare(t, own, ask.bins, rare);
    order_of(own, ask.bins, t.rules[SMOOTH], ratio, order);
    ask.chance = chance_of(own, ask.bins, t.rules[LEVEL_PENALTY]);
  } else {
    for (int b = lane; b <= ask.bins; b += 32)
      order[b] = kind == 0 ? (short)b : (short)t.orders[feature * CODES + b];
    __syncwarp();
  }
  Cut found = scan_feature(t, own, order, totals, ask);
  found.order = kind;
  __syncwarp();
  return found;
}

// Read the histogram of a feature and search all its cuts. A category is searched in the order
// ``only``, or in all if that is -1; ``order`` holds the last one. The root writes the orders of
// levels.
__device__ __noinline__ Cut look_at(const Tree& t, const View& view, whole size, double low_end, double high_end,
                       bool root, int only, whole*& own, short*& order, double& before) {
  int room = threadIdx.x >> 5;
  own = shared_words + room * words_a_warp(t);
  whole* totals = own + t.lines * (CODES + 1);
  double* ratio = (double*)(totals + t.lines);
  order = (short*)(ratio + CODES + 1);
  __syncwarp();
  double squares = 0.0;
  for (int s = 0; s < t.lines; s++) {
    whole total = open_feature(view, s, own + s * (CODES + 1));
    if ((threadIdx.x & 31) == 0) totals[s] = total;
    squares += pull_of(total) * pull_of(total);
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
  Cut best = {0.0, 0, -1, false, 0};
  before = 0.0;
  if (weight < 2 * ask.least) return best;
  before = t.lines == 1 ? worth_of_one(ask.criterion, pull_of(totals[0]), weight, ask.penalty)
                        : squares / (weight + ask.penalty);
  ask.wanted = before + NOISE * fabs(before);
  if (!ask.category) return scan_feature(t, own, nullptr, totals, ask);
  whole feature = (view.feature - t.features) / FEATURE_COLUMNS;
  if (root && only < 0) {
    order_of(own, ask.bins, t.rules[SMOOTH], ratio, order);
    double evidence = evidence_of(t, own, ask.bins, totals, t.rules[CHANCE]);
    for (int b = threadIdx.x & 31; b <= ask.bins; b += 32)
      t.orders[feature * CODES + b] = (byte)order[b];
    if ((threadIdx.x & 31) == 0) t.evidence[feature] = evidence;
    __syncwarp();
  }
  double rare = t.rules[LEVEL_ROWS] * weight / (double)size;
  for (int kind = 0; kind < 3; kind++) {
    if (only >= 0 && kind != only) continue;
    Cut found = look_at_levels(t, feature, root, kind, rare, ask, own, totals, ratio, order);
    if (found.place >= 0 && (best.place < 0 || found.found > best.found)) best = found;
  }
  return best;
}

// The histogram of one part of split j of the batch. The counted part has a histogram;
// that of the other part is the parent's minus it, and the parent's is still in its slot.
__device__ View side_of(const Tree& t, int j, int side, whole feature) {
  View view = {&t, t.features + feature * FEATURE_COLUMNS, 0, -1};
  if (j < 0) return view;  // the root
  view.counted = t.plan[SPLITS_MADE] + 1 + j;
  if ((side == 0) != (t.counted_left[j] != 0)) view.parent = t.slots[t.batch[j]];
  return view;
}

__device__ __forceinline__ whole node_of_side(const Tree& t, int j, int side) {
  return j < 0 ? 0 : side == 0 ? t.left_of[t.batch[j]] : t.right_of[t.batch[j]];
}

// How many warps of a block can search features at the same time.
__device__ __forceinline__ whole rooms_for_warps(const Tree& t) {
  return min((whole)(blockDim.x >> 5), t.shared_words / words_a_warp(t));
}

// Search every feature of all parts of the batch, or of the root, with a warp for each feature.
__device__ __noinline__ void search(const Tree& t, bool root) {
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  whole rooms = rooms_for_warps(t), count = root ? 1 : 2 * t.plan[COUNT];
  if (warp >= rooms) return;
  for (whole task = blockIdx.x + warp * gridDim.x; task < count * t.features_count;
       task += rooms * gridDim.x) {
    whole part = task / t.features_count, feature = task % t.features_count;
    int j = root ? -1 : (int)(part / 2), side = (int)(part & 1);
    if (!root && !t.searched[j]) continue;
    whole node = node_of_side(t, j, side);
    bool category = t.features[feature * FEATURE_COLUMNS + CATEGORY] != 0;
    bool drawn = !t.interacting || t.open[node * t.features_count + feature];
    if (t.drawn < t.features_count) drawn = t.allowed[side * t.features_count + feature];
    if (!drawn && !(root && category)) {
      if (lane == 0) t.found_cut[task] = -1;
      continue;
    }
    whole* own;
    short* order;
    double before;
    Cut cut = look_at(t, side_of(t, j, side, feature), t.sizes[node], t.spans[2 * node],
                      t.spans[2 * node + 1], root, -1, own, order, before);
    bool absent = !category && own[t.features[feature * FEATURE_COLUMNS + BINS]] != 0;
    if (!drawn) cut.place = -1;  // the root has written the orders of levels
    if (lane == 0) {
      t.found[task] = cut.found;
      t.found_cut[task] = cut.place < 0 ? -1
                          : 2 * (4 * cut.place + cut.order) + (absent ? cut.way : cut.heavier);
      t.worth[part] = before;  // the same for every feature
    }
  }
}

// Pass the span of a node on to its parts: src/native/tree/leaves.h, ``narrow``. By one warp.
__device__ __noinline__ void narrow(const Tree& t, int j) {
  whole node = t.batch[j], left = t.left_of[node], right = t.right_of[node];
  const whole* feature = t.features + t.best[3 * node + FEATURE] * FEATURE_COLUMNS;
  whole slope = t.best[3 * node + CUT] < feature[BINS] - 1 ? feature[MONOTONE] : 0;
  double middle = 0.0, low = t.spans[2 * node], high = t.spans[2 * node + 1];
  for (int side = 0; side < 2 && slope != 0 && t.searched[j]; side++) {
    whole total = side_of(t, j, side, 0).total(0);
    double below = weight_of(total);
    double mean = pull_of(total) / (below > 1.0 ? below : 1.0);
    middle += 0.5 * fmin(fmax(mean, low), high);
  }
  if ((threadIdx.x & 31) == 0) {
    t.spans[2 * left] = slope < 0 ? middle : low;
    t.spans[2 * left + 1] = slope > 0 ? middle : high;
    t.spans[2 * right] = slope > 0 ? middle : low;
    t.spans[2 * right + 1] = slope < 0 ? middle : high;
  }
}

// Write which levels of a category go left: src/native/tree/split_general.cpp, ``choose_members``.
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

// Set the best cut of a part, that of the first feature of equals. By one warp.
__device__ __noinline__ void take_best(const Tree& t, int j, int side) {
  int lane = threadIdx.x & 31;
  whole node = node_of_side(t, j, side), part = j < 0 ? 0 : 2 * j + side;
  Cut mine = {0.0, 0, -1, false, 0};
  if (j < 0 || t.searched[j])
    for (whole f = lane; f < t.features_count; f += 32) {
      whole at = part * t.features_count + f;
      if (t.found_cut[at] >= 0) keep_better(mine, Cut{t.found[at], 0, (int)f, false, 0});
    }
  mine = best_of_warp(mine);
  if (mine.place < 0) {
    if (lane == 0) t.gains[node] = 0.0;
    return;
  }
  whole feature = mine.place, cut = t.found_cut[part * t.features_count + feature];
  bool left = cut & 1;
  int in_order = (int)(cut >> 1 & 3);
  cut >>= 3;
  if (t.features[feature * FEATURE_COLUMNS + CATEGORY]) {
    whole* own;
    short* order;
    double before;
    look_at(t, side_of(t, j, side, feature), t.sizes[node], t.spans[2 * node],
            t.spans[2 * node + 1], j < 0, in_order, own, order, before);
    if (lane == 0)
      left = choose_members(t, own, (int)t.features[feature * FEATURE_COLUMNS + BINS], order,
                            (int)cut, left, t.members + node * CODES);
  }
  if (lane == 0) {
    t.gains[node] = mine.found - t.worth[part];
    t.best[3 * node + FEATURE] = feature;
    t.best[3 * node + CUT] = cut;
    t.best[3 * node + MISSING_LEFT] = left;
  }
}

// Open all features to the root. By the whole block.
__device__ void open_all(const Tree& t) {
  for (whole f = threadIdx.x; f < t.features_count; f += blockDim.x) {
    t.asked[f] = 0;
    t.open[f] = 1;
  }
  for (whole k = threadIdx.x; k < t.set_count; k += blockDim.x) t.reach[k] = 1;
  if (threadIdx.x == 0) t.asked_count[0] = 0;
  __syncthreads();
}

// Restrict the features open to a node after a split, for both parts: src/native/tree/draw.h.
// By the whole block.
__device__ void hand_down(const Tree& t, whole node, whole left) {
  whole features = t.features_count, split = t.best[3 * node + FEATURE];
  const byte* asked = t.asked + node * features;
  const byte* reach = t.reach + node * t.set_count;
  const byte* with_split = t.sets + split;
  whole count = t.asked_count[node] + (asked[split] ? 0 : 1);
  for (whole f = threadIdx.x; f < features; f += blockDim.x) {
    byte own = f == split ? 1 : asked[f], open = 0;
    if (t.set_count == 0) open = count >= t.most_asked ? own : 1;
    for (whole k = 0; k < t.set_count; k++)
      open |= reach[k] & with_split[k * features] & t.sets[k * features + f];
    for (whole part = left; part <= left + 1; part++) {
      t.asked[part * features + f] = own;
      t.open[part * features + f] = open;
    }
  }
  for (whole k = threadIdx.x; k < t.set_count; k += blockDim.x)
    for (whole part = left; part <= left + 1; part++)
      t.reach[part * t.set_count + k] = reach[k] & with_split[k * features];
  if (threadIdx.x == 0) t.asked_count[left] = t.asked_count[left + 1] = count;
}

// Shuffle the first places of a deck of all features, as ``draw_features`` of src/native/tree/draw.h does.
__device__ void shuffle(whole* deck, whole features, whole count, word seed) {
  for (whole j = 0; j < features; j++) deck[j] = j;
  word state = seed;
  for (whole k = 0; k < count; k++) {
    state += STEP;
    whole place = k + (whole)(mixed(state) % (word)(features - k));
    whole other = deck[place];
    deck[place] = deck[k];
    deck[k] = other;
  }
}

// Allow some features to a part, drawn from those open to it as src/native/tree/draw.h does.
__device__ void draw_features(const Tree& t, int side, whole node, word seed) {
  whole features = t.features_count, drawn = t.drawn;
  if (drawn >= features) return;
  byte* allowed = t.allowed + side * features;
  whole* deck = t.decks + side * features;
  const byte* open = t.interacting ? t.open + node * features : nullptr;
  for (whole j = 0; j < features; j++) allowed[j] = 0;
  if (open) {
    whole count = 0;
    for (whole j = 0; j < features; j++) count += open[j];
    drawn = min(drawn, at_least_one((whole)ceil(t.share * (double)count)));
    if (drawn >= count) {
      for (whole j = 0; j < features; j++) allowed[j] = open[j];
      return;
    }
  }
  shuffle(deck, features, open ? features - 1 : drawn, seed);
  for (whole k = 0; k < features && drawn > 0; k++)
    if (!open || open[deck[k]]) {
      allowed[deck[k]] = 1;
      drawn--;
    }
}

// Follow best-first growth as far as the splits made reach: number splits and leaves, and return
// the next node, or -1 at the end. By one warp.
__device__ whole follow(const Tree& t, const double* gains) {
  int lane = threadIdx.x & 31;
  whole leaves = t.plan[LEAVES];
  Cut next = {0.0, 0, -1, false, 0};
  while (leaves < t.most_leaves) {
    next = Cut{0.0, 0, -1, false, 0};
    for (whole k = lane; k < leaves; k += 32) {
      double gain = gains[t.node_of[k]];
      if (gain > 0.0) keep_better(next, Cut{gain, 0, (int)k, false, 0});
    }
    next = best_of_warp(next);
    if (next.place < 0) break;
    whole node = t.node_of[next.place], left = t.left_of[node];
    if (left == 0) break;
    __syncwarp();
    if (lane == 0) {
      t.split_of[node] = leaves - 1;
      t.leaf_of[node] = next.place;
      t.node_of[next.place] = left;
      t.node_of[leaves] = t.right_of[node];
    }
    __syncwarp();
    leaves++;
  }
  if (lane == 0) t.plan[LEAVES] = leaves;
  __syncwarp();
  if (leaves >= t.most_leaves || next.place < 0) return -1;
  return t.node_of[next.place];
}

// Choose the nodes to split now: the next one, and those with the largest gains beside it, as many
// as may still have their turn. If features are drawn, the draw depends on the number of a split, so
// no split is made ahead of its turn. By the whole block.
__device__ void choose_nodes(const Tree& t, double* gains, whole turn) {
  __shared__ int chosen;
  bool copied = gains != t.gains;
  whole leaves = t.plan[LEAVES], ahead = t.plan[SPLITS_MADE] - (leaves - 1);
  whole most = min(t.most_leaves - leaves - ahead, t.ahead - ahead);
  most = t.drawn < t.features_count || most < 1 ? 1 : most > BATCH ? BATCH : most;
  if (threadIdx.x == 0) {
    t.batch[0] = turn;
    chosen = 1;
  }
  whole nodes = t.plan[NODES];
  if (copied)  // so that only nodes that can be chosen have a gain
    for (whole node = threadIdx.x; node < nodes; node += blockDim.x)
      if (t.left_of[node] != 0 || node == turn) gains[node] = 0.0;
  __syncthreads();
  for (whole node = threadIdx.x; node < nodes && most > 1; node += blockDim.x) {
    double gain = gains[node];
    if (!(gain > 0.0) || (!copied && (t.left_of[node] != 0 || node == turn))) continue;
    int rank = 1;
    for (whole other = 0; other < nodes && rank < most; other++) {
      bool better = gains[other] > gain || (gains[other] == gain && other < node);
      if (better && !copied) better = t.left_of[other] == 0 && other != turn;
      rank += better;
    }
    if (rank < most) {
      t.batch[rank] = node;
      atomicAdd(&chosen, 1);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) t.plan[COUNT] = chosen;
  for (int j = threadIdx.x; j < 2 * BATCH; j += blockDim.x) t.placed[j] = 0;
  __syncthreads();
}

// Assign places to the parts of the nodes that are to be split.
__device__ void make_parts(const Tree& t, word seed) {
  int j = threadIdx.x, count = (int)t.plan[COUNT];
  whole nodes = t.plan[NODES], leaves = t.plan[LEAVES];
  if (j < count) {
    whole node = t.batch[j], left = nodes + 2 * j, right = left + 1;
    t.left_of[node] = left;
    t.right_of[node] = right;
    for (whole part = left; part <= right; part++) {
      t.left_of[part] = t.right_of[part] = 0;
      t.split_of[part] = -1;
      t.parents[part] = node;
      t.depths[part] = t.depths[node] + 1;
      t.sides_of[part] = 1 - t.sides_of[node];
      t.gains[part] = 0.0;
    }
    // the parts of the last split are not searched
    t.searched[j] = t.depths[left] < t.deepest && !(count == 1 && leaves + 1 == t.most_leaves);
  }
  __syncthreads();
  for (int part = 0; t.interacting && part < count; part++)
    hand_down(t, t.batch[part], nodes + 2 * part);
  __syncthreads();
  if (t.drawn < t.features_count && j < 2)
    draw_features(t, j, nodes + j, seed + (word)(2 * leaves + j));
  __syncthreads();
  if (threadIdx.x == 0) t.plan[NODES] = nodes + 2 * count;
}

// After a batch, or the root, has been searched: by the last block.
__device__ __noinline__ void look_ahead(const Tree& t, bool root, word seed) {
  __shared__ whole turn;
  int warp = threadIdx.x >> 5;
  whole parts = root ? 1 : 2 * t.plan[COUNT], rooms = rooms_for_warps(t);
  for (whole part = warp; part < parts && warp < rooms; part += rooms)
    take_best(t, root ? -1 : (int)(part / 2), (int)(part & 1));
  __syncthreads();
  if (!root) {
    int j = threadIdx.x, count = (int)t.plan[COUNT];
    bool kept = j < count && t.searched[j];
    if (warp == 0) {
      uint all = __ballot_sync(~0u, kept);
      if (kept) {
        whole node = t.batch[j], own = t.plan[SPLITS_MADE] + 1 + j, slot = t.slots[node];
        whole left = t.left_of[node], right = t.right_of[node];
        t.slots[left] = t.counted_left[j] ? own : slot;
        t.slots[right] = t.counted_left[j] ? slot : own;
        int place = __popc(all & ((1u << j) - 1));
        t.rests[2 * place] = slot;
        t.rests[2 * place + 1] = own;
      }
      if (j == 0) t.plan[PENDING] = __popc(all);
    }
    __syncthreads();
    if (threadIdx.x == 0) t.plan[SPLITS_MADE] += count;
    __syncthreads();
  }
  double* gains = t.gains;
  whole nodes = t.plan[NODES];
  if (nodes <= t.shared_words) {  // the same numbers, in faster memory
    gains = (double*)shared_words;
    for (whole k = threadIdx.x; k < nodes; k += blockDim.x) gains[k] = t.gains[k];
    __syncthreads();
  }
  if (warp == 0) {
    whole node = follow(t, gains);
    if (threadIdx.x == 0) turn = node;
  }
  __syncthreads();
  if (turn < 0) {
    if (threadIdx.x == 0) t.plan[COUNT] = 0;
    return;
  }
  choose_nodes(t, gains, turn);
  make_parts(t, seed);
}

// When all rows are sorted: by the last block.
__device__ void place_parts(const Tree& t) {
  int j = threadIdx.x;
  if (j < t.plan[COUNT]) {
    whole node = t.batch[j], left = t.left_of[node], right = t.right_of[node];
    whole lefts = t.placed[2 * j], size = t.sizes[node];
    t.starts[left] = t.starts[node];
    t.sizes[left] = lefts;
    t.starts[right] = t.starts[node] + lefts;
    t.sizes[right] = size - lefts;
    t.counted_left[j] = 2 * lefts <= size;
  }
}

// Write the splits in the order of best-first growth: src/native/tree/leaves.h, ``record``.
__device__ void record(const Tree& t) {
  for (whole node = threadIdx.x; node < t.plan[NODES]; node += blockDim.x) {
    whole number = t.split_of[node];
    if (number < 0) continue;
    whole* split = t.splits + number * SPLIT_COLUMNS;
    for (int k = 0; k < 3; k++) split[k] = t.best[3 * node + k];
    split[LEFT] = ~t.leaf_of[node];
    split[RIGHT] = ~(number + 1);
    t.split_gains[number] = t.gains[node];
    if (t.features[split[FEATURE] * FEATURE_COLUMNS + CATEGORY])
      for (int k = 0; k < CODES; k++)
        t.split_members[number * CODES + k] = t.members[node * CODES + k];
  }
  __syncthreads();
  for (whole node = threadIdx.x + 1; node < t.plan[NODES]; node += blockDim.x) {
    whole number = t.split_of[node], parent = t.parents[node];
    if (number >= 0)
      t.splits[t.split_of[parent] * SPLIT_COLUMNS + (t.left_of[parent] == node ? LEFT : RIGHT)] =
          number;
  }
  for (whole k = threadIdx.x; k < t.plan[LEAVES]; k += blockDim.x) t.leaf_of[t.node_of[k]] = k;
  __syncthreads();
  for (whole node = threadIdx.x; node < t.plan[NODES]; node += blockDim.x) {
    whole leaf = node;  // a node that was split ahead but had no turn is a leaf
    while (leaf != 0 && t.split_of[t.parents[leaf]] < 0) leaf = t.parents[leaf];
    if (leaf != node) t.leaf_of[node] = t.leaf_of[leaf];
  }
}

#define NODES_AT_ONCE 128

// Write the leaf of every row.
template <typename Cell>
__device__ void label(const Tree& t, bool every_row) {
  __shared__ whole places[NODES_AT_ONCE], sizes[NODES_AT_ONCE], leaves[NODES_AT_ONCE];
  Cell* cells = (Cell*)t.cells;
  whole nodes = t.plan[NODES], step = (whole)gridDim.x * blockDim.x;
  for (whole first = 0; first < nodes; first += NODES_AT_ONCE) {
    int count = (int)min((whole)NODES_AT_ONCE, nodes - first);
    if (threadIdx.x < count) {
      whole node = first + threadIdx.x;
      places[threadIdx.x] = (whole)(t.order[t.sides_of[node]] + t.starts[node]);
      sizes[threadIdx.x] = t.left_of[node] ? 0 : t.sizes[node];
      leaves[threadIdx.x] = t.leaf_of[node];
    }
    __syncthreads();
    for (int n = 0; n < count; n++) {
      const uint* rows = (const uint*)places[n];
      bool untouched = every_row && first + n == 0;
      // nodes begin at different blocks, so that not all small ones are done by the first
      whole me = (whole)((blockIdx.x + 7 * n) % gridDim.x) * blockDim.x + threadIdx.x;
      for (whole k = me; k < sizes[n]; k += step)
        cells[untouched ? k : (whole)rows[k]] = (Cell)leaves[n];
    }
    __syncthreads();
  }
}

// Likewise for a tree of one split, whose rows have not been sorted.
template <typename Cell>
__device__ __noinline__ void label_by_codes(const Tree& t) {
  __shared__ byte goes_left[CODES];
  sides(t, 0, goes_left);
  Cell* cells = (Cell*)t.cells;
  Cell left = (Cell)t.leaf_of[t.left_of[0]], right = (Cell)t.leaf_of[t.right_of[0]];
  const byte* codes = t.codes + t.features[t.best[FEATURE] * FEATURE_COLUMNS + LANE];
  whole step = (whole)gridDim.x * blockDim.x;
  for (whole row = (whole)blockIdx.x * blockDim.x + threadIdx.x; row < t.rows; row += step)
    cells[row] = goes_left[codes[row * t.stride]] ? left : right;
}

// ``every_row``: the tree is grown on all rows; else the first order holds ``size`` chosen ones.
extern "C" __global__ void __launch_bounds__(1024, 1)
    grow_tree(const Tree* given, whole size, whole every_row, word seed, const whole* totals,
              double criterion, double penalty, double least_weight, double least_rows, double smooth,
              double level_penalty, double level_rows, double chance) {
  __shared__ Tree t;
  __shared__ double rules[RULES];
  __shared__ bool stump;
  if (threadIdx.x == 0) {
    t = *given;
    t.rules = rules;
    rules[CRITERION] = criterion;
    rules[PENALTY] = totals ? penalty * scale_of(totals[0]) : penalty;
    rules[LEAST_WEIGHT] = least_weight;
    rules[LEAST_ROWS] = least_rows;
    rules[SMOOTH] = smooth;
    rules[LEVEL_PENALTY] = level_penalty;
    rules[LEVEL_ROWS] = level_rows;
    rules[CHANCE] = chance;
  }
  __syncthreads();
  if (last_to_arrive(t.barrier)) {
    if (t.interacting) open_all(t);
    if (threadIdx.x == 0) {
      // the histogram of the root is in slot 0, and the next ones follow
      whole plan[PLAN_WORDS] = {1, 1, -1, 1, 0};
      for (int k = 0; k < PLAN_WORDS; k++) t.plan[k] = plan[k];
      t.starts[0] = t.slots[0] = t.sides_of[0] = t.depths[0] = t.left_of[0] = t.right_of[0] = 0;
      t.node_of[0] = t.leaf_of[0] = t.parents[0] = 0;
      t.split_of[0] = -1;
      t.sizes[0] = size;
      t.spans[0] = __longlong_as_double(0xFFF0000000000000ll);
      t.spans[1] = __longlong_as_double(0x7FF0000000000000ll);
      draw_features(t, 0, 0, seed);
    }
    for (whole k = threadIdx.x; k < 2 * t.most_leaves; k += blockDim.x) t.leaf_sums[k] = 0;
    release(t.barrier);
  }
  subtract_and_clear(t);
  meet(t.barrier);
  count_rows(t, true, every_row);
  meet(t.barrier);
  search(t, true);
  if (last_to_arrive(t.barrier)) {
    if (threadIdx.x == 0) t.plan[SPLITS_MADE] = 0;
    __syncthreads();
    look_ahead(t, true, seed);
    release(t.barrier);
  }
  if (threadIdx.x == 0) stump = every_row && t.most_leaves == 2 && t.plan[COUNT] > 0;
  __syncthreads();
  while (t.plan[COUNT] > 0) {
    if (!stump) {  // the parts of a stump are not searched
      subtract_and_clear(t);
      sort_rows(t, every_row);
      if (last_to_arrive(t.barrier)) {
        place_parts(t);
        release(t.barrier);
      }
      count_rows(t, false, every_row);
      if (last_to_arrive(t.barrier)) {
        for (int j = threadIdx.x >> 5; t.monotone && j < t.plan[COUNT]; j += blockDim.x >> 5)
          narrow(t, j);
        release(t.barrier);
      }
      search(t, false);
    }
    if (last_to_arrive(t.barrier)) {
      look_ahead(t, false, seed);
      release(t.barrier);
    }
  }
  if (last_to_arrive(t.barrier)) {
    record(t);
    release(t.barrier);
  }
  if (stump) label_by_codes<byte>(t);  // the cells of a stump have one byte
  else if (t.cell_bytes == 1) label<byte>(t, every_row);
  else label<unsigned short>(t, every_row);
}
