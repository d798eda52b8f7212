#include "sparse/grow.h"

#include <memory>
#include <vector>

#include "tree/draw.h"
#include "tree/leaves.h"
#include "tree/route.h"
#include "tree/split_general.h"

namespace pacboost {
namespace {

/// Listed rows and their codes.
struct Lists {
    explicit Lists(i64 size)
        : rows(std::make_unique_for_overwrite<i32[]>(std::size_t(size))),
          codes(std::make_unique_for_overwrite<u8[]>(std::size_t(size))) {}
    std::unique_ptr<i32[]> rows;
    std::unique_ptr<u8[]> codes;
};

/// The listed rows of a leaf and their codes, column by column, for some of the columns.
struct Runs {
    struct Run {
        i64 column, begin, end;
    };
    std::vector<Run> runs;
    /// The starts of the runs if they were concatenated, and the end of the last one.
    std::vector<i64> starts{0};
    /// Shared by the leaves of a subtree, each of which has its parts.
    std::shared_ptr<Lists> lists;

    void add(i64 column, i64 begin, i64 end) {
        runs.push_back({column, begin, end});
        starts.push_back(starts.back() + end - begin);
    }
    Span share(const Member& member) const { return share_of_lists({starts.data(), {i64(starts.size())}}, member); }
    const Run& operator[](i64 k) const { return runs[std::size_t(k)]; }
};

/// What a member has found, in cache lines of its own.
struct alignas(128) Found {
    double after;
    i64 feature, cut, missing_left;
};

/// The work space of a member.
struct Scratch {
    explicit Scratch(i64 lines) : memory(std::size_t(lines * CODES)), histogram{memory.data(), {lines, CODES}} {}
    std::vector<i64> memory;
    Array<i64, 2> histogram;
    i64 sums[CODES];
    alignas(64) double worth[CODES];
    std::optional<CutRoom> room;
    std::vector<i32> rows;
    std::vector<u8> codes;
};

/// Do what only one member may do, once all are there.
template <class Work>
void by_one(const Member& member, const Work& work) {
    if (!last_to_arrive(member)) return;
    work();
    release(member);
}

/// Grows a tree; all members of a team call `grow`.
class SparseGrower {
 public:
    SparseGrower(const SparseTree& tree, const SparseLimits& limits, const std::optional<Spans>& spans,
                 const std::optional<Interactions>& interactions)
        : tree_(tree),
          limits_(limits),
          spans_(spans),
          interactions_(interactions),
          leaves_(tree.leaves),
          lines_(tree.pairs.shape[0]),
          n_features_(tree.features.shape[0]),
          max_leaves_(tree.leaves.gains.size()),
          goes_left_(std::size_t(tree.pairs.shape[1])),
          allowed_(std::size_t(n_features_), 1),
          deck_(std::size_t(n_features_)),
          parts_(std::size_t(max_leaves_)),
          totals_(std::size_t(max_leaves_ * lines_)) {}

    void grow(const Member& member) {
        Scratch own(lines_);
        by_one(member, [&] { begin(member); });
        search(member, own, 0, limits_.key);
        for (;;) {
            look_for_interrupt(member);
            by_one(member, [&] { split_next(member); });
            if (leaf_ < 0) return;
            if (!is_searched_) continue;
            divide(member, own);
            by_one(member, [&] { inherit(); });
            search(member, own, leaf_, limits_.key + u64(2 * new_leaf_));
            search(member, own, new_leaf_, limits_.key + u64(2 * new_leaf_ + 1));
        }
    }

    /// The number of leaves.
    i64 count = 1;

 private:
    /// The state of a leaf that is not in `Leaves`.
    struct Part {
        Runs runs;
        i64 heaviest = 0;
        /// The length from which on runs are not dropped.
        i64 shortest = 0;
    };

    Part& part(i64 leaf) { return parts_[std::size_t(leaf)]; }
    Wholes totals(i64 leaf) { return {totals_.data() + leaf * lines_, {lines_}}; }
    Rows rows_of(i64 leaf) {
        i64 start = leaves_.starts[leaf];
        return tree_.order.slice(start, start + leaves_.sizes[leaf]);
    }

    void begin(const Member& member) {
        found_.resize(std::size_t(member.team));
        weigh(0);
        part(0).shortest = leaves_.sizes[0] + 1;  // nothing is listed yet
    }

