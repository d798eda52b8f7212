// Grow the trees of a forest: the twin of native/forest/grow.cpp.
//
// A block grows a tree node by node in the order of the CPU, because every draw of features depends on
// all draws before it. All threads work on each feature of a large node together. In a small node
// each warp searches one feature: those that will be drawn unless one of them is constant. Values
// that depend on the node only are computed by every warp, so that none has to wait. Many blocks
// grow trees at once.
#include "forest_search.cuh"

__device__ __forceinline__ whole count_of(const Forest& f, whole tree, whole row) {
  if (f.counts == nullptr) return 1;
  whole at = tree * f.rows + row;
  return f.count_bytes == 1 ? ((const byte*)f.counts)[at] : ((const uint*)f.counts)[at];
}

// Count the threads before this one that have ``yes``, and all threads that do.
__device__ __forceinline__ void rank_of(bool yes, Bench& b, uint& before, uint& all) {
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  uint votes = __ballot_sync(~0u, yes);
  before = __popc(votes & ((1u << lane) - 1));
  if (lane == 0) b.counts[warp] = __popc(votes);
  __syncthreads();
  all = 0;
  for (int k = 0; k < (int)(blockDim.x >> 5); k++) {
    if (k == warp) before += all;
    all += b.counts[k];
  }
  __syncthreads();
}

