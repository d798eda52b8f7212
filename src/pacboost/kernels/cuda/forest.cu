// Grow the trees of a forest: the twin of kernels/forest_grow.py.
//
// A block grows a tree node by node in the order of the CPU, since every draw of features depends on
// all draws before it. All threads work on a large node together. A subtree of few rows is grown by
// the first warp alone, which need not wait for the others. Many blocks grow trees at once.
#include "forest_search.cuh"

__device__ __forceinline__ whole count_of(const Forest& f, whole tree, whole row) {
  if (f.counts == nullptr) return 1;
  whole at = tree * f.rows + row;
  return f.count_bytes == 1 ? ((const byte*)f.counts)[at] : ((const uint*)f.counts)[at];
}

// Give how many of the threads before this one have ``yes``, and how many all threads have.
template <bool ALL>
__device__ __forceinline__ void rank_of(bool yes, Bench& b, uint& before, uint& all) {
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  uint votes = __ballot_sync(~0u, yes);
  before = __popc(votes & ((1u << lane) - 1));
  all = __popc(votes);
  if (!ALL) return;
  if (lane == 0) b.counts[warp] = all;
  __syncthreads();
  all = 0;
  for (int k = 0; k < (int)(blockDim.x >> 5); k++) {
    if (k == warp) before += all;
    all += b.counts[k];
  }
  __syncthreads();
}

// Take the rows of a bag, each with its share times how often it was drawn; give their number.
__device__ whole take_bag(const Forest& f, const Own& own, Bench& b, whole tree) {
  whole taken = 0;
  for (whole base = 0; base < f.rows; base += blockDim.x) {
    whole row = base + threadIdx.x, count = row < f.rows ? count_of(f, tree, row) : 0;
    uint before, all;
    rank_of<true>(count > 0, b, before, all);
    if (count > 0) {
      whole at = taken + before, parcel = f.parcels[row];
      own.rows[at] = (uint)row;
      if (f.weighted) own.weights[at] = f.weights[row] * count;
      else if (f.classes > 2) parcel += (parcel >> 16) * (count - 1) << 16;
      else parcel *= count;
      own.parcels[at] = parcel;
    }
    taken += all;
  }
  __syncthreads();
  return taken;
}

// Put the rows that go left first, in their order; give how many they are.
template <bool ALL>
__device__ whole sort_rows(const Forest& f, const Own& own, Bench& b, const Node& n, whole feature,
                           int cut, bool missing_left) {
  int me = threadIdx.x, step = team<ALL>();
  whole left = 0, right = 0;
  bool at_once = n.size <= step;
  for (whole base = 0; base < n.size; base += step) {
    whole at = n.start + base + me, parcel = 0, weight = 0;
    bool mine = base + me < n.size, goes_left = false;
    uint row = 0;
    if (mine) {
      row = own.rows[at];
      parcel = own.parcels[at];
      if (f.weighted) weight = own.weights[at];
      int code = code_at(f, n.dense, feature, row);
      goes_left = code <= cut || (missing_left && code == f.missing);
    }
    uint before, all, here = (uint)min((whole)step, n.size - base);
    rank_of<ALL>(goes_left, b, before, all);
    if (!ALL) __syncwarp();
    if (mine && (goes_left || at_once)) {
      whole to = n.start + (goes_left ? left + before : all + (me - before));
      own.rows[to] = row;
      own.parcels[to] = parcel;
      if (f.weighted) own.weights[to] = weight;
    } else if (mine) {
      whole to = n.start + right + (me - before);
      own.spare_rows[to] = row;
      own.spare[to] = parcel;
      if (f.weighted) own.spare_weights[to] = weight;
    }
    left += all;
    right += here - all;
  }
  wait<ALL>();
  if (!at_once)
    for (whole k = me; k < right; k += step) {
      whole to = n.start + left + k;
      own.rows[to] = own.spare_rows[n.start + k];
      own.parcels[to] = own.spare[n.start + k];
      if (f.weighted) own.weights[to] = own.spare_weights[n.start + k];
    }
  wait<ALL>();
  return left;
}

