#include "rounds/rounds.h"

#include <vector>

#include "rounds/draws.h"
#include "rounds/weights.h"
#include "tree/pair.h"
#include "tree/route.h"

namespace pacboost {
namespace {

template <class T>
Array<T> array_of(std::vector<T>& numbers) {
    return {numbers.data(), {i64(numbers.size())}};
}

/// Numbers as a column of a matrix.
template <class T>
Array<T, 2> column(Array<T> numbers) {
    return {numbers.data, {numbers.size(), 1}};
}

/// Sum numbers, and overwrite them, in the order of `total` in numerics/same_bits.py.
double total_of(Floats numbers) {
    for (i64 size = numbers.size(); size > 1;) {
        const i64 half = (size + 1) / 2;
        for (i64 k = 0; k < size - half; ++k) numbers[k] += numbers[half + k];
        size = half;
    }
    return numbers[0];
}

/// Validation rows, with room for their margins or squared residuals.
class Validation {
 public:
    Validation(const Watched& watched, i64 rows_per_sum)
        : watched_(watched),
          rows_per_sum_(rows_per_sum),
          numbers_(std::size_t(watched.scores.size())),
          sums_(std::size_t((watched.scores.size() + rows_per_sum - 1) / rows_per_sum)) {}

    /// Add the tree to the scores.
    void add(const Member& member, const GrowingTree& tree, Floats values) {
        const bool is_class = watched_.targets.size() == 0;
        Floats numbers = array_of(numbers_);
        auto [first, last] = own_share(watched_.scores.size(), member);
        for (i64 row = first; row < last; ++row) {
            i64 at = tree.plan[LEAVES] == 1 ? -1 : 0;
            while (at >= 0) {
                Array<const i64> split = tree.splits.columns[at];
                const i64 code = watched_.codes(split[FEATURE], row);
                const Feature feature = tree.codes.features[split[FEATURE]];
                const bool goes_left = is_left(code, feature, split, tree.splits.members[at], tree.codes.missing);
                at = goes_left ? split[LEFT] : split[RIGHT];
            }
            watched_.scores[row] += values[~at];
            const double score = watched_.scores[row];
            numbers[row] = is_class ? watched_.signs[row] * score
                                    : (watched_.targets[row] - score) * (watched_.targets[row] - score);
        }
    }

    /// Sum the costs of classes, span by span, after all members have added the tree.
    void measure(const Member& member) {
        if (watched_.targets.size() == 0) log_costs(member, array_of(numbers_), rows_per_sum_, array_of(sums_));
    }

    /// Note the mean cost, and return whether rounds go on; for one member, after `measure`.
    bool goes_on(double& cost) {
        const double sum = total_of(array_of(watched_.targets.size() == 0 ? sums_ : numbers_));
        cost = sum / double(watched_.scores.size());
        watched_.rounds += 1;
        if (cost < watched_.best) watched_.best = cost, watched_.best_round = watched_.rounds;
        const i64 without_progress = watched_.rounds - watched_.best_round;
        const bool is_patience_spent =
            0 <= watched_.patience && watched_.patience <= without_progress && watched_.rounds >= watched_.least;
        return !is_patience_spent && std::isfinite(cost);
    }

 private:
    Watched watched_;
    i64 rows_per_sum_;
    std::vector<double> numbers_, sums_;
};

template <class Cell>
class Batch {
 public:
    Batch(i64 team, const TreeArrays<Cell>& tree, const std::optional<Spans>& spans, const RoundRows& rows,
          const RoundSettings& settings, const RoundInputs& inputs, const Progress& start, const Records& records,
          const std::optional<Watched>& watched)
        : tree_(tree),
          spans_(spans),
          rows_(rows),
          settings_(settings),
          inputs_(inputs),
          records_(records),
          now_(start),
          room_for_leaves_(tree.leaves.gains.size() + LINE),
          parts_(std::size_t(2 * team * room_for_leaves_)),
          values_(std::size_t(tree.leaves.gains.size())),
          totals_(std::size_t(2 * team)),
          wrong_(std::size_t(team)),
          largest_(std::size_t(team)),
          pull_sums_(std::size_t(team)) {
        if (watched) validation_.emplace(*watched, settings.rows_per_sum);
    }

