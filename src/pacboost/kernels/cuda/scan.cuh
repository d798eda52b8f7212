// The best cut of one feature, found by a warp: the twin of src/native/tree/split_general.cpp.
//
// A thread judges eight successive cuts. The first of equal cuts is chosen, so the order in which
// they are judged does not matter.
#pragma once
#include "tree.cuh"

#define EACH (CODES / 32)

struct Cut {
  double found;
  int way, place;  // whether missing values went left; the last bin on the left, or -1
  bool heavier;    // whether the left side weighs no less than the right one
  int order;       // of a category's levels: see ``look_at`` in grow_tree.cu
};

// The histogram of a feature, for one side of a split: codes of its bins, then missing values.
// ``mine`` is the counted histogram of its lane, ``parent`` (or null) the one it is subtracted from.
struct View {
  const Tree* t;
  const whole* feature;
  whole counted, parent;  // slots; parent is -1 for the counted histogram itself
  __device__ __forceinline__ whole lane_code(whole line, whole code) const {
    whole lane = feature[LANE];
    whole mine = histogram_of(*t, counted, line, lane)[code];
    if (parent < 0) return mine;
    return histogram_of(*t, parent, line, lane)[code] - mine;
  }
  __device__ whole total(whole line) const {  // called by the whole warp
    whole sum = 0;
    for (int code = threadIdx.x & 31; code < CODES; code += 32) sum += lane_code(line, code);
    return add_over_warp(sum);
  }
};

// Write the histogram of a feature, with missing values after the last bin; return its sum. If
// features share a lane, the sum of the default is the total minus all other codes.
__device__ whole open_feature(const View& view, whole line, whole* own) {
  int bins = (int)view.feature[BINS], standard = (int)view.feature[DEFAULT];
  int missing = (int)view.t->missing, first = (int)view.feature[BASE], lane = threadIdx.x & 31;
  whole held[EACH], total = 0, others = 0;
#pragma unroll
  for (int k = 0; k < EACH; k++) held[k] = view.lane_code(line, 32 * k + lane);
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    int code = 32 * k + lane, b = code;
    total += held[k];
    if (standard < 0) {
      if (code < bins) own[b] = held[k];
      if (code == missing) own[bins] = held[k];
    } else {
      b = code - first;
      if (b < 0 || b >= bins - 1) continue;
      own[b + (b >= standard ? 1 : 0)] = held[k];
      others += held[k];
    }
  }
  total = add_over_warp(total);
  if (standard >= 0) {
    others = add_over_warp(others);
    if (lane == 0) {
      own[standard] = total - others;
      own[bins] = 0;
    }
  }
  __syncwarp();
  return total;
}

// Treat levels that weigh less than ``least`` as missing. The first line decides which ones, so it
// is changed last.
__device__ void pool_rare(const Tree& t, whole* own, int bins, double least) {
  for (int s = (int)t.lines - 1; s >= 0; s--) {
    whole* line = own + s * (CODES + 1);
    whole pooled = 0;
    for (int b = threadIdx.x & 31; b < bins; b += 32)
      if (weight_of(own[b]) < least) {
        pooled += line[b];
        line[b] = 0;
      }
    pooled = add_over_warp(pooled);
    if ((threadIdx.x & 31) == 0) line[bins] += pooled;
  }
  __syncwarp();
}

// Order the levels, and missing values among them, by mean pull; ties by code.
__device__ void order_of(const whole* own, int bins, double smooth, double* ratio, short* order) {
  int lane = threadIdx.x & 31;
  for (int b = lane; b <= bins; b += 32) {
    double below = weight_of(own[b]) + smooth;
    ratio[b] = pull_of(own[b]) / (below > 1.0 ? below : 1.0);
  }
  __syncwarp();
  for (int b = lane; b <= bins; b += 32) {
    int rank = 0;
    for (int c = 0; c <= bins; c++)
      rank += ratio[c] < ratio[b] || (ratio[c] == ratio[b] && c < b);
    order[rank] = (short)b;
  }
  __syncwarp();
}

__device__ double chance_of(const whole* own, int bins, double penalty) {
  whole levels = 0;
  for (int b = threadIdx.x & 31; b <= bins; b += 32) levels += own[b] != 0;
  levels = add_over_warp(levels);
  return penalty * (double)(levels > 2 ? levels - 2 : 0);
}