    /// Sum the pairs of a leaf's rows, and find the heaviest of them.
    void weigh(i64 leaf) {
        Wholes total = totals(leaf);
        Rows rows = rows_of(leaf);
        for (i64 s = 0; s < lines_; ++s) {
            Array<const i64> pairs = tree_.pairs[s];
            total[s] = 0;
            for (u32 row : rows) total[s] += pairs[row];
        }
        i64 heaviest = 0;
        for (u32 row : rows) heaviest = std::max(heaviest, tree_.pairs(0, row) & LOW);
        part(leaf).heaviest = heaviest;
    }

    /// Split the leaf that gains most, if any; the parts are searched if they may be split, too.
    void split_next(const Member& member) {
        new_leaf_ = count;
        leaf_ = count < max_leaves_ && member.board->stop.load() == 0 ? next_leaf(leaves_.gains, count) : -1;
        if (leaf_ < 0) return;
        count += 1;
        record(tree_.features, leaves_, tree_.splits, leaf_, new_leaf_);
        if (interactions_) hand_down(*interactions_, leaves_.best(leaf_, FEATURE), leaf_, new_leaf_);
        choose_sides();
        sort_rows();
        is_searched_ = count < max_leaves_ && leaves_.depths[leaf_] < limits_.deepest;
        if (is_searched_)
            middles_.resize(part(leaf_).runs.runs.size());
        else
            leaves_.gains[leaf_] = leaves_.gains[new_leaf_] = 0.0;
    }

    void choose_sides() {
        Wholes best = leaves_.best[leaf_];
        const i64 feature = best[FEATURE], cut = best[CUT];
        const u8 standard = tree_.columns.defaults[feature] <= cut;
        for (u32 row : rows_of(leaf_)) goes_left_[row] = standard;
        const Runs& runs = part(leaf_).runs;
        auto [column, begin, end] =
            *std::lower_bound(runs.runs.begin(), runs.runs.end(), feature,
                              [](const Runs::Run& run, i64 value) { return run.column < value; });
        for (i64 k = begin; k < end; ++k) {
            i64 code = runs.lists->codes[std::size_t(k)];
            bool to_left = code == tree_.missing ? best[MISSING_LEFT] != 0 : code <= cut;
            goes_left_[std::size_t(runs.lists->rows[std::size_t(k)])] = to_left;
        }
    }

    /// Sort the rows of the leaf by side, keeping their order.
    void sort_rows() {
        Rows rows = rows_of(leaf_);
        spare_.resize(std::size_t(rows.size()));
        i64 n_left = 0, n_right = 0;
        for (i64 k = 0; k < rows.size(); ++k) {
            u32 row = rows[k];
            i64 to_left = goes_left_[row];
            rows[n_left] = row, spare_[std::size_t(n_right)] = row;
            n_left += to_left, n_right += 1 - to_left;
        }
        std::copy_n(spare_.begin(), n_right, rows.data + n_left);
        leaves_.starts[new_leaf_] = leaves_.starts[leaf_] + n_left;
        leaves_.sizes[leaf_] = n_left, leaves_.sizes[new_leaf_] = n_right;
        weigh(leaf_);
        weigh(new_leaf_);
    }

    /// Sort every run of the leaf by side, keeping the order; write where its right part begins.
    void divide(const Member& member, Scratch& own) {
        const Runs& runs = part(leaf_).runs;
        const u8* goes_left = goes_left_.data();
        auto [first, last] = runs.share(member);
        for (i64 k = first; k < last; ++k) {
            auto [column, begin, end] = runs[k];
            const std::size_t size = std::size_t(end - begin);
            if (own.rows.size() < size) own.rows.resize(size), own.codes.resize(size);
            i32 *rows = runs.lists->rows.get() + begin, *spare_rows = own.rows.data();
            u8 *codes = runs.lists->codes.get() + begin, *spare_codes = own.codes.data();
            std::size_t n_left = 0, n_right = 0;
            for (std::size_t i = 0; i < size; ++i) {
                i32 row = rows[i];
                u8 code = codes[i];
                std::size_t to_left = goes_left[row];
                rows[n_left] = row, codes[n_left] = code;
                spare_rows[n_right] = row, spare_codes[n_right] = code;
                n_left += to_left;
                n_right += 1 - to_left;
            }
            std::copy_n(spare_rows, n_right, rows + n_left);
            std::copy_n(spare_codes, n_right, codes + n_left);
            middles_[std::size_t(k)] = begin + i64(n_left);
        }
    }

