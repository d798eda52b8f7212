#include "tree/leaves.h"

#include "tree/pair.h"

namespace pacboost {

i64 next_leaf(Array<const double> gains, i64 leaves) {
    i64 leaf = -1;
    double largest_gain = 0.0;
    for (i64 k = 0; k < leaves; ++k)
        if (gains[k] > largest_gain) leaf = k, largest_gain = gains[k];
    return leaf;
}

void record(Array<const i64, 2> features, const Leaves& leaves, const Splits& splits, i64 leaf, i64 new_leaf) {
    const i64 split = new_leaf - 1;
    Wholes best = leaves.best[leaf];
    for (i64 k = 0; k < 3; ++k) splits.columns(split, k) = best[k];
    splits.columns(split, LEFT) = ~leaf, splits.columns(split, RIGHT) = ~new_leaf;
    splits.gains[split] = leaves.gains[leaf];
    if (features(best[FEATURE], CATEGORY))
        for (i64 k = 0; k < leaves.members.shape[1]; ++k) splits.members(split, k) = leaves.members(leaf, k);
    if (split > 0) splits.columns(leaves.hangs(leaf, 0), leaves.hangs(leaf, 1)) = split;
    leaves.hangs(leaf, 0) = split, leaves.hangs(leaf, 1) = LEFT;
    leaves.hangs(new_leaf, 0) = split, leaves.hangs(new_leaf, 1) = RIGHT;
    leaves.depths[leaf] += 1;
    leaves.depths[new_leaf] = leaves.depths[leaf];
}

void narrow(i64 left_total, i64 right_total, Array<const i64, 2> features, const Leaves& leaves, Spans spans, i64 leaf,
            i64 new_leaf) {
    spans(new_leaf, 0) = spans(leaf, 0), spans(new_leaf, 1) = spans(leaf, 1);
    Wholes best = leaves.best[leaf];
    Feature feature = features[best[FEATURE]];
    const i64 slope = feature[MONOTONE];
    const bool is_for_missing = best[CUT] == feature[BINS] - 1;
    if (slope == 0 || is_for_missing) return;
    double middle = 0.0;
    for (i64 total : {left_total, right_total}) {
        double mean = pull_of(total) / std::max(weight_of(total), 1.0);
        middle += 0.5 * std::min(std::max(mean, spans(leaf, 0)), spans(leaf, 1));
    }
    if (slope > 0)
        spans(leaf, 1) = spans(new_leaf, 0) = middle;
    else
        spans(leaf, 0) = spans(new_leaf, 1) = middle;
}

}  // namespace pacboost
