// What a tree that is being grown consists of; learners/cuda_growing.py fills it in.
#pragma once
#include "grid.cuh"

// columns of ``features``, ``best`` and ``splits``, and places in ``rules``: kernels/best_split.py
enum { LANE, BASE, BINS, DEFAULT, CATEGORY, MONOTONE, FEATURE_COLUMNS };
enum { FEATURE, CUT, MISSING_LEFT, LEFT, RIGHT, SPLIT_COLUMNS };
enum { CRITERION, PENALTY, LEAST_WEIGHT, LEAST_ROWS, SMOOTH, LEVEL_PENALTY, LEVEL_ROWS };
enum { NEWTON, Z, ERROR };
#define NOISE 1e-12
#define CODES 256

// what ``plan`` holds: see kernels/grow_team.py; besides, the slots whose histograms are still to
// be subtracted from each other, and how many rows have gone left and right
enum { LEAF, NEW, LEAVES, SEARCH, LEFT_COUNTED, REST_OF, COUNTED_IN, PLAN_WORDS };

struct Tree {
  const byte* codes;        // (rows, stride): the codes of a row lie together
  whole stride;
  whole rows;               // of the sample
  whole lanes, features_count, lines, most_leaves, missing, drawn, deepest;
  const whole* features;    // (features, FEATURE_COLUMNS)
  whole* pairs;             // (lines, rows)
  uint* order[2];           // the rows leaf by leaf: a split moves those of a leaf to the other one
  whole* histogram;         // (leaves, lines, lanes, CODES)
  double* rules;
  whole *starts, *sizes, *slots, *sides_of;  // one a leaf; the last: which order holds its rows
  whole *best;              // (leaves, 3)
  byte* members;            // (leaves, CODES)
  double* gains;
  double* spans;            // (leaves, 2)
  whole *hangs, *depths;    // (leaves, 2), (leaves)
  whole* splits;            // (leaves, SPLIT_COLUMNS)
  byte* split_members;      // (leaves, CODES)
  double* split_gains;
  byte* allowed;            // (2, features)
  whole* decks;             // (2, features)
  double* found;            // (2, features): what the sides of the best cut are worth
  whole* found_cut;         // (2, features): the cut times two, plus one if missing values go left
  double* worth;            // (2): what the leaf is worth as it is
  whole* plan;
  uint* placed;             // how many rows have gone left and right
  uint* barrier;
  void* cells;
  whole cell_bytes;
  whole group;              // how many lanes are counted at once
};

__device__ __forceinline__ whole* histogram_of(const Tree& t, whole slot, whole line, whole lane) {
  return t.histogram + ((slot * t.lines + line) * t.lanes + lane) * CODES;
}
