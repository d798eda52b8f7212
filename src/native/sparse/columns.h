/// Sparse columns of codes: how they are encoded, counted and divided among threads.
///
/// Only the rows of a column whose code differs from its default (that of 0) are listed and counted;
/// the default gets the rest of the total. Sums are of integers, so the histogram equals that of
/// counting all rows.
#pragma once

#include "team/team.h"

namespace pacboost {

/// The rows of column j from `starts[j]` to before `starts[j + 1]`; all others have its default.
template <class Code>
struct SparseColumns {
    Array<const i64> starts;
    Array<const i32> rows;
    Array<const Code> codes, defaults;
};

/// How many of some ascending numbers are below a value.
template <class T>
INLINE i64 rank_of(Array<const T> ascending, T value) {
    return std::lower_bound(ascending.begin(), ascending.end(), value) - ascending.begin();
}

/// Write the codes of stored values, and of 0 in each column.
///
/// Column j has the cuts from `offsets[j]` to before `offsets[j + 1]`.
template <class Value, class Code>
void encode_sparse(Array<const i64> starts, Array<const Value> values, Array<const double> cuts,
                   Array<const i64> offsets, i64 missing, Array<Code> defaults, Array<Code> codes) {
    for (i64 j = 0; j < defaults.size(); ++j) {
        Array<const double> own = cuts.slice(offsets[j], offsets[j + 1]);
        defaults[j] = Code(rank_of(own, 0.0));
        for (i64 k = starts[j]; k < starts[j + 1]; ++k) {
            double value = double(values[k]);
            codes[k] = Code(std::isnan(value) ? missing : rank_of(own, value));
        }
    }
}

/// Sum the amounts of rows in the bins of a column, those of missing values last. The histogram has
/// room for the code of missing values.
template <class Code>
INLINE void count_column(Array<const i32> rows, const Code* codes, Array<const i64> amounts, i64 total, i64 standard,
                         i64 bins, i64 missing, Wholes histogram) {
    std::fill(histogram.data, histogram.data + bins + 1, 0);
    histogram[missing] = 0;
    for (i64 k = 0; k < rows.size(); ++k) {
        i64 amount = amounts[rows[k]];
        histogram[codes[k]] += amount;
        total -= amount;
    }
    histogram[bins] = histogram[missing];
    histogram[standard] += total;
}

/// The lists of a member, where list k goes from `starts[k]` to `starts[k + 1]`; shares are about equal.
INLINE Span share_of_lists(Array<const i64> starts, const Member& member) {
    const i64 lists = starts.size() - 1;
    auto [first, last] = own_share(starts[lists] - starts[0], member);
    Array<const i64> begins = starts.slice(0, lists);
    return {member.number == 0 ? 0 : rank_of(begins, starts[0] + first),
            member.number == member.team - 1 ? lists : rank_of(begins, starts[0] + last)};
}

/// Find the first column and cut whose edge is within `slack` of the largest.
///
/// `total` is the sum of the amounts. Writes the edge of each column, and to `found` the column, the cut,
/// the sum above it minus the sum below, and the sum of missing values.
template <class Code>
void find_sparse_stump(const Member& member, const SparseColumns<Code>& columns, Array<const i64> bins, i64 missing,
                       Array<const i64> amounts, i64 total, i64 slack, Wholes edges, Wholes found);

}  // namespace pacboost
