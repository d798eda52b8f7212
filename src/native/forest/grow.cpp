#include "forest/grow.h"

#include <bit>
#include <tuple>

#include "forest/cuts.h"
#include "forest/node.h"

namespace pacboost::forest {
namespace {

/// Nodes that hold less than one in this many rows read codes by row.
constexpr i64 ROWS_PER_ROW_READ = 32;

/// A node that waits until the tree on its left is grown, and the parent that has to learn its place.
struct Waiting {
    i64 start, stop, depth, n_constant, parent;
};

/// A split that was found: the gain's first part, and which line of the desk has the codes. The feature
/// is -1 if there is none; the side -1 if nothing is missing.
struct Split {
    Cut cut{-1, 0, 0};
    i64 feature = -1, line = 0;
};

class Grower {
 public:
    Grower(Array<const u8, 2> columns, Array<const u8, 2> lines, Array<const i64> all_parcels,
           Array<const i64> all_weights, i64 size, const Plan& plan, u64 seed)
        : columns_(columns),
          lines_(lines),
          all_parcels_(all_parcels),
          all_weights_(all_weights),
          desk_(size, columns.shape[0], all_weights.size() > 0, plan, seed) {
        tree_.gains.assign(std::size_t(desk_.n_features), 0.0);
    }

    Tree grow(Array<const i64> counts, double unit, double lightest, Array<const i64> medians) {
        take_bag(counts);
        const Plan& plan = desk_.plan;
        std::vector<Waiting> stack;
        i64 start = 0, stop = desk_.size, depth = 0, n_constant = 0;
        for (;;) {
            i64 size = stop - start, place = i64(tree_.nodes.size());
            auto [unsplit, is_pure] = sum_up(start, size);
            if (place == 0) lightest *= desk_.classes ? desk_.class_weight : double(desk_.node_weight);
            Split split;
            if (!(is_pure || size < plan.smallest || size < 2 * plan.least || depth >= plan.deepest))
                split = search(start, size, n_constant, lightest);
            if (split.feature < 0) {
                tree_.nodes.push_back(leaf_node(write_leaf(unit)));
                if (stack.empty()) break;
                Waiting& next = stack.back();
                start = next.start, stop = next.stop, depth = next.depth, n_constant = next.n_constant;
                tree_.nodes[std::size_t(next.parent)] |= tree_.nodes.size();
                stack.pop_back();
                continue;
            }
            auto [score, cut, side] = split.cut;
            tree_.gains[std::size_t(split.feature)] += score - unsplit;
            i64 middle = start + sort_rows(split.line, start, size, cut, side);
            if (side < 0) side = medians[split.feature] <= cut;  // nothing is missing: where the median goes
            tree_.nodes.push_back(inner_node(split.feature, cut, side));
            stack.push_back({middle, stop, depth + 1, n_constant, place});
            stop = middle, depth += 1;
        }
        tree_.nodes.shrink_to_fit();
        tree_.table.shrink_to_fit();
        return std::move(tree_);
    }

 private:
    /// Copy the rows of a bag, with parcels and weights multiplied by their counts.
    void take_bag(Array<const i64> counts) {
        i64 at = 0;
        for (i64 i = 0; i < counts.size(); ++i) {
            i64 count = counts[i];
            if (count <= 0) continue;
            i64 parcel = all_parcels_[i];
            if (desk_.is_weighted) {
                i64 weight = all_weights_[i] * count;
                desk_.weights[std::size_t(at)] = weight;
                parcel *= weight;
            } else if (desk_.classes) {
                parcel += (parcel >> 16) * (count - 1) << 16;
            } else {
                parcel *= count;
            }
            desk_.rows[std::size_t(at)] = u32(i), desk_.parcels[std::size_t(at)] = parcel;
            at += 1;
        }
    }

