#include "tree/shap.h"

#include <vector>

namespace pacboost {
namespace {

/// The number of a child as a node.
INLINE i64 node_of(i64 child, i64 splits) { return child >= 0 ? child : splits - 1 - child; }

/// Descends with one row after the other.
class Descent {
 public:
    explicit Descent(const ShapTree& tree)
        : tree_(tree),
          splits_(tree.feature.size()),
          nodes_(tree.before.size()),
          points_(tree.factor.shape[2]),
          outputs_(tree.values.shape[1]),
          on_(std::size_t(nodes_), 1),
          product_(std::size_t(nodes_ * points_), 1.0),
          sums_(std::size_t(nodes_ * outputs_ * points_), 0.0) {}

    void add(Array<const u8, 2> codes, i64 row, Array<double, 2> out) {
        for (i64 i = 0; i < splits_; ++i) {
            bool left = goes_left(i, codes(tree_.feature[i], row));
            go_down(i, tree_.left[i], left);
            go_down(i, tree_.right[i], !left);
        }
        for (i64 i = splits_ - 1; i >= 0; --i) {
            come_up(i, tree_.left[i], out[tree_.feature[i]]);
            come_up(i, tree_.right[i], out[tree_.feature[i]]);
        }
    }

 private:
    bool goes_left(i64 i, i64 code) const {
        i64 subset = tree_.member[i];
        if (subset >= 0) return tree_.members(subset, code) != 0;
        return code == tree_.missing ? tree_.missing_left[i] : code <= tree_.cut[i];
    }

    double* product(i64 node) { return product_.data() + node * points_; }
    double* sums(i64 node, i64 k) { return sums_.data() + (node * outputs_ + k) * points_; }

    void go_down(i64 i, i64 child, bool is_on) {
        i64 node = node_of(child, splits_), first = tree_.before[node];
        i64 on_before = on_[std::size_t(first)], on = is_on ? on_before : 0;
        on_[std::size_t(node)] = u8(on);
        double *here = product(node), *above = product(i);
        const double *old = tree_.inverse(on_before, first).data, *now = tree_.factor(on, node).data;
        for (i64 q = 0; q < points_; ++q) here[q] = above[q] * old[q] * now[q];
        for (i64 k = 0; k < outputs_; ++k) {
            double leaf = child >= 0 ? 0.0 : tree_.values(-1 - child, k);
            double* below = sums(node, k);
            for (i64 q = 0; q < points_; ++q) below[q] = leaf * here[q];
        }
    }

    void come_up(i64 i, i64 child, Floats out) {
        i64 node = node_of(child, splits_), first = tree_.before[node];
        // leaves below count for this edge, and no longer for the feature's edge before
        const double* pull_here = tree_.pull(on_[std::size_t(node)], node).data;
        const double* pull_before = tree_.pull(on_[std::size_t(first)], first).data;
        for (i64 k = 0; k < outputs_; ++k) {
            double *below = sums(node, k), *above = sums(i, k), total = 0.0;
            for (i64 q = 0; q < points_; ++q) {
                total += below[q] * (pull_here[q] - pull_before[q]);
                above[q] += below[q];
            }
            out[k] += total;
        }
    }

    const ShapTree& tree_;
    i64 splits_, nodes_, points_, outputs_;
    std::vector<u8> on_;  // o of the edge's feature
    std::vector<double> product_, sums_;
};

}  // namespace

void shap_edges(Array<const i32> feature, Array<const i32> left, Array<const i32> right, Array<const double> cover,
                Array<i32> parent, Array<i32> before, Array<i32> distinct, Floats share, Floats reach) {
    const i64 splits = feature.size();
    for (i64 i = 0; i < splits; ++i) {
        i64 first = i;
        while (first > 0 && feature[parent[first]] != feature[i]) first = parent[first];
        for (i64 child : {left[i], right[i]}) {
            i64 node = node_of(child, splits), beside = node_of(i64(left[i]) + right[i] - child, splits);
            double total = cover[node] + cover[beside];
            double share_of_edge = total > 0 ? cover[node] / total : 0.5;
            parent[node] = i32(i);
            before[node] = i32(first);
            distinct[node] = distinct[i] + (first == 0);
            share[node] = share[first] * share_of_edge;
            reach[node] = reach[i] * share_of_edge;
        }
    }
}

void add_shap(Array<const u8, 2> codes, i64 start, i64 stop, Array<double, 3> out, const ShapTree& tree) {
    Descent descent(tree);
    for (i64 row = start; row < stop; ++row) descent.add(codes, row, out[row]);
}

}  // namespace pacboost