    /// Give the parts of a leaf their parts of its runs, and their spans.
    void inherit() {
        const i64 shortest = part(leaf_).shortest;
        const Runs runs = std::move(part(leaf_).runs);
        for (i64 side : {leaf_, new_leaf_}) {
            part(side).shortest = shortest;
            part(side).runs = {};
            part(side).runs.lists = runs.lists;
        }
        for (std::size_t k = 0; k < runs.runs.size(); ++k) {
            auto [column, begin, end] = runs.runs[k];
            const i64 middle = middles_[k];
            if (middle >= begin + shortest) part(leaf_).runs.add(column, begin, middle);
            if (end >= middle + shortest) part(new_leaf_).runs.add(column, middle, end);
        }
        if (spans_) narrow(totals(leaf_)[0], totals(new_leaf_)[0], tree_.features, leaves_, *spans_, leaf_, new_leaf_);
    }

    /// Find the best split of a leaf.
    void search(const Member& member, Scratch& own, i64 leaf, u64 key) {
        by_one(member, [&] { prepare(leaf, key); });
        if (!is_heavy_enough_) return;
        if (min_rows_ < part(leaf).shortest) list(member, leaf);
        scan_columns(member, own, leaf);
        by_one(member, [&] { take_best(leaf); });
    }

    void prepare(i64 leaf, u64 key) {
        leaves_.gains[leaf] = 0.0;
        const double weight = weight_of(totals(leaf)[0]);
        min_weight_ = min_weight_of(tree_.rules, weight, leaves_.sizes[leaf]);
        is_heavy_enough_ = !(weight < 2 * min_weight_);
        if (!is_heavy_enough_) return;
        // rounding does no harm
        min_rows_ = i64(std::ceil(min_weight_ / double(part(leaf).heaviest) * (1 - 1e-9)));
        Bytes allowed{allowed_.data(), {n_features_}};
        Wholes deck{deck_.data(), {n_features_}};
        if (interactions_)
            draw_open(allowed, deck, limits_.drawn, key, *interactions_, leaf);
        else
            draw_features(allowed, deck, limits_.drawn, key);
        pulls_.resize(std::size_t(lines_));
        for (i64 s = 0; s < lines_; ++s) pulls_[std::size_t(s)] = pull_of(totals(leaf)[s]);
        before_ = worth(i64(tree_.rules[CRITERION]), {pulls_.data(), {lines_}}, weight, tree_.rules[PENALTY]);
        min_worth_ = before_ + NOISE * std::fabs(before_);
    }

    /// List the rows of a leaf anew, for all columns that have at least half of `min_rows_` of them.
    void list(const Member& member, i64 leaf) {
        const SparseColumns<u8>& columns = tree_.columns;
        Rows rows = rows_of(leaf);
        const bool has_all = rows.size() == i64(goes_left_.size());
        by_one(member, [&] {
            sizes_.resize(std::size_t(n_features_));
            if (has_all) return;
            std::fill(goes_left_.begin(), goes_left_.end(), 0);
            for (u32 row : rows) goes_left_[row] = 1;
        });
        const u8* is_inside = goes_left_.data();
        auto [first, last] = share_of_lists(columns.starts, member);
        for (i64 j = first; j < last; ++j) {
            const i64 begin = columns.starts[j], end = columns.starts[j + 1];
            i64 size = has_all ? end - begin : 0;
            if (!has_all)
                for (i64 k = begin; k < end; ++k) size += is_inside[columns.rows[k]];
            sizes_[std::size_t(j)] = size;
        }
        by_one(member, [&] {
            Part& own = part(leaf);
            own.shortest = std::max<i64>(1, min_rows_ / 2);
            own.runs = {};
            for (i64 j = 0; j < n_features_; ++j)
                if (i64 size = sizes_[std::size_t(j)], at = own.runs.starts.back(); size >= own.shortest)
                    own.runs.add(j, at, at + size);
            own.runs.lists = std::make_shared<Lists>(own.runs.starts.back());
        });
        const Runs& runs = part(leaf).runs;
        auto [first_run, last_run] = runs.share(member);
        for (i64 r = first_run; r < last_run; ++r) {
            auto [j, at, stop] = runs[r];
            i32* to_rows = runs.lists->rows.get();
            u8* to_codes = runs.lists->codes.get();
            for (i64 k = columns.starts[j]; at < stop; ++k) {
                const i32 row = columns.rows[k];
                to_rows[at] = row, to_codes[at] = columns.codes[k];
                at += has_all ? 1 : is_inside[row];
            }
        }
        meet(member);
    }