// Return how much levels differ beyond chance: split_general.cpp, ``evidence_of``. Each thread
// computes the whole sum, in the order of the CPU.
__device__ double evidence_of(const Tree& t, const whole* own, int bins, const whole* totals,
                              double chance) {
  int levels = 0;
  for (int b = 0; b <= bins; b++) levels += own[b] != 0;
  if (levels < 3 || chance <= 0.0) return 0.0;
  double between = 0.0, weight = weight_of(totals[0]);
  for (int s = 0; s < t.lines; s++) {
    const whole* line = own + s * (CODES + 1);
    for (int b = 0; b <= bins; b++) {
      if (own[b] == 0) continue;
      double pull = pull_of(line[b]), below = weight_of(own[b]);
      between += pull * pull / (below > 1.0 ? below : 1.0);
    }
    between -= pull_of(totals[s]) * pull_of(totals[s]) / weight;
  }
  double found = between / (chance * (double)(levels - 1));
  return found > 1 + 2 * sqrt(2.0 / levels) ? found : 0.0;
}

// Keep the better of two cuts, the first of equals.
__device__ __forceinline__ void keep_better(Cut& a, const Cut& b) {
  bool first = b.way < a.way || (b.way == a.way && b.place < a.place);
  if (b.place >= 0 && (a.place < 0 || b.found > a.found || (b.found == a.found && first))) a = b;
}

__device__ Cut best_of_warp(Cut mine) {
  for (int step = 16; step > 0; step >>= 1) {
    Cut other = mine;
    other.found = __shfl_xor_sync(~0u, mine.found, step);
    other.way = __shfl_xor_sync(~0u, mine.way, step);
    other.place = __shfl_xor_sync(~0u, mine.place, step);
    other.heavier = __shfl_xor_sync(~0u, (int)mine.heavier, step);
    keep_better(mine, other);
  }
  return mine;
}

// The parameters of the search for a cut of one feature.
struct Question {
  int criterion, slope, bins, category;
  double penalty, least, wanted, chance, low_end, high_end;
  bool quick;
};

// Search all cuts of a feature with the histogram ``own``; ``order`` is null for numbers. Return the
// best one that is worth more than ``wanted``, or place -1.
__device__ Cut scan_feature(const Tree& t, const whole* own, const short* order,
                            const whole* totals, const Question& ask) {
  int lane = threadIdx.x & 31;
  bool absent = !ask.category && own[ask.bins] != 0;
  int places = ask.bins + (ask.category ? 1 : 0);
  double weight = weight_of(totals[0]);
  Cut best = {0.0, 0, -1, false, 0};
  for (int way = 0; way < (absent ? 2 : 1); way++) {
    int last = absent && way == 0 ? places : places - 1;
    double lows[EACH], highs[EACH];  // Σ pull² of both sides, over all lines
    whole first_below[EACH];
    for (int s = 0; s < t.lines; s++) {
      const whole* line = own + s * (CODES + 1);
      whole here[EACH], sum = 0;
      for (int k = 0; k < EACH; k++) {
        int place = lane * EACH + k;
        here[k] = place < last ? line[order ? order[place] : place] : 0;
        sum += here[k];
      }
      whole below = add_up_to(sum) - sum + (way == 1 ? line[ask.bins] : 0);
      for (int k = 0; k < EACH; k++) {
        below += here[k];
        if (s == 0) {
          first_below[k] = below;
          lows[k] = highs[k] = 0.0;
        }
        if (t.lines > 1) {
          double low = pull_of(below), high = pull_of(totals[s] - below);
          lows[k] += low * low;
          highs[k] += high * high;
        }
      }
    }
    for (int k = 0; k < EACH; k++) {
      int place = lane * EACH + k;
      if (place >= last) break;
      double left = weight_of(first_below[k]), right = weight - left;
      if (!(left >= ask.least && right >= ask.least)) continue;
      double low = pull_of(first_below[k]), found;
      if (ask.quick) {
        double high = pull_of(totals[0]) - low;
        double a = left + ask.penalty, c = right + ask.penalty;
        found = (low * low * c + high * high * a) / (a * c);
      } else if (t.lines > 1) {
        found = lows[k] / (left + ask.penalty) + highs[k] / (right + ask.penalty);
      } else {
        double high = pull_of(totals[0] - first_below[k]);
        found = worth_of_one(ask.criterion, low, left, ask.penalty) +
                worth_of_one(ask.criterion, high, right, ask.penalty);
        if (!ask.category && own[place] == 0) continue;  // the same sides as with the cut before
        if (ask.slope != 0 && place < ask.bins - 1) {
          double a = fmin(fmax(low / left, ask.low_end), ask.high_end);
          double c = fmin(fmax(high / right, ask.low_end), ask.high_end);
          if ((c - a) * ask.slope < 0) continue;
        }
      }
      if (!ask.quick) found -= ask.chance;
      if (found > ask.wanted) keep_better(best, Cut{found, way, place, left >= right, 0});
    }
  }
  return best_of_warp(best);
}
