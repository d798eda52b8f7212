/// The features that may split a leaf: drawn at random, and those that may interact.
#pragma once

#include "tree/layout.h"

namespace pacboost {

/// Allow `count` features, drawn by splitmix64. `deck` has a place for every feature; it is shuffled.
void draw_features(Bytes allowed, Wholes deck, i64 count, u64 seed);

/// Allow the features open to a leaf, or some of them drawn at random.
void draw_open(Bytes allowed, Wholes deck, i64 max_drawn, u64 seed, const Interactions& rules, i64 leaf);

/// Restrict the features open to a leaf after a split, for both parts.
void hand_down(const Interactions& rules, i64 feature, i64 leaf, i64 new_leaf);

}  // namespace pacboost