    void run(const Member& member) {
        do {
            begin(member);
            meet(member);
            if (settings_.level_penalty >= 0) {
                if (member.number == 0) weigh_levels();
                meet(member);
            }
            grow_tree(member, tree_, spans_);
            meet(member);
            sum_cells(member);
            meet(member);
            if (member.number == 0) give_values();
            meet(member);
            follow(member);
            if (validation_) validation_->add(member, tree_, array_of(values_));
            meet(member);
            if (settings_.is_measured) measure(member);
            if (validation_) validation_->measure(member);
            meet(member);
            if (member.number == 0) finish(member.team);
            meet(member);
        } while (goes_on_);
    }

    const Progress& progress() const { return now_; }

 private:
    bool is_class() const { return rows_.targets.size() == 0; }
    i64 round() const { return now_.rounds; }
    Array<i64, 4> parts() { return {parts_.data(), {i64(wrong_.size()), 2, room_for_leaves_, 1}}; }
    Array<i64, 2> totals() { return {totals_.data(), {i64(wrong_.size()), 2}}; }
    double weight_scale() const { return settings_.max_sum / double(std::max<i64>(1, now_.weight)); }

    /// Pair pulls and weights, draw the rows of a round, and prepare its tree.
    void begin(const Member& member) {
        const double pull_scale = settings_.max_sum / double(std::max<i64>(1, now_.pull));
        auto [a, b] = own_share(rows_.weights.size(), member);
        pairs_of_one(rows_.weights.data + a, rows_.pulls.data + a, false, pull_scale, weight_scale(),
                     tree_.pairs.data + a, b - a);
        const i64 key = inputs_.keys[round()];
        if (tree_.chosen.size() > 0) draw_share(member, key, rows_.weights.size(), tree_.chosen);
        std::fill_n(parts()[member.number].data, 2 * room_for_leaves_, 0);
        if (member.number > 0) return;
        tree_.limits[KEY] = key;
        tree_.rules[PENALTY] = settings_.l2 * weight_scale();
        const Leaves& leaves = tree_.leaves;
        leaves.starts[0] = leaves.slots[0] = leaves.depths[0] = 0;
        leaves.sizes[0] = tree_.rows.size();
    }

    /// Set the gain of a level by chance: see `_gain_by_chance` of learners/growing.py.
    void weigh_levels() {
        i64 squares = 0, weight = 0;
        for (i64 pair : tree_.pairs[0]) {
            const i64 pull = pair >> 32;
            squares += pull * pull;
            weight += pair & LOW;
        }
        tree_.rules[CHANCE] = double(squares) / std::max(double(weight), 1.0);
        tree_.rules[LEVEL_PENALTY] = settings_.level_penalty * tree_.rules[CHANCE];
    }

    void sum_cells(const Member& member) {
        cell_sums(member, tree_.cells, column<const i64>(rows_.weights), column<const i64>(rows_.pulls), false,
                  settings_.rows_per_sum, parts(), records_.squares[round()]);
    }

    /// Set each leaf to the step for its rows, and record the tree.
    ///
    /// If the tree has no edge, its values are 0, so that no score changes; the round is not counted.
    void give_values() {
        const i64 t = round(), leaves = tree_.plan[LEAVES], splits = leaves - 1;
        i64 edge = 0;
        bool is_moved = false;
        Floats cover = records_.cover[t];
        for (i64 leaf = 0; leaf < leaves; ++leaf) {
            i64 pull = 0, weight = 0;
            for (i64 k = 0; k < i64(wrong_.size()); ++k) {
                pull += parts()(k, 0, leaf, 0);
                weight += parts()(k, 1, leaf, 0);
            }
            const double below = double(weight) + settings_.l2;
            double mean = below > 0 ? double(pull) / below : 0.0;
            mean = std::min(std::max(mean, -settings_.max_step), settings_.max_step);
            const double step = inputs_.rates[t] * (mean / now_.scale);
            const double value = std::nearbyint(step / settings_.unit) * settings_.unit;
            values_[std::size_t(leaf)] = records_.values(t, leaf) = value;
            cover[splits + leaf] = double(weight);
            edge += value > 0 ? pull : value < 0 ? -pull : 0;
            is_moved = is_moved || value != 0;
        }
        for (i64 split = splits - 1; split >= 0; --split) {
            Wholes columns = tree_.splits.columns[split];
            for (i64 k = 0; k < 5; ++k) records_.splits(t, k, split) = i32(columns[k]);
            records_.gains(t, split) = tree_.splits.gains[split];
            if (records_.members.shape[1] > 0)
                std::copy_n(tree_.splits.members[split].data, CODES, records_.members(t, split).data);
            const i64 a = columns[LEFT], b = columns[RIGHT];
            cover[split] = cover[a >= 0 ? a : splits + ~a] + cover[b >= 0 ? b : splits + ~b];
        }
        records_.edges[t] = double(edge) / double(std::max<i64>(1, now_.pull));
        records_.leaves[t] = leaves;
        records_.weights[t] = now_.weight;
        records_.pulls[t] = now_.pull;
        if (!(is_moved && records_.edges[t] > settings_.min_edge)) {
            has_edge_ = false;
            std::fill(values_.begin(), values_.end(), 0.0);
        }
    }

