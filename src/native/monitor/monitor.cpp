#include "monitor/monitor.h"

#include <vector>

#include "core/exact.h"

namespace pacboost {
namespace {

/// Codes of a column are smaller than this.
constexpr i64 BINS = 40;

/// The hyperbolic tangent, which lies in [-1, 1].
double tangent(double x) {
    double small = exp_below_0(-2.0 * std::abs(x));
    double size = (1.0 - small) / (1.0 + small);
    return x >= 0 ? size : -size;
}

i64 leaf_of(Array<const u8> codes, Array<const i64> rule) {
    if (codes[rule[0]] <= rule[1]) return codes[rule[2]] <= rule[3] ? 0 : 1;
    return codes[rule[4]] <= rule[5] ? 2 : 3;
}

/// New and old rows, their weights and the nodes where they are.
struct Boosting {
    Array<const u8, 2> codes;
    i64 half;
    std::vector<double> weights, scores;
    std::vector<u8> node;
    std::vector<double> sums;

    Boosting(Array<const u8, 2> codes, i64 half)
        : codes(codes),
          half(half),
          weights(std::size_t(codes.shape[0]), 1.0),
          scores(std::size_t(codes.shape[0]), 0.0),
          node(std::size_t(codes.shape[0]), 0),
          sums(std::size_t(codes.shape[1] * BINS * 2), 0.0) {}

    /// Write the column and code of the best cut of a node; rows up to that code go left.
    ///
    /// Rows before `half` are new, the others old. The criterion is Σ √(W₊W₋) over both sides.
    void best_cut(u8 asked, i64* out) {
        const i64 columns = codes.shape[1];
        std::fill(sums.begin(), sums.end(), 0.0);
        for (i64 i = 0; i < codes.shape[0]; ++i) {
            if (node[std::size_t(i)] != asked) continue;
            i64 side = i < half ? 0 : 1;
            for (i64 c = 0; c < columns; ++c)
                sums[std::size_t((c * BINS + codes(i, c)) * 2 + side)] += weights[std::size_t(i)];
        }
        double best = std::numeric_limits<double>::infinity();
        out[0] = out[1] = 0;
        for (i64 c = 0; c < columns; ++c) {
            const double* own = sums.data() + c * BINS * 2;
            double all_new = 0.0, all_old = 0.0;
            for (i64 k = 0; k < BINS; ++k) all_new += own[2 * k], all_old += own[2 * k + 1];
            double left_new = 0.0, left_old = 0.0;
            for (i64 k = 0; k < BINS - 1; ++k) {
                left_new += own[2 * k];
                left_old += own[2 * k + 1];
                double right_new = std::max(all_new - left_new, 0.0), right_old = std::max(all_old - left_old, 0.0);
                double z = std::sqrt(left_new * left_old) + std::sqrt(right_new * right_old);
                if (z < best - 1e-12) best = z, out[0] = c, out[1] = k;
            }
        }
    }
};

}  // namespace

void follow(Array<const bool> mistakes, Wholes counts, Floats squares, Array<const double, 2> logs, double goal,
            Floats levels, Array<const double> weights, double run_length, Wholes marks) {
    const i64 bets = levels.size();
    std::vector<double> factors[2];
    for (i64 k = 0; k < 2; ++k)
        for (i64 j = 0; j < bets; ++j) factors[k].push_back(natural_exp(logs(k, j)));
    for (bool wrong : mistakes) {
        double mean = (double(counts[1]) + 0.5) / (double(counts[0]) + 1.0);
        counts[0] += 1;
        if (wrong) {
            counts[1] += 1;
            squares[0] += (1.0 - mean) * (1.0 - mean);
            if (marks[0] == 0) {  // the capital grows at mistakes only
                double mistaken = double(counts[1]), right = double(counts[0] - counts[1]);
                auto capital = [&](i64 j) { return mistaken * logs(1, j) + right * logs(0, j); };
                double top = -std::numeric_limits<double>::infinity();
                for (i64 j = 0; j < bets; ++j) top = std::max(top, capital(j));
                if (top >= goal) {
                    double sum_of_bets = 0.0;
                    for (i64 j = 0; j < bets; ++j) sum_of_bets += exp_below_0(capital(j) - top);
                    if (top + natural_log(sum_of_bets / double(bets)) >= goal) marks[0] = counts[0];
                }
            }
        } else {
            squares[0] += mean * mean;
        }
        const auto& factors_of_row = factors[wrong ? 1 : 0];
        double total = 0.0;
        for (i64 j = 0; j < bets; ++j) {
            levels[j] = (levels[j] + 1.0) * factors_of_row[std::size_t(j)];
            total += weights[j] * levels[j];
        }
        if (total >= run_length) {
            std::fill(levels.begin(), levels.end(), 0.0);
            if (marks[1] == 0) marks[1] = counts[0];
            marks[2] = counts[0];
            marks[3] += 1;
        }
    }
}

void boost_rules(Array<const u8, 2> codes, i64 half, double shrink, Array<i64, 2> rules, Array<double, 2> values) {
    const i64 rows = codes.shape[0];
    Boosting state(codes, half);
    for (i64 t = 0; t < rules.shape[0]; ++t) {
        auto rule = rules[t];
        std::fill(state.node.begin(), state.node.end(), u8(0));
        state.best_cut(0, &rule[0]);
        for (i64 i = 0; i < rows; ++i) state.node[std::size_t(i)] = codes(i, rule[0]) <= rule[1] ? 1 : 2;
        state.best_cut(1, &rule[2]);
        state.best_cut(2, &rule[4]);
        double sums[4][2] = {}, total = 0.0;
        for (i64 i = 0; i < rows; ++i) {
            i64 leaf = leaf_of(codes[i], rule);
            state.node[std::size_t(i)] = u8(leaf);
            sums[leaf][i < half ? 0 : 1] += state.weights[std::size_t(i)];
            total += state.weights[std::size_t(i)];
        }
        double smooth = 4.0 * total / double(rows);  // as if every leaf held four more rows of each kind
        for (i64 leaf = 0; leaf < 4; ++leaf) {
            double ratio = (sums[leaf][0] + smooth) / (sums[leaf][1] + smooth);
            values(t, leaf) = shrink * 0.5 * natural_log(ratio);
        }
        for (i64 i = 0; i < rows; ++i) {
            double& score = state.scores[std::size_t(i)];
            score += values(t, state.node[std::size_t(i)]);
            state.weights[std::size_t(i)] = natural_exp(i < half ? -score : score);
        }
    }
}

void pay(Array<const u8, 2> new_rows, Array<const u8, 2> old_rows, Array<const i64, 2> rules,
         Array<const double, 2> values, Floats payoffs, Floats won) {
    for (i64 i = 0; i < new_rows.shape[0]; ++i) {
        double high = 0.0, low = 0.0;
        for (i64 t = 0; t < rules.shape[0]; ++t) {
            i64 a = leaf_of(new_rows[i], rules[t]), b = leaf_of(old_rows[i], rules[t]);
            double value_a = values(t, a), value_b = values(t, b);
            high += value_a;
            low += value_b;
            won[rules(t, 0)] += 0.25 * (value_a - value_b);
            won[rules(t, a < 2 ? 2 : 4)] += 0.25 * value_a;
            won[rules(t, b < 2 ? 2 : 4)] -= 0.25 * value_b;
        }
        payoffs[i] = 0.5 * (tangent(high) - tangent(low));
    }
}

}  // namespace pacboost
