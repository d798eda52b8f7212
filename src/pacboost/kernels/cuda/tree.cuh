// The arrays of a tree that is being grown; kernels/cuda/launches.py fills them in.
#pragma once
#include "core/places.h"
#include "core/worth.h"
#include "grid.cuh"

using namespace pacboost;

#define BATCH 32  // nodes that are split at the same time

// Places in ``plan``. Leaves are numbered in best-first order.
enum { COUNT, LEAVES, SPLITS_MADE, NODES, PENDING, PLAN_WORDS };

// A tree that is being grown has nodes. Those whose turn in best-first order has not come yet may
// be split ahead of it: see ``choose_nodes`` in grow_tree.cu.
struct Tree {
  const byte* codes;        // (rows, stride): the codes of a row are adjacent
  whole stride;
  whole rows;               // of the sample
  whole lanes, features_count, lines, most_leaves, missing, drawn, deepest, most_splits, ahead, monotone;
  const whole* features;    // (features, FEATURE_COLUMNS)
  whole* pairs;             // (lines, rows)
  uint* order[2];           // the rows node by node: a split moves those of a node to the other one
  whole* histogram;         // (most_splits + 1, lines, lanes, CODES)
  double* rules;            // each block has a copy in its memory
  whole *starts, *sizes, *slots, *sides_of, *depths;  // of nodes; sides_of: which order has the rows
  whole *left_of, *right_of, *parents;                // nodes of nodes; 0 for none
  whole *split_of, *leaf_of;                          // the number of a node's split, or of its leaf
  whole* best;              // (nodes, 3)
  byte* members;            // (nodes, CODES)
  double* gains;
  double* spans;            // (nodes, 2)
  whole* node_of;           // (leaves)
  whole* splits;            // (leaves, SPLIT_COLUMNS)
  byte* split_members;      // (leaves, CODES)
  double* split_gains;
  byte* allowed;            // (2, features)
  whole* decks;             // (2, features)
  double* found;            // (2 BATCH, features): the worth of the sides of the best cut
  whole* found_cut;         // (2 BATCH, features): the cut, in which order, and whether missing go left
  double* worth;            // (2 BATCH): the worth of the nodes without a split
  whole* batch;             // (BATCH): the nodes that are split now
  whole* searched;          // (BATCH): whether their parts are searched
  whole* counted_left;      // (BATCH): whether the left part is the one that is counted
  whole* rests;             // (2 BATCH): slots to be subtracted from, and the slots subtracted
  whole* plan;
  uint* placed;             // (2 BATCH): how many rows have gone left and right
  uint* barrier;
  void* cells;
  whole cell_bytes;
  whole group;              // how many lanes are counted at once
  whole shared_words;       // the size of the memory of a block
  byte* orders;             // (features, CODES): the levels of categories in the order of the root
  double* evidence;         // (features): how much these differ there, see src/native/tree/split_general.cpp
  whole* leaf_sums;         // (2, leaves): cleared here, for the kernel ``weigh_again`` of rows.cu
  // if not all features may interact, as in src/native/tree/draw.cpp:
  whole interacting;
  whole set_count;
  whole most_asked;
  double share;
  const byte* sets;         // (sets, features)
  byte* reach;              // (nodes, sets)
  byte* asked;              // (nodes, features)
  byte* open;               // (nodes, features)
  whole* asked_count;       // (nodes): the number of features on the path
};

__device__ __forceinline__ whole* histogram_of(const Tree& t, whole slot, whole line, whole lane) {
  return t.histogram + ((slot * t.lines + line) * t.lanes + lane) * CODES;
}