    /// Move the scores, and set the weights and pulls that follow from them.
    void follow(const Member& member) {
        const Array<const double> values = array_of(values_);
        if (is_class()) {
            logistic(member, tree_.cells, values, rows_.signs, rows_.base, settings_.max_target, rows_.scores,
                     rows_.weights, rows_.pulls, totals());
            mistakes(member, rows_.scores, rows_.first_weights, {wrong_.data(), {i64(wrong_.size()), 1}});
            return;
        }
        constexpr double INFINITE = std::numeric_limits<double>::infinity();
        advance(member, tree_.cells, values, rows_.targets, rows_.scores, array_of(largest_));
        meet(member);
        double largest = 0.0;
        for (double each : largest_) largest = std::max(largest, each);
        int exponent;
        std::frexp(std::max(largest, settings_.unit), &exponent);
        const double scale = std::ldexp(1.0, -exponent);
        residual_pulls(member, rows_.targets, rows_.scores, rows_.weights, INFINITE, scale, rows_.pulls,
                       array_of(pull_sums_));
        if (member.number == 0) now_.scale = scale, now_.largest = largest;
    }

    /// Sum the costs of rows, span by span.
    void measure(const Member& member) {
        const Floats costs = records_.costs[round()];
        const Array<const double> base = rows_.base_of_costs;
        if (is_class())
            potential(member, LOGISTIC, column<const double>(rows_.scores), base, settings_.rows_per_sum, costs);
        else
            square_costs(member, rows_.targets, rows_.scores, base, settings_.rows_per_sum, costs);
    }

    /// Record the measurements of the round, and set whether to continue.
    void finish(i64 team) {
        if (!has_edge_) {
            goes_on_ = false;
            return;
        }
        const i64 t = now_.rounds++;
        if (is_class()) now_.weight = 0;  // those of regression never change
        now_.pull = records_.wrong[t] = 0;
        for (i64 k = 0; k < team; ++k) {
            if (is_class()) now_.weight += totals()(k, 0);
            now_.pull += is_class() ? totals()(k, 1) : pull_sums_[std::size_t(k)];
            records_.wrong[t] += wrong_[std::size_t(k)];
        }
        if (validation_) goes_on_ = validation_->goes_on(records_.validation_costs[t]);
        if (now_.rounds == inputs_.keys.size() || now_.largest < settings_.unit) goes_on_ = false;
    }

    const TreeArrays<Cell>& tree_;
    const std::optional<Spans>& spans_;
    const RoundRows& rows_;
    const RoundSettings& settings_;
    const RoundInputs& inputs_;
    const Records& records_;
    std::optional<Validation> validation_;

    Progress now_;
    bool goes_on_ = true, has_edge_ = true;
    /// Members write to lines of memory of their own.
    i64 room_for_leaves_;
    std::vector<i64> parts_;
    std::vector<double> values_;
    /// The results of each member.
    std::vector<i64> totals_, wrong_;
    std::vector<double> largest_;
    std::vector<i64> pull_sums_;
};

}  // namespace

template <class Cell>
Progress boost_trees(i64 team, const TreeArrays<Cell>& tree, const std::optional<Spans>& spans, const RoundRows& rows,
                     const RoundSettings& settings, const RoundInputs& inputs, const Progress& start,
                     const Records& records, const std::optional<Watched>& watched) {
    Batch<Cell> batch(team, tree, spans, rows, settings, inputs, start, records, watched);
    run_team(team, [&](const Member& member) { batch.run(member); });
    return batch.progress();
}

#define FOR_CELLS(Cell)                                                                                        \
    template Progress boost_trees(i64, const TreeArrays<Cell>&, const std::optional<Spans>&, const RoundRows&, \
                                  const RoundSettings&, const RoundInputs&, const Progress&, const Records&,   \
                                  const std::optional<Watched>&);
FOR_CELLS(u8)
FOR_CELLS(u16)

}  // namespace pacboost