// Add up a node.
template <bool ALL>
__device__ void sum_up(const Forest& f, const Own& own, Bench& b, Node& n, Held& held) {
  int me = threadIdx.x, step = team<ALL>();
  whole weight = 0, pull = 0, other = 0;
  if (f.classes > 2) {
    for (whole c = me; c < f.classes; c += step) own.totals[c] = 0;
    wait<ALL>();
    for (whole i = me; i < n.size; i += step) {
      whole parcel = own.parcels[n.start + i];
      atomicAdd((word*)own.totals + (parcel & CLASS), (word)(parcel >> 16));
    }
    wait<ALL>();
    for (whole c = me; c < f.classes; c += step) {
      whole total = own.totals[c];
      weight += total;
      pull += total * total;
      other += total > 0;
    }
    n.weight = add_over_team<ALL>(weight, b);
    n.pull = add_over_team<ALL>(pull, b);
    n.pure = add_over_team<ALL>(other, b) == 1;
    n.score = (double)n.pull / (double)n.weight;
    return;
  }
  whole first = f.weighted ? own.parcels[n.start] : 0;
  held = {0, 0, 0};
  for (whole i = me; i < n.size; i += step) {
    whole at = n.start + i;
    share_of(f, own, at, held.weight, held.pull);
    held.row = own.rows[at];
    weight += held.weight;
    pull += held.pull;
    if (f.weighted) other += own.parcels[at] != first;
  }
  n.weight = add_over_team<ALL>(weight, b);
  n.pull = add_over_team<ALL>(pull, b);
  n.pure = f.weighted ? add_over_team<ALL>(other, b) == 0 : n.pull == 0 || n.pull == n.weight;
  n.score = (double)n.pull * (double)n.pull / (double)n.weight;
}

// Draw features and cut them; gives the best score and its feature, -1 if there is none. ``side`` is
// -1 where nothing is missing.
template <bool ALL>
__device__ double search(const Forest& f, const Own& own, Bench& b, const Node& n,
                         const Held& held, double lightest, Turn& turn, whole& feature, int& cut,
                         int& side) {
  whole drawn = 0, passed = 0, tried = 0, known = turn.known, first = known, last = f.features;
  double best = -1.0;
  double perfect = __longlong_as_double(0x7FF0000000000000ll);  // what no cut can surpass
  if (f.classes > 0) perfect = (double)(f.classes > 2 ? n.weight : n.pull);
  while (last > first && (drawn < f.tries || tried == 0) && best < perfect) {
    drawn++;
    whole at = below(turn.state, known - passed + last - first);
    if (at < known - passed) {
      passed++;  // one of the constants: which one does not matter
      continue;
    }
    at += first - (known - passed);
    whole j = own.deck[at];
    Found found = look_at<ALL>(f, own, b, n, held, j, lightest, turn.state);
    bool constant = found.low == found.high;
    whole place = constant ? first++ : --last;
    wait<ALL>();
    if (threadIdx.x == 0) {
      own.deck[at] = own.deck[place];
      own.deck[place] = (uint)j;
    }
    wait<ALL>();
    if (constant) continue;
    tried++;
    if (found.score > best) {
      best = found.score;
      feature = j;
      cut = cut_of(found.key);
      side = found.high == f.missing ? side_of(found.key) : -1;
    }
  }
  turn.known = first;
  return best;
}

// What a leaf says: the bits of a 32-bit float, the only class, or the line of its distribution.
__device__ __forceinline__ word payload_of(const Forest& f, const Own& own, const Node& n,
                                           double unit, Turn& turn) {
  if (f.classes <= 2) {
    float value = (float)((double)n.pull / (double)n.weight * unit);
    return (word)(uint)__float_as_int(value);
  }
  if (n.pure) return (word)(own.parcels[n.start] & CLASS);
  if (threadIdx.x == 0) {
    own.ranges[2 * turn.lines] = (uint)n.start;
    own.ranges[2 * turn.lines + 1] = (uint)(n.start + n.size);
  }
  return (word)(f.classes + turn.lines++);
}

// Write a leaf, and go on to the node that waits; its rows follow those of the leaf.
template <bool ALL>
__device__ void write_leaf(const Forest& f, const Own& own, const Node& n, double unit,
                           Turn& turn) {
  word payload = payload_of(f, own, n, unit, turn);
  if (threadIdx.x == 0) own.nodes[turn.written] = (LEAF << 41) | payload;
  turn.written++;
  turn.done = turn.waiting == 0;
  if (turn.done) return;
  whole top = --turn.waiting;
  const uint* entry = own.stack + 4 * top;
  turn.start = turn.stop;
  turn.stop = entry[0];
  turn.depth = entry[1];
  turn.known = entry[2];
  if (threadIdx.x == 0) own.nodes[entry[3]] = own.stacked[top] | (word)turn.written;
  wait<ALL>();  // nobody writes to the stack before all have read
}

