#include "rounds/weights.h"

#include <vector>

#include "rounds/sums.h"

namespace pacboost {
namespace {

/// The number of rows whose outputs make a tile.
INLINE i64 rows_per_tile(i64 outputs) { return std::max<i64>(1, ROWS_PER_TILE / outputs); }

/// The base weight of a row: one for each, or one for all.
INLINE double base_of(Array<const double> base, i64 i) { return base.size() > 1 ? base.data[i] : base.data[0]; }

}  // namespace

void exponential(const Member& member, Array<const i8> agree, double vote, double total_vote,
                 Array<const double> log_base, double log_scale, Floats margins, Wholes weights, Totals totals) {
    auto [a, b] = own_share(weights.size(), member);
    i64 total = 0;
    alignas(64) HalfDone half;
    const bool is_one = log_base.size() == 1;
    const double shift = log_base[0] + log_scale;
    for (i64 tile = a; tile < b; tile += CHUNK) {
        const i64 n = std::min(CHUNK, b - tile);
        const i8* side = agree.data + tile;
        const double* base = log_base.data + tile;
        double* margin = margins.data + tile;
        i64* weight = weights.data + tile;
        for (i64 i = 0; i < n; ++i) margin[i] += vote * side[i];
        if (is_one)  // one loop for both cases is not vectorized, and takes twice as long
            for (i64 i = 0; i < n; ++i) begin_exp(total_vote - margin[i] + shift, i, half);
        else
            for (i64 i = 0; i < n; ++i) begin_exp(total_vote - margin[i] + (base[i] + log_scale), i, half);
        for (i64 i = 0; i < n; ++i) {
            weight[i] = end_exp(half, i);
            total += weight[i];
        }
    }
    totals(member.number, 0) = total;
}

void exponential_cells(const Member& member, Cells cells, Array<const double, 2> values, Array<const i8, 2> signs,
                       Array<const double> log_base, double log_scale, Array<double, 2> margins, Array<i64, 2> weights,
                       Totals totals) {
    const i64 outputs = signs.shape[1], rows = rows_per_tile(outputs);
    auto [a, b] = own_share(cells.size(), member);
    i64 total = 0;
    std::vector<double> added(std::size_t(rows * outputs));
    alignas(64) HalfDone half;
    for (i64 tile = a; tile < b; tile += rows) {
        const i64 n = std::min(rows, b - tile);
        cells.visit([&](auto cell) {
            for (i64 i = 0; i < n; ++i) std::copy_n(values[cell[tile + i]].data, outputs, added.data() + i * outputs);
        });
        const i64 first = tile * outputs, last = (tile + n) * outputs;
        for (i64 i = first; i < last; ++i) margins.data[i] += added[std::size_t(i - first)] * signs.data[i];
        for (i64 from = first; from < last; from += CHUNK) {
            const i64 size = std::min(CHUNK, last - from);
            const double *margin = margins.data + from, *base = log_base.data + from;
            i64* weight = weights.data + from;
            if (log_base.size() == 1)
                for (i64 i = 0; i < size; ++i) begin_exp(log_scale - margin[i] + log_base.data[0], i, half);
            else
                for (i64 i = 0; i < size; ++i) begin_exp(log_scale - margin[i] + base[i], i, half);
            for (i64 i = 0; i < size; ++i) {
                weight[i] = end_exp(half, i);
                total += weight[i];
            }
        }
    }
    totals(member.number, 0) = total;
}

i64 clipped_weights(Array<const double> margins, Array<const double> log_base, Wholes weights) {
    i64 total = 0;
    alignas(64) HalfDone half;
    for (i64 tile = 0; tile < margins.size(); tile += CHUNK) {
        const i64 n = std::min(CHUNK, margins.size() - tile);
        const double* margin = margins.data + tile;
        for (i64 i = 0; i < n; ++i) begin_exp(base_of(log_base, tile + i) - std::max(margin[i], 0.0), i, half);
        for (i64 i = 0; i < n; ++i) {
            weights.data[tile + i] = end_exp(half, i);
            total += weights.data[tile + i];
        }
    }
    return total;
}

void logistic(const Member& member, Cells cells, Array<const double> values, Array<const i8> signs,
              Array<const double> base, double max_target, Floats margins, Wholes weights, Wholes pulls,
              Totals totals) {
    auto [a, b] = own_share(cells.size(), member);
    i64 weight_sum = 0, pull_sum = 0;
    alignas(64) double raised[ROWS_PER_TILE], added[ROWS_PER_TILE];
    for (i64 tile = a; tile < b; tile += ROWS_PER_TILE) {
        const i64 size = std::min(ROWS_PER_TILE, b - tile);
        const i8* __restrict side = signs.data + tile;
        double* __restrict margin = margins.data + tile;
        i64* __restrict weight = weights.data + tile;
        i64* __restrict pull = pulls.data + tile;
        cells.visit([&](auto cell) {
            for (i64 i = 0; i < size; ++i) added[i] = values[cell[tile + i]];
        });
        for (i64 i = 0; i < size; ++i) margin[i] += added[i] * side[i];
        raise_margins(margin, size, raised);
        if (base.size() == 1)
            std::fill_n(added, size, base.data[0]);
        else
            std::copy_n(base.data + tile, size, added);
        for (i64 i = 0; i < size; ++i) {
            double right = added[i] / (1.0 + raised[i]);  // the larger of q and 1 - q, in units
            double wrong = raised[i] * right;
            double curve = wrong / (1.0 + raised[i]);
            double q = margin[i] > 0 ? wrong : right;
            double limit = max_target * curve;
            i64 step = i64((limit < q ? limit : q) + 0.5);  // 0 · inf is nan: take q
            i64 curved = i64(curve + 0.5);
            weight[i] = curved;
            pull[i] = step * side[i];
            weight_sum += curved;
            pull_sum += step;
        }
    }
    totals(member.number, 0) = weight_sum;
    totals(member.number, 1) = pull_sum;
}

void softmax(const Member& member, Array<const i64> chosen, Cells cells, Array<const double, 2> values,
             Array<const i8, 2> signs, Array<const double> base, double max_target, Array<double, 2> margins,
             Array<i64, 2> weights, Array<i64, 2> pulls, Array<double, 2> raised_sums, Totals totals) {
    const i64 outputs = signs.shape[1], rows = rows_per_tile(outputs);
    auto [a, b] = own_share(chosen.size(), member);
    i64 weight_sum = 0, pull_sum = 0;
    std::vector<double> raised(std::size_t(rows * outputs));
    std::vector<TopAndTotal> results(std::size_t(rows), TopAndTotal{});
    for (i64 first = a; first < b; first += rows) {
        const i64 n = std::min(rows, b - first);
        cells.visit([&](auto cell) {
            for (i64 j = 0; j < n; ++j) {
                const i64 row = chosen[first + j];
                const double* added = values[cell[row]].data;
                const i8* side = signs[row].data;
                double *margin = margins[row].data, *line = raised.data() + j * outputs;
                for (i64 k = 0; k < outputs; ++k) {
                    double moved = margin[k] + added[k] * side[k];
                    margin[k] = moved;
                    line[k] = moved * side[k];
                }
            }
        });
        raise_scores_of_rows(raised.data(), n, outputs, results.data());
        for (i64 j = 0; j < n; ++j) {
            const i64 row = chosen[first + j];
            const auto [top, total] = results[std::size_t(j)];
            raised_sums(row, 0) = top, raised_sums(row, 1) = total;
            const double scale = base_of(base, row) / total, *line = raised.data() + j * outputs;
            const i8* __restrict side = signs[row].data;
            i64* __restrict weight = weights[row].data, * __restrict pull = pulls[row].data;
            for (i64 k = 0; k < outputs; ++k) {  // p = line/total; the scale turns it into units
                double part = line[k] * scale;
                double other = (total - line[k]) * scale;
                double curve = line[k] * other / total;
                double gap = side[k] > 0 ? other : part;
                double limit = max_target * curve;
                i64 curved = i64(curve + 0.5);
                i64 step = i64((limit < gap ? limit : gap) + 0.5);  // as above
                weight_sum += curved - weight[k];
                pull_sum += step - std::abs(pull[k]);
                weight[k] = curved;
                pull[k] = step * side[k];
            }
        }
    }
    totals(member.number, 0) = weight_sum;
    totals(member.number, 1) = pull_sum;
}

void raise_scores(const Member& member, Array<const double> scores, double sign, Floats out) {
    auto [a, b] = own_share(scores.size(), member);
    for (i64 i = a; i < b; ++i) out.data[i] = natural_exp(sign * scores.data[i]);
}

void advance(const Member& member, Cells cells, Array<const double> values, Array<const double> targets, Floats scores,
             Floats largest) {
    auto [a, b] = own_share(cells.size(), member);
    double most = 0.0;
    cells.visit([&](auto cell) {
        double own = 0.0;
        for (i64 i = a; i < b; ++i) {
            double score = scores[i] + values[cell[i]];
            scores[i] = score;
            own = std::max(own, std::abs(targets[i] - score));
        }
        most = own;
    });
    largest[member.number] = most;
}

void residual_pulls(const Member& member, Array<const double> targets, Array<const double> scores,
                    Array<const i64> weights, double cut, double scale, Wholes out, Wholes sums) {
    auto [a, b] = own_share(targets.size(), member);
    i64 total = 0;
    for (i64 i = a; i < b; ++i) {
        double gap = std::min(std::max(targets[i] - scores[i], -cut), cut);
        i64 pull = i64(std::nearbyint(double(weights[i]) * (gap * scale)));
        out[i] = pull;
        total += std::abs(pull);
    }
    sums[member.number] = total;
}

void residual_sides(const Member& member, Array<const double> targets, Array<const double> scores,
                    Array<const i64> weights, double above, double below, double unit, AnyArray<1, i8, i64> sides,
                    Wholes sums) {
    auto [a, b] = own_share(targets.size(), member);
    i64 total = 0;
    sides.visit([&](auto out) {
        using Out = typename decltype(out)::Element;
        for (i64 i = a; i < b; ++i) {
            double gap = targets[i] - scores[i];
            double side = std::abs(gap) < unit ? 0.0 : gap > 0 ? above : below;
            i64 pull = i64(std::nearbyint(double(weights[i]) * side));
            out[i] = sizeof(Out) == 1 ? Out(side) : Out(pull);
            total += std::abs(pull);
        }
    });
    sums[member.number] = total;
}

namespace {
template <class Pull>
void pair_up_these(const Member& member, Array<const i64, 2> weights, Array<const Pull, 2> pulls, bool times_weight,
                   Array<const i8, 2> flips, double pull_scale, double weight_scale, Array<i64, 2> pairs) {
    auto [a, b] = own_share(weights.shape[0], member);
    const i64 outputs = weights.shape[1];
    if (outputs == 1) {
        pairs_of_one(weights.data + a, pulls.data + a, times_weight, pull_scale, weight_scale, pairs.data + a, b - a);
        return;
    }
    for (i64 i = a; i < b; ++i) {
        const i64* weight = weights[i].data;
        const Pull* pull = pulls[i].data;
        i64 weight_sum = 0;
        for (i64 k = 0; k < outputs; ++k) weight_sum += weight[k];
        for (i64 s = 0; s < flips.shape[0]; ++s) {
            const i8* flip = flips[s].data;
            i64 sum = 0;
            for (i64 k = 0; k < outputs; ++k) {
                i64 one = i64(pull[k]);
                if (times_weight) one *= weight[k];
                sum += one * flip[k];
            }
            pairs(s, i) = pair_of(double(sum) * pull_scale, double(weight_sum) * weight_scale);
        }
    }
}

}  // namespace

void pair_up(const Member& member, Array<const i64, 2> weights, Pulls pulls, bool times_weight,
             Array<const i8, 2> flips, double pull_scale, double weight_scale, Array<i64, 2> pairs) {
    pulls.visit([&](auto these) {
        pair_up_these(member, weights, these, times_weight, flips, pull_scale, weight_scale, pairs);
    });
}

}  // namespace pacboost
