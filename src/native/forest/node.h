/// The layout of a tree of a forest: one word of 64 bits for each node.
///
/// A node holds its feature (23 bits), whether missing values go left (1), its cut (8), and the place
/// of its right child (32); its left child follows it. A leaf has the largest feature number, and its
/// payload: the bits of a 32-bit float, or with many classes the line of its distribution, where line
/// c < classes stands for a pure leaf of class c.
#pragma once

#include "core/array.h"

namespace pacboost::forest {

constexpr u64 LEAF = (u64(1) << 23) - 1;

INLINE u64 leaf_node(u64 payload) { return LEAF << 41 | payload; }
/// The place of the right child is added once it is known.
INLINE u64 inner_node(i64 feature, i64 cut, i64 side) { return u64(feature) << 41 | u64(side) << 40 | u64(cut) << 32; }

INLINE u64 feature_of(u64 node) { return node >> 41; }
INLINE bool sends_missing_left(u64 node) { return node >> 40 & 1; }
INLINE i64 cut_of(u64 node) { return i64(node >> 32 & 255); }
INLINE u32 payload_of(u64 node) { return u32(node); }

}  // namespace pacboost::forest
