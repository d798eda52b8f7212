#include "rounds/costs.h"

#include <vector>

#include "rounds/sums.h"

namespace pacboost {
namespace {

/// The score of a row's class, and the largest of the others.
struct OwnAndBestOther {
    double own, other;
};
INLINE OwnAndBestOther own_and_best_other(const double* margin, const i8* side, i64 outputs) {
    double own = -std::numeric_limits<double>::infinity(), other = own;
    for (i64 k = 0; k < outputs; ++k) {
        if (side[k] > 0)
            own = margin[k];
        else
            other = std::max(other, -margin[k]);
    }
    return {own, other};
}

/// Where a span of rows begins and ends.
INLINE Span rows_of(i64 span, i64 size, i64 rows) { return {span * size, std::min((span + 1) * size, rows)}; }

/// Call a function with every span of a member's share: its number, and its first and last row.
template <class Task>
INLINE void each_span(const Member& member, i64 rows, i64 size, const Task& task) {
    auto [first, last] = own_share((rows + size - 1) / size, member);
    for (i64 span = first; span < last; ++span) task(span, rows_of(span, size, rows));
}

template <class Code>
void agreement(const Member& member, Array<const Code> codes, i64 cut, i64 above, i64 missing, i64 if_missing,
               Array<const i8> signs, Signs agree) {
    constexpr i64 MOST = std::numeric_limits<Code>::max();
    // A loop is fast if it compares codes with codes; so cuts and a missing code that no row can have
    // are replaced by what has the same answers.
    const Code highest_below = Code(std::min(std::max<i64>(cut, 0), MOST));
    const i8 up = i8(above), down = cut < 0 ? up : i8(-up);
    const bool may_miss = 0 <= missing && missing <= MOST;
    const Code absent = may_miss ? Code(missing) : Code(0);
    const i8 at_absent = may_miss ? i8(if_missing) : down;
    auto [a, b] = own_share(codes.size(), member);
    const Code* code = codes.data;
    const i8* sign = signs.data;
    i8* out = agree.data;
    for (i64 i = a; i < b; ++i) {
        i8 answer = code[i] > highest_below ? up : down;
        out[i] = i8(sign[i] * (code[i] == absent ? at_absent : answer));
    }
}

}  // namespace

void stump_agreement(const Member& member, AnyArray<1, const u8, const u16> codes, i64 cut, i64 above, i64 missing,
                     i64 if_missing, Array<const i8> signs, Signs agree) {
    codes.visit([&](auto these) { agreement(member, these, cut, above, missing, if_missing, signs, agree); });
}

void masses(const Member& member, Array<const i64> weights, Array<const i8> agree, i64 size, Array<i64, 2> sums,
            Floats squares) {
    each_span(member, weights.size(), size, [&](i64 span, Span rows) LAMBDA_INLINE {
        const i64 n = rows.last - rows.first, fours = n / 4 * 4, *weight = weights.data + rows.first;
        const i8* right = agree.data + rows.first;
        i64 total = 0, wrong = 0;
        for (i64 i = 0; i < n; ++i) {
            total += weight[i];
            wrong += weight[i] & -i64(right[i] < 0);  // GCC makes a branch of a choice: seven times slower
        }
        double a = 0, b = 0, c = 0, d = 0;  // four sums, so that no addition waits for the one before
        for (i64 i = 0; i < fours; i += 4) {
            a += double(weight[i]) * double(weight[i]);
            b += double(weight[i + 1]) * double(weight[i + 1]);
            c += double(weight[i + 2]) * double(weight[i + 2]);
            d += double(weight[i + 3]) * double(weight[i + 3]);
        }
        for (i64 i = fours; i < n; ++i) a += double(weight[i]) * double(weight[i]);
        sums(span, 0) = total;
        sums(span, 1) = wrong;
        squares[span] = (a + b) + (c + d);
    });
}

void mistakes(const Member& member, Array<const double> margins, Array<const i64> first_weights, Array<i64, 2> totals) {
    auto [first, last] = own_share(margins.size(), member);
    i64 count = 0;
    if (first_weights.size() == 1) {
        for (i64 i = first; i < last; ++i) count += margins.data[i] <= 0 ? 1 : 0;
        count *= first_weights[0];
    } else {
        for (i64 i = first; i < last; ++i) count += margins.data[i] <= 0 ? first_weights[i] : 0;
    }
    totals(member.number, 0) = count;
}

void wrong_classes(const Member& member, Array<const double, 2> margins, Array<const i8, 2> signs,
                   Array<const i64> first_weights, Array<i64, 2> totals) {
    auto [first, last] = own_share(margins.shape[0], member);
    i64 count = 0;
    for (i64 i = first; i < last; ++i) {
        auto [own, other] = own_and_best_other(margins[i].data, signs[i].data, margins.shape[1]);
        if (!(own > other)) count += first_weights[first_weights.size() > 1 ? i : 0];
    }
    totals(member.number, 0) = count;
}

namespace {
template <class Cell, class Pull>
void sums_of(const Member& member, Array<const Cell> cells, Array<const i64, 2> weights, Array<const Pull, 2> pulls,
             bool times_weight, i64 size, Array<i64, 4> sums, Floats squares) {
    const i64 outputs = weights.shape[1];
    auto pull_sums = sums(member.number, 0), weight_sums = sums(member.number, 1);
    alignas(64) double tile[ROWS_PER_TILE];
    Parts parts;
    each_span(member, cells.size(), size, [&](i64 span, Span rows) {
        if (outputs == 1) {
            for (i64 first = rows.first; first < rows.last; first += ROWS_PER_TILE) {
                const i64 n = std::min(ROWS_PER_TILE, rows.last - first);
                const Cell* cell = cells.data + first;
                const i64* weight = weights.data + first;
                const Pull* pull = pulls.data + first;
                for (i64 i = 0; i < n; ++i) {
                    i64 own = i64(pull[i]);
                    if (times_weight) own *= weight[i];
                    check_index(cell[i], pull_sums.shape[0]);
                    pull_sums.data[cell[i]] += own;
                    weight_sums.data[cell[i]] += weight[i];
                    tile[i] = double(own) * double(own);
                }
                parts.add_tile(tile, n);
            }
        } else {
            i64 count = 0;
            for (i64 i = rows.first; i < rows.last; ++i) {
                i64 *to_pulls = pull_sums[cells[i]].data, *to_weights = weight_sums[cells[i]].data;
                const i64* weight = weights[i].data;
                const Pull* pull = pulls[i].data;
                for (i64 k = 0; k < outputs; ++k) {
                    i64 own = i64(pull[k]);
                    if (times_weight) own *= weight[k];
                    to_pulls[k] += own;
                    to_weights[k] += weight[k];
                    tile[count++] = double(own) * double(own);
                    if (count == ROWS_PER_TILE) {
                        parts.add_tile(tile, count);
                        count = 0;
                    }
                }
            }
            parts.add_tile(tile, count);
        }
        squares[span] = parts.total();
    });
}

}  // namespace

void cell_sums(const Member& member, Cells cells, Array<const i64, 2> weights, Pulls pulls, bool times_weight, i64 size,
               Array<i64, 4> sums, Floats squares) {
    cells.visit([&](auto cell) {
        pulls.visit([&](auto pull) { sums_of(member, cell, weights, pull, times_weight, size, sums, squares); });
    });
}

void class_sums(const Member& member, Array<const i64> chosen, Cells cells, Array<const i64, 2> weights,
                Array<const i64, 2> pulls, Array<i64, 4> sums) {
    auto [first, last] = own_share(chosen.size(), member);
    auto pull_sums = sums(member.number, 0), weight_sums = sums(member.number, 1);
    const i64 outputs = weights.shape[1];
    cells.visit([&](auto cell) {
        for (i64 j = first; j < last; ++j) {
            const i64 i = chosen[j], *weight = weights[i].data, *pull = pulls[i].data;
            i64 *to_pulls = pull_sums[cell[i]].data, *to_weights = weight_sums[cell[i]].data;
            for (i64 k = 0; k < outputs; ++k) to_pulls[k] += pull[k];
            for (i64 k = 0; k < outputs; ++k) to_weights[k] += weight[k];
        }
    });
}

void class_rows(const Member& member, Array<const i64> chosen, Array<const double, 2> margins, Array<const i8, 2> signs,
                Array<const i64, 2> pulls, Array<const double, 2> raised_sums, Floats costs, Array<bool> wrong,
                Floats squares) {
    const i64 outputs = margins.shape[1], rows = std::max<i64>(1, ROWS_PER_TILE / outputs);
    const bool is_known = raised_sums.shape[0] > 0;
    auto [a, b] = own_share(chosen.size(), member);
    std::vector<double> raised(std::size_t(rows * outputs));
    std::vector<TopAndTotal> results(std::size_t(rows), TopAndTotal{});
    for (i64 first = a; first < b; first += rows) {
        const i64 n = std::min(rows, b - first), *tile = chosen.data + first;
        if (!is_known) {
            for (i64 j = 0; j < n; ++j) {
                const double* margin = margins[tile[j]].data;
                const i8* side = signs[tile[j]].data;
                for (i64 k = 0; k < outputs; ++k) raised[std::size_t(j * outputs + k)] = margin[k] * side[k];
            }
            raise_scores_of_rows(raised.data(), n, outputs, results.data());
        }
        for (i64 j = 0; j < n; ++j) {
            const i64 i = tile[j], *pull = pulls[i].data;
            auto [own, other] = own_and_best_other(margins[i].data, signs[i].data, outputs);
            double square = 0.0;
            for (i64 k = 0; k < outputs; ++k) square += double(pull[k]) * double(pull[k]);
            TopAndTotal sums = results[std::size_t(j)];
            if (is_known) sums = {raised_sums(i, 0), raised_sums(i, 1)};
            costs[i] = natural_log(sums.total) + (sums.top - own);
            wrong[i] = !(own > other);
            squares[i] = square;
        }
    }
}

void potential(const Member& member, i64 kind, Array<const double, 2> margins, Array<const double> base, i64 size,
               Floats sums) {
    const i64 outputs = margins.shape[1];
    if (kind == LOGISTIC && outputs == 1 && base.size() == 1 && base[0] == 1.0)
        return log_costs(member, margins.flat(), size, sums);
    each_span(member, margins.shape[0], size, [&](i64 span, Span rows) {
        double total = 0.0;
        for (i64 i = rows.first; i < rows.last; ++i) {
            const double* margin = margins[i].data;
            double cost = 0.0;
            for (i64 k = 0; k < outputs; ++k) {
                double z = margin[k], size_of_z = std::abs(z);
                if (kind == SQUARE) {
                    cost += size_of_z * size_of_z;
                } else if (kind == ABSOLUTE) {
                    cost += size_of_z;
                } else if (kind == LOGISTIC) {
                    cost += natural_log(1.0 + natural_exp(-size_of_z * 2.0)) - 2.0 * std::min(z, 0.0);
                } else {
                    cost += z >= 0 ? natural_exp(-size_of_z) : 1.0 - z;
                }
            }
            total += cost * base[base.size() > 1 ? i : 0];
        }
        sums[span] = total;
    });
}

void square_costs(const Member& member, Array<const double> targets, Array<const double> scores,
                  Array<const double> base, i64 size, Floats sums) {
    each_span(member, targets.size(), size, [&](i64 span, Span rows) {
        double total = 0.0;
        for (i64 i = rows.first; i < rows.last; ++i) {
            double residual = targets[i] - scores[i];
            total += residual * residual * base[base.size() > 1 ? i : 0];
        }
        sums[span] = total;
    });
}

void log_costs(const Member& member, Array<const double> margins, i64 size, Floats sums) {
    alignas(64) double raised[ROWS_PER_TILE], lows[ROWS_PER_TILE];
    Parts parts;
    each_span(member, margins.size(), size, [&](i64 span, Span rows) {
        for (i64 first = rows.first; first < rows.last; first += ROWS_PER_TILE) {
            const double* margin = margins.data + first;
            const i64 n = std::min(ROWS_PER_TILE, rows.last - first);
            raise_margins(margin, n, raised);
            for (i64 i = 0; i < n; ++i) lows[i] = margin[i] < 0 ? margin[i] : 0.0;
            for (i64 i = n; i < ROWS_PER_TILE; ++i) raised[i] = lows[i] = 0.0;
            fold_products(raised);
            fold_sums(lows);
            for (int i = 0; i < PARTS; ++i) parts.part[i] += natural_log(raised[i]) - 2.0 * lows[i];
        }
        sums[span] = parts.total();
    });
}

}  // namespace pacboost