    /// Copy the codes of a node's rows side by side; return the smallest and the largest.
    ///
    /// Large nodes read codes by column, in the order of rows; small ones by row, where all features of
    /// a row are in one or two cache lines, which stay cached while the whole subtree is grown. Codes
    /// are copied first: then many loads are under way at once, and the rows of the best feature need
    /// not be read again to be sorted.
    std::pair<i64, i64> fetch(i64 feature, i64 start, i64 size, i64 line) {
        const u32* rows = desk_.rows.get() + start;
        u8* codes = desk_.codes[line].get();
        if (size * ROWS_PER_ROW_READ > columns_.shape[1]) {
            const u8* column = columns_[feature].data;
            for (i64 i = 0; i < size; ++i) codes[i] = column[rows[i]];
        } else {
            const u8* first = lines_.data + feature;
            i64 width = lines_.shape[1];
            for (i64 i = 0; i < size; ++i) codes[i] = first[rows[i] * width];
        }
        u8 low = 255, high = 0;
        for (i64 i = 0; i < size; ++i) {
            low = std::min(low, codes[i]);
            high = std::max(high, codes[i]);
        }
        return {low, high};
    }

    /// Move the rows that go left to the front, keeping their order; return their number.
    ///
    /// Every row is written to both sides, and only one side moves on: no branch to mispredict.
    i64 sort_rows(i64 line, i64 start, i64 size, i64 cut, i64 side) {
        const u8* codes = desk_.codes[line].get();
        u32 *rows = desk_.rows.get() + start, *spare_rows = desk_.spare_rows.get();
        i64 *parcels = desk_.parcels.get() + start, *spare = desk_.spare.get();
        RightSide right(desk_.plan, cut, side);
        i64 l = 0;
        for (i64 i = 0; i < size; ++i) {
            u32 row = rows[i];
            i64 parcel = parcels[i], r = i - l;
            rows[l] = row, parcels[l] = parcel;
            spare_rows[r] = row, spare[r] = parcel;
            l += !right.has(codes[i]);
        }
        std::copy(spare_rows, spare_rows + (size - l), rows + l);
        std::copy(spare, spare + (size - l), parcels + l);
        if (desk_.is_weighted) {
            i64* weights = desk_.weights.get() + start;
            i64 at = 0;
            for (i64 i = 0; i < size; ++i) {
                i64 weight = weights[i];
                weights[at] = weight, spare[i - at] = weight;
                at += !right.has(codes[i]);
            }
            std::copy(spare, spare + (size - l), weights + l);
        }
        return l;
    }

    /// Draw a cut between the smallest and the largest code, and a side for missing values.
    std::pair<i64, i64> random_cut(i64 line, i64 size, i64 low, i64 high) {
        i64 side = 0, missing = desk_.plan.missing;
        if (high == missing) {
            const u8* codes = desk_.codes[line].get();
            high = low;
            for (i64 i = 0; i < size; ++i)
                if (codes[i] < missing) high = std::max(high, i64(codes[i]));
            if (high == low) return {low, side};
            side = below(desk_.state, 2);
        }
        return {low + below(desk_.state, high - low), side};
    }

    /// Sum the rows of a node; return its score without a split, and whether it is pure.
    std::pair<double, bool> sum_up(i64 start, i64 size) {
        const i64* parcels = desk_.parcels.get() + start;
        if (desk_.classes) {
            double* of_node = desk_.of_node.get();
            std::fill(of_node, of_node + desk_.classes, 0.0);
            for (i64 i = 0; i < size; ++i) of_node[class_of(parcels[i])] += weight_of(parcels[i]);
            double weight = 0, square = 0;
            i64 present = 0;
            for (i64 c = 0; c < desk_.classes; ++c) {
                weight += of_node[c];
                square += of_node[c] * of_node[c];
                present += of_node[c] > 0;
            }
            desk_.class_weight = weight, desk_.class_square = square;
            return {square / weight, present == 1};
        }
        i64 w = 0, t = 0;
        bool same = true;
        if (!desk_.is_weighted) {
            for (i64 i = 0; i < size; ++i) w += parcels[i];
            t = w >> 32, w &= LOW;
            same = t * (w - t) == 0;
        } else {
            const i64* weights = desk_.weights.get() + start;
            const u32* rows = desk_.rows.get() + start;
            for (i64 i = 0; i < size; ++i) {
                w += weights[i];
                t += parcels[i];
            }
            for (i64 i = 1; same && i < size; ++i) same = all_parcels_[rows[i]] == all_parcels_[rows[0]];
        }
        desk_.node_weight = w, desk_.node_pull = t;
        return {double(t) * double(t) / double(w), same};
    }

