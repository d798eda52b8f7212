/// The worth of a split, and the search for the best one in the common case.
///
/// That is: numeric features, one output, Newton's criterion, no constraint. split_general.h finds the
/// same splits more slowly, and all others.
#pragma once

#include "tree/layout.h"
#include "tree/pair.h"

namespace pacboost {

enum : i64 { NEWTON, Z, ERROR_RATE };

/// A gain below this share of the worth of a leaf comes from rounding.
constexpr double NOISE = 1e-12;

/// Leaves of up to this many rows have no histograms: most bins would be empty.
constexpr i64 MAX_LISTED_ROWS = 128;

/// The worth of a leaf with a single output; a split gains if its leaves are worth more.
INLINE double worth_of_one(i64 criterion, double pull, double weight, double penalty) {
    if (criterion == NEWTON) return pull * pull / (weight + penalty);
    if (criterion == ERROR_RATE) return std::fabs(pull);
    // Both factors are integers: weight² - pull² would lose digits if a leaf is nearly pure.
    double product = (weight - pull) * (weight + pull);
    return -std::sqrt(product > 0.0 ? product : 0.0);
}

/// The worth of a leaf, from its pull for each output.
double worth(i64 criterion, Array<const double> pulls, double weight, double penalty);

/// The minimum weight of a side of a split, in a leaf of `size` rows.
INLINE double min_weight_of(Floats rules, double weight, i64 size) {
    double of_rows = rules[LEAST_ROWS] * weight / double(size);
    return std::max(std::max(rules[LEAST_WEIGHT], of_rows), 1.0);
}

/// The totals and limits of a leaf, and space for the sums and the worth of its cuts.
struct Leaf {
    i64 total;
    double penalty, min_weight;
    Wholes sums;
    Floats worth_of_cuts;
};

/// The worth of the sides of the best cut, the cut (-1 if there is none), and where missing values go.
struct Cut {
    double worth;
    i64 cut;
    bool missing_left;
};

/// Find the best cut of a feature by Newton's criterion, without constraints.
///
/// `histogram` has a pair for each bin, and missing values have `absent`. Loops are vectorized
/// (measured: four times faster than one cut after the other). A cut above an empty bin divides the
/// rows like the cut below it, and the first of equal cuts is chosen; so empty bins, which are many in
/// small leaves, are skipped.
Cut scan_quickly(Array<const i64> histogram, i64 absent, const Leaf& leaf, double min_worth);

/// Copy the histogram of a feature, `missing` last, out of that of its lane. If features share the
/// lane, the sum of the default is the total minus all other codes.
void open_feature(Array<const i64> lane, Feature feature, i64 missing, i64 total, Wholes out);

/// The features that a member of a team searches for splits, and the rules of the search.
struct SplitSearch {
    const Codes& codes;
    Bytes allowed;
    /// The features from `first` to before `last`.
    i64 first, last;
    Floats rules;
};

/// The worth of the sides of a split and of the leaf; if no split gains anything, both are equal.
struct Worth {
    double after, before;
};

/// Find the best split over some features, and write it to `best`.
///
/// The histogram is (lanes, codes). The first of equal splits is chosen. If `rows` is not empty (at
/// most `MAX_LISTED_ROWS`), their words and `pairs` are used in place of the histogram; each lane then
/// holds one feature.
Worth scan(const SplitSearch& search, Array<const i64, 2> histogram, Array<const u32> rows, Array<const i64> pairs,
           i64 size, Wholes best);

}  // namespace pacboost