    /// Scan some columns of a leaf for the best split.
    void scan_columns(const Member& member, Scratch& own, i64 leaf) {
        const Part& part = this->part(leaf);
        Wholes total = totals(leaf);
        const double min_weight = min_weight_;
        const i64 missing = tree_.missing;
        const bool is_quick = lines_ == 1 && i64(tree_.rules[CRITERION]) == NEWTON;
        const Leaf quick_leaf{total[0], tree_.rules[PENALTY], min_weight, array_on(own.sums), array_on(own.worth)};
        Found found{min_worth_, 0, 0, 0};
        auto [first, last] = part.runs.share(member);
        for (i64 k = first; k < last; ++k) {
            auto [j, begin, end] = part.runs[k];
            // one side of any split holds no row with the default, so only listed rows
            if (!allowed_[std::size_t(j)] || double((end - begin) * part.heaviest) < min_weight) continue;
            Feature feature = tree_.features[j];
            const i64 bins = feature[BINS], standard = tree_.columns.defaults[j];
            Array<const i32> rows{part.runs.lists->rows.get() + begin, {end - begin}};
            const u8* codes = part.runs.lists->codes.get() + begin;
            Wholes histogram = own.histogram[0];
            count_column(rows, codes, tree_.pairs[0], total[0], standard, bins, missing, histogram);
            if (weight_of(total[0] - histogram[standard]) < min_weight) continue;
            Cut cut;
            if (is_quick && feature[MONOTONE] == 0) {
                cut = scan_quickly(histogram.slice(0, bins), histogram[bins], quick_leaf, found.after);
            } else {
                for (i64 s = 1; s < lines_; ++s)
                    count_column(rows, codes, tree_.pairs[s], total[s], standard, bins, missing, own.histogram[s]);
                if (!own.room) own.room.emplace(lines_);
                const NodeTotals node{total, tree_.rules, (*spans_)[leaf], min_weight, 0.0};
                cut = scan_feature(node, own.histogram, feature, {}, found.after, 0.0, *own.room);
            }
            if (cut.cut >= 0) found = {cut.worth, j, cut.cut, cut.missing_left};
        }
        found_[std::size_t(member.number)] = found;
    }

    /// Set the best split that a member has found, the first of equals.
    void take_best(i64 leaf) {
        const Found* best = &found_[0];
        for (const Found& found : found_)
            if (found.after > best->after) best = &found;
        if (!(best->after > min_worth_)) return;
        leaves_.gains[leaf] = best->after - before_;
        leaves_.best(leaf, FEATURE) = best->feature, leaves_.best(leaf, CUT) = best->cut;
        leaves_.best(leaf, MISSING_LEFT) = best->missing_left;
    }

    const SparseTree& tree_;
    const SparseLimits limits_;
    const std::optional<Spans> spans_;
    const std::optional<Interactions> interactions_;
    const Leaves& leaves_;
    const i64 lines_, n_features_, max_leaves_;
    /// For each row of the leaf that is split; or whether it is in the leaf that is listed.
    std::vector<u8> goes_left_;
    std::vector<u8> allowed_;
    std::vector<i64> deck_;
    std::vector<Part> parts_;
    /// The sum of the pairs of each leaf, for each line.
    std::vector<i64> totals_;
    std::vector<u32> spare_;
    /// Of the leaf that is split: where the right part of each run begins.
    std::vector<i64> middles_;
    /// Of the leaf that is listed: how many of its rows each column lists.
    std::vector<i64> sizes_;
    std::vector<Found> found_;

    i64 leaf_ = 0, new_leaf_ = 0;
    bool is_searched_ = false;
    /// Of the leaf that is searched: the limits of its splits, and what it is worth unsplit.
    bool is_heavy_enough_ = false;
    double min_weight_ = 0, before_ = 0, min_worth_ = 0;
    i64 min_rows_ = 0;
    std::vector<double> pulls_;
};

}  // namespace

template <class Cell>
i64 grow_sparse_tree(i64 team, const SparseTree& tree, const SparseLimits& limits, const std::optional<Spans>& spans,
                     const std::optional<Interactions>& interactions, Array<Cell> cells, bool (*poll)()) {
    SparseGrower grower(tree, limits, spans, interactions);
    run_team(
        team,
        [&](const Member& member) {
            grower.grow(member);
            auto [first, last] = own_share(cells.size(), member);
            label<Cell>(tree.order, tree.leaves.starts.slice(0, grower.count), tree.leaves.sizes.slice(0, grower.count),
                        first, last, cells);
        },
        poll);
    return grower.count;
}

template i64 grow_sparse_tree(i64, const SparseTree&, const SparseLimits&, const std::optional<Spans>&,
                              const std::optional<Interactions>&, Array<u8>, bool (*)());
template i64 grow_sparse_tree(i64, const SparseTree&, const SparseLimits&, const std::optional<Spans>&,
                              const std::optional<Interactions>&, Array<u16>, bool (*)());

}  // namespace pacboost