    /// The payload of a leaf; unless it is pure, its distribution is added to the table.
    u64 write_leaf(double unit) {
        i64 classes = desk_.classes;
        if (!classes) return std::bit_cast<u32>(float(double(desk_.node_pull) / double(desk_.node_weight) * unit));
        const double* of_node = desk_.of_node.get();
        double weight = 0;
        i64 only = 0;
        for (i64 c = 0; c < classes; ++c) {
            weight += of_node[c];
            if (of_node[c] > 0) only = c;
        }
        if (of_node[only] == weight) return u64(only);
        u64 line = tree_.table.size() / u64(classes);
        for (i64 c = 0; c < classes; ++c) tree_.table.push_back(float(of_node[c] / weight));
        return u64(classes) + line;
    }

    /// Draw features and find their cuts; the first `n_constant` of the list are constant here, and
    /// more of them after.
    Split search(i64 start, i64 size, i64& n_constant, double lightest) {
        const Plan& plan = desk_.plan;
        i64* features = desk_.features.get();
        Split best;
        i64 line = 0, drawn = 0, passed = 0, tried = 0;
        i64 first = n_constant, last = desk_.n_features;  // features not drawn yet are between
        // the score of two pure sides, which no cut exceeds
        double perfect = std::numeric_limits<double>::infinity();
        if (plan.classes > 0) perfect = desk_.classes ? desk_.class_weight : double(desk_.node_pull);
        while (last > first && (drawn < plan.tries || tried == 0) && best.cut.score < perfect) {
            drawn += 1;
            i64 at = below(desk_.state, n_constant - passed + last - first);
            if (at < n_constant - passed) {
                passed += 1;  // a constant feature; which one does not matter
                continue;
            }
            at += first - (n_constant - passed);
            i64 feature = features[at];
            auto [low, high] = fetch(feature, start, size, line);
            if (low == high) {
                features[at] = features[first], features[first] = feature;
                first += 1;
                continue;
            }
            last -= 1;
            features[at] = features[last], features[last] = feature;
            tried += 1;
            Cut cut{0, low, 0};
            if (plan.random || (high == low + 1 && high < plan.missing)) {
                if (plan.random) std::tie(cut.code, cut.side) = random_cut(line, size, low, high);
                cut.score = score_of_cut(desk_, line, start, size, cut.code, cut.side, lightest);
            } else if (desk_.classes) {
                cut = best_of_classes(desk_, line, start, size, low, high, lightest);
            } else {
                cut = best_of_numbers(desk_, line, start, size, low, high, lightest);
            }
            if (cut.score > best.cut.score) {
                if (high != plan.missing) cut.side = -1;
                best = {cut, feature, line};
                line = 1 - line;
            }
        }
        n_constant = first;
        return best;
    }

    const Array<const u8, 2> columns_, lines_;
    const Array<const i64> all_parcels_, all_weights_;
    Desk desk_;
    Tree tree_;
};

}  // namespace

Tree grow_tree(Array<const u8, 2> columns, Array<const u8, 2> lines, Array<const i64> parcels, Array<const i64> weights,
               Array<const i64> counts, double unit, double lightest, Array<const i64> medians, const Plan& plan,
               u64 seed) {
    i64 size = 0;
    for (i64 count : counts) size += count > 0;
    return Grower(columns, lines, parcels, weights, size, plan, seed).grow(counts, unit, lightest, medians);
}

}  // namespace pacboost::forest