// Copy the rows of a bag, with parcels and weights times their counts; return their number.
__device__ whole take_bag(const Forest& f, const Own& own, Bench& b, whole tree) {
  whole taken = 0;
  for (whole base = 0; base < f.rows; base += blockDim.x) {
    whole row = base + threadIdx.x, count = row < f.rows ? count_of(f, tree, row) : 0;
    uint before, all;
    rank_of(count > 0, b, before, all);
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

// Move the rows that go left to the front, keeping their order; return their number.
__device__ whole sort_rows(const Forest& f, const Own& own, Bench& b, const Node& n, whole feature,
                           int cut, bool missing_left) {
  int me = threadIdx.x, step = blockDim.x;
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
    rank_of(goes_left, b, before, all);
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
  __syncthreads();
  if (at_once) return left;
  for (whole k = me; k < right; k += step) {
    whole to = n.start + left + k;
    own.rows[to] = own.spare_rows[n.start + k];
    own.parcels[to] = own.spare[n.start + k];
    if (f.weighted) own.weights[to] = own.spare_weights[n.start + k];
  }
  __syncthreads();
  return left;
}

// The same for rows in the lanes of every warp; the first warp writes.
__device__ whole sort_few(const Forest& f, const Own& own, const Node& n, const Held& held,
                          whole feature, int cut, bool missing_left) {
  int lane = threadIdx.x & 31;
  bool mine = lane < n.size, goes_left = false;
  if (mine) {
    int code = code_at(f, n.dense, feature, held.row);
    goes_left = code <= cut || (missing_left && code == f.missing);
  }
  uint votes = __ballot_sync(~0u, goes_left), before = __popc(votes & ((1u << lane) - 1));
  if (threadIdx.x < 32) {
    whole at = n.start + lane, parcel = mine ? own.parcels[at] : 0;
    whole weight = mine && f.weighted ? own.weights[at] : 0;
    __syncwarp();
    whole to = n.start + (goes_left ? before : __popc(votes) + (lane - before));
    if (mine) {
      own.rows[to] = held.row;
      own.parcels[to] = parcel;
      if (f.weighted) own.weights[to] = weight;
    }
  }
  __syncthreads();
  return __popc(votes);
}

// Sum the rows of a node: by all threads, or by each warp separately.
template <bool ALL>
__device__ void sum_up(const Forest& f, const Own& own, Bench& b, Node& n, Held& held) {
  int me = rank<ALL>(), step = team<ALL>();
  whole weight = 0, pull = 0, other = 0;
  if (f.classes > 2) {
    for (whole c = me; c < f.classes; c += step) own.totals[c] = 0;
    wait<ALL>();
    for (whole i = me; i < n.size; i += step) {
      whole parcel = own.parcels[n.start + i];
      held.row = own.rows[n.start + i];
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

// The state of the search for a split.
struct Search {
  whole drawn, passed, tried, first, last, feature;
  double best;
  int cut, side;
};

__device__ __forceinline__ bool goes_on(const Forest& f, const Search& s) {
  return s.last > s.first && (s.drawn < f.tries || s.tried == 0);
}

// Draw once; false if it is one of the features known to be constant: which one does not matter.
__device__ __forceinline__ bool draw(Search& s, whole known, word& state, whole& at) {
  s.drawn++;
  at = below(state, known - s.passed + s.last - s.first);
  if (at < known - s.passed) {
    s.passed++;
    return false;
  }
  at += s.first - (known - s.passed);
  return true;
}

// Apply the result of a feature; false if it is constant.
__device__ __forceinline__ bool take_in(const Forest& f, const Own& own, Search& s, whole feature,
                                        whole at, double score, uint key, int low, int high) {
  bool constant = low == high;
  whole place = constant ? s.first++ : --s.last;
  if (threadIdx.x == 0) {
    own.deck[at] = own.deck[place];
    own.deck[place] = (uint)feature;
  }
  if (constant) return false;
  s.tried++;
  if (score > s.best) {
    s.best = score;
    s.feature = feature;
    s.cut = cut_of(key);
    s.side = high == f.missing ? side_of(key) : -1;
  }
  return true;
}

// Draw features and find their cuts, one after the other.
__device__ void search_large(const Forest& f, const Own& own, Bench& b, const Node& n,
                             double lightest, double perfect, Turn& turn, Search& s) {
  Held none = {0, 0, 0};
  while (goes_on(f, s) && s.best < perfect) {
    whole at;
    if (!draw(s, turn.known, turn.state, at)) continue;
    whole feature = own.deck[at];
    Found found = look_at<true>(f, own, b, b.strips[0], n, none, feature, lightest, turn.state);
    __syncthreads();
    take_in(f, own, s, feature, at, found.score, found.key, found.low, found.high);
    __syncthreads();
  }
}

// Return the feature that will be drawn after ``which`` others, if none of them is constant and each
// cut at random takes one draw.
__device__ bool foresee(const Forest& f, const Own& own, Search s, whole known, word state,
                        int which, Drawn& drawn) {
  whole from[WARPS], to[WARPS];
  int count = 0;
  while (goes_on(f, s)) {
    whole at;
    if (!draw(s, known, state, at)) continue;
    s.last--;
    s.tried++;
    if (count == which) {
      whole place = at;  // the place of the feature before the others change places
      for (int k = count - 1; k >= 0; k--)
        place = place == from[k] ? to[k] : place == to[k] ? from[k] : place;
      drawn = {true, true, (whole)own.deck[place], at, s.drawn, s.passed, state, 0.0, 0, 0, 0};
      return true;
    }
    from[count] = at;
    to[count++] = s.last;
    if (f.random) below(state, 1);
  }
  return false;
}

// Let every warp search a feature that will probably be drawn; then apply the results in order,
// until one was not expected.
__device__ void search_small(const Forest& f, const Own& own, Bench& b, const Node& n,
                             const Held& held, double lightest, double perfect, Turn& turn,
                             Search& s) {
  int warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  while (goes_on(f, s) && s.best < perfect) {
    Drawn mine;
    mine.there = false;
    if (foresee(f, own, s, turn.known, turn.state, warp, mine)) {
      word state = mine.state;
      Found found = look_at<false>(f, own, b, b.strips[warp], n, held, mine.feature, lightest,
                                   state);
      word expected = mine.state;
      if (f.random) below(expected, 1);
      mine.as_expected = state == expected;
      mine.state = state;
      mine.score = found.score;
      mine.key = found.key;
      mine.low = found.low;
      mine.high = found.high;
    }
    if ((threadIdx.x & 31) == 0) b.drawn[warp] = mine;
    __syncthreads();
    for (int k = 0; k < warps && b.drawn[k].there && s.best < perfect; k++) {
      const Drawn& d = b.drawn[k];
      s.drawn = d.drawn;
      s.passed = d.passed;
      turn.state = d.state;
      bool expected = take_in(f, own, s, d.feature, d.at, d.score, d.key, d.low, d.high);
      if (!expected || !d.as_expected) break;
    }
    bool some = b.drawn[0].there;
    __syncthreads();
    if (!some) {  // only known constants remain to be drawn
      whole at;
      while (goes_on(f, s)) draw(s, turn.known, turn.state, at);
    }
  }
}

// The payload of a leaf: the bits of a 32-bit float, the only class, or the line of its distribution.
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

// Write a leaf, and continue with the node that waits; its rows follow those of the leaf.
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
}

// Put the right part of a node on the stack.
__device__ void let_wait(const Forest& f, const Own& own, const Node& n, const Search& s,
                         const Turn& turn) {
  if (threadIdx.x != 0) return;
  int side = s.side;
  if (side < 0) side = f.medians[s.feature] <= s.cut;  // nothing is missing: the side of the median
  own.gains[s.feature] += s.best - n.score;
  own.stacked[turn.waiting] = ((word)s.feature << 41) | ((word)side << 40) | ((word)s.cut << 32);
  uint* entry = own.stack + 4 * turn.waiting;
  entry[0] = (uint)turn.stop;
  entry[1] = (uint)(turn.depth + 1);
  entry[2] = (uint)turn.known;
  entry[3] = (uint)turn.written;
}

// Split the current node, or make it a leaf.
template <bool LARGE>
__device__ __noinline__ void grow_node(const Forest& f, const Own& own, Bench& b, double unit,
                                       double& lightest, Turn& turn) {
  whole size = turn.stop - turn.start;
  Node n = {turn.start, size, 0, 0, 0.0, false, size * 32 > f.rows};
  Held held = {0, 0, 0};
  sum_up<LARGE>(f, own, b, n, held);
  if (turn.written == 0) lightest *= (double)n.weight;
  Search s = {0, 0, 0, turn.known, f.features, -1, -1.0, 0, 0};
  if (!(n.pure || size < f.smallest || size < 2 * f.least || turn.depth >= f.deepest)) {
    double perfect = __longlong_as_double(0x7FF0000000000000ll);  // no cut exceeds it
    if (f.classes > 0) perfect = (double)(f.classes > 2 ? n.weight : n.pull);
    if (LARGE) search_large(f, own, b, n, lightest, perfect, turn, s);
    else search_small(f, own, b, n, held, lightest, perfect, turn, s);
    turn.known = s.first;
  }
  turn.done = s.feature >= 0 && turn.waiting == f.most_waiting ? 2 : 0;
  if (turn.done) return;
  if (s.feature < 0) {
    write_leaf(f, own, n, unit, turn);
    return;
  }
  let_wait(f, own, n, s, turn);
  bool few = !LARGE && size <= TINY;  // both wait for all threads, and so for the line above
  whole left = few ? sort_few(f, own, n, held, s.feature, s.cut, s.side == 1)
                   : sort_rows(f, own, b, n, s.feature, s.cut, s.side == 1);
  turn.waiting++;
  turn.written++;
  turn.depth++;
  turn.stop = turn.start + left;
}

__device__ Own own_of(const Forest& f, whole tree) {
  whole at = tree * f.room, wide = f.weighted ? at : 0, many = f.classes > 2 ? f.classes : 0;
  return {f.rows_of + at, f.spare_rows + at, f.decks + tree * f.features,
          f.stacks + tree * f.most_waiting * 4, f.ranges + (many ? at : 0), f.own + at, f.heavy + wide,
          f.spare + at, f.spare_heavy + wide, f.totals + tree * WARPS * many,
          f.left + tree * WARPS * many,
          f.by_code + tree * many * CODES, f.stacked + tree * f.most_waiting, f.nodes + 2 * at,
          f.gains + tree * f.features};
}

// Assign every warp separate memory for sums of classes.
__device__ Own own_of_warp(const Forest& f, Own own, Bench& b) {
  int warp = threadIdx.x >> 5;
  bool here = f.classes <= CODES / 2;
  own.totals = here ? b.strips[warp].pulls : own.totals + warp * f.classes;
  own.left = here ? b.strips[warp].pulls + CODES / 2 : own.left + warp * f.classes;
  return own;
}

extern "C" __global__ void __launch_bounds__(256, 4) grow_forest(const Forest* given, double unit,
                                                                 double share) {
  __shared__ Bench b;
  __shared__ Forest f;
  if (threadIdx.x == 0) f = *given;
  __syncthreads();
  for (whole tree = blockIdx.x; tree < f.trees; tree += gridDim.x) {
    Own own = own_of(f, tree);
    double* gains = own.gains;
    if (f.features <= MOST_IN_DECK) own.deck = b.deck;
    if (f.features <= MOST_GAINS) own.gains = b.gains;
    for (whole j = threadIdx.x; j < f.features; j += blockDim.x) {
      own.deck[j] = (uint)j;
      own.gains[j] = 0.0;
    }
    whole size = take_bag(f, own, b, tree);
    Turn turn = {0, size, 0, 0, 0, 0, 0, 0, f.seeds[tree]};
    Own alone = f.classes > 2 ? own_of_warp(f, own, b) : own;
    double lightest = share;
    while (!turn.done) {
      if (turn.stop - turn.start > SMALL) grow_node<true>(f, own, b, unit, lightest, turn);
      else grow_node<false>(f, alone, b, unit, lightest, turn);
    }
    __syncthreads();
    for (whole j = threadIdx.x; j < f.features; j += blockDim.x) gains[j] = own.gains[j];
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