// Split the node whose turn it is, or make it a leaf.
template <bool ALL>
__device__ __noinline__ void grow_node(const Forest& f, const Own& own, Bench& b, double unit,
                          double& lightest, Turn& turn) {
  whole size = turn.stop - turn.start, feature = -1;
  Node n = {turn.start, size, 0, 0, 0.0, false, size * 32 > f.rows};
  Held held;
  int cut = 0, side = 0;
  sum_up<ALL>(f, own, b, n, held);
  if (turn.written == 0) lightest *= (double)n.weight;
  double best = -1.0;
  if (!(n.pure || size < f.smallest || size < 2 * f.least || turn.depth >= f.deepest))
    best = search<ALL>(f, own, b, n, held, lightest, turn, feature, cut, side);
  if (feature < 0) {
    write_leaf<ALL>(f, own, n, unit, turn);
    return;
  }
  whole left = sort_rows<ALL>(f, own, b, n, feature, cut, side == 1);
  if (side < 0) side = f.medians[feature] <= cut;  // nothing is missing: where the median goes
  turn.done = turn.waiting == f.most_waiting ? 2 : 0;
  if (turn.done) return;
  if (threadIdx.x == 0) {
    own.gains[feature] += best - n.score;
    own.stacked[turn.waiting] = ((word)feature << 41) | ((word)side << 40) | ((word)cut << 32);
    uint* entry = own.stack + 4 * turn.waiting;
    entry[0] = (uint)turn.stop;
    entry[1] = (uint)(turn.depth + 1);
    entry[2] = (uint)turn.known;
    entry[3] = (uint)turn.written;
  }
  wait<ALL>();
  turn.waiting++;
  turn.written++;
  turn.depth++;
  turn.stop = turn.start + left;
}

__device__ Own own_of(const Forest& f, whole tree) {
  whole at = tree * f.room, wide = f.weighted ? at : 0, many = f.classes > 2 ? f.classes : 0;
  return {f.rows_of + at, f.spare_rows + at, f.decks + tree * f.features,
          f.stacks + tree * f.most_waiting * 4, f.ranges + (many ? at : 0), f.own + at, f.heavy + wide,
          f.spare + at, f.spare_heavy + wide, f.totals + tree * many, f.left + tree * many,
          f.by_code + tree * many * CODES, f.stacked + tree * f.most_waiting, f.nodes + 2 * at,
          f.gains + tree * f.features};
}

// Tell all threads what the first warp has come to.
__device__ void publish(Bench& b, Turn& turn) {
  if (threadIdx.x == 0) {
    whole now[8] = {turn.start, turn.stop, turn.depth, turn.known,
                    turn.written, turn.waiting, turn.lines, turn.done};
    for (int k = 0; k < 8; k++) b.published[k] = now[k];
    b.scratch[0] = (whole)turn.state;
  }
  __syncthreads();
  const whole* p = b.published;
  turn = {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], (word)b.scratch[0]};
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(256, 4) grow_forest(const Forest* given, double unit,
                                                                 double share) {
  __shared__ Bench b;
  const Forest& f = *given;
  for (whole tree = blockIdx.x; tree < f.trees; tree += gridDim.x) {
    Own own = own_of(f, tree);
    for (whole j = threadIdx.x; j < f.features; j += blockDim.x) {
      own.deck[j] = (uint)j;
      own.gains[j] = 0.0;
    }
    whole size = take_bag(f, own, b, tree);
    Turn turn = {0, size, 0, 0, 0, 0, 0, 0, f.seeds[tree]};
    double lightest = share;
    while (!turn.done) {
      if (turn.written == 0 || turn.stop - turn.start > SMALL) {
        grow_node<true>(f, own, b, unit, lightest, turn);
        continue;
      }
      if (threadIdx.x < 32)
        do grow_node<false>(f, own, b, unit, lightest, turn);
        while (!turn.done && turn.stop - turn.start <= SMALL);
      publish(b, turn);
    }
    if (threadIdx.x == 0) {
      f.found[3 * tree] = turn.written;
      f.found[3 * tree + 1] = turn.lines;
      f.found[3 * tree + 2] = turn.done == 2;
    }
    __syncthreads();
  }
}

// Write the distributions of impure leaves, a warp for a leaf; ``firsts`` has the first line of
// every tree.
extern "C" __global__ void fill_tables(const Forest* given, const whole* firsts, float* table) {
  const Forest& f = *given;
  int lane = threadIdx.x & 31, warps = blockDim.x >> 5;
  for (whole tree = 0; tree < f.trees; tree++) {
    Own own = own_of(f, tree);
    whole lines = firsts[tree + 1] - firsts[tree];
    for (whole line = (whole)blockIdx.x * warps + (threadIdx.x >> 5); line < lines;
         line += (whole)gridDim.x * warps) {
      whole first = own.ranges[2 * line], last = own.ranges[2 * line + 1];
      for (whole c = lane; c < f.classes; c += 32) {
        whole weight = 0, all = 0;
        for (whole at = first; at < last; at++) {
          whole parcel = own.parcels[at];
          all += parcel >> 16;
          if ((parcel & CLASS) == c) weight += parcel >> 16;
        }
        table[(firsts[tree] + line) * f.classes + c] = (float)((double)weight / (double)all);
      }
    }
  }
}
