/// Exponentials of many numbers in vectorized loops, and sums of floats over tiles of rows.
///
/// Sums are added in one order that a GPU can follow as well: no addition waits for more than a few
/// others.
#pragma once

#include "core/exact_loops.h"

namespace pacboost {

constexpr i64 ROWS_PER_TILE = 1024;
/// Floats over a span of rows are summed in this many parts.
constexpr i64 PARTS = 64;

/// Overwrite every x with exp(x - LOG_UNITS).
inline void raise_all(double* numbers, i64 size) {
    alignas(64) HalfDone half;
    for (i64 first = 0; first < size; first += CHUNK) {
        const i64 n = std::min(CHUNK, size - first);
        double* x = numbers + first;
        for (i64 i = 0; i < n; ++i) begin_exp(x[i], i, half);
        for (i64 i = 0; i < n; ++i) x[i] = exact_double(end_exp(half, i)) * 0x1p-53;
    }
}

/// Write exp(-2|margin|).
inline void raise_margins(const double* margins, i64 size, double* raised) {
    for (i64 i = 0; i < size; ++i) raised[i] = LOG_UNITS - 2.0 * std::abs(margins[i]);
    raise_all(raised, size);
}

/// A row's largest score, and its sum of exponentials.
struct TopAndTotal {
    double top, total;
};
/// Overwrite the concatenated scores F of some rows with exp(F - max F). One long loop covers all rows,
/// because short ones are hardly vectorized.
inline void raise_scores_of_rows(double* scores, i64 rows, i64 outputs, TopAndTotal* results) {
    for (i64 j = 0; j < rows; ++j) {
        double *line = scores + j * outputs, top = line[0];
        for (i64 k = 0; k < outputs; ++k) top = line[k] > top ? line[k] : top;
        results[j].top = top;
        for (i64 k = 0; k < outputs; ++k) line[k] = LOG_UNITS + (line[k] - top);
    }
    raise_all(scores, rows * outputs);
    for (i64 j = 0; j < rows; ++j) {
        double *line = scores + j * outputs, total = 0.0;
        for (i64 k = 0; k < outputs; ++k) total += line[k];
        results[j].total = total;
    }
}

/// Add the second half of a tile to its first half, until `PARTS` numbers remain.
INLINE void fold_sums(double* tile) {
    for (int half : {512, 256, 128, 64})
        for (int i = 0; i < half; ++i) tile[i] += tile[i + half];
}

/// Fold a tile like `fold_sums`, but multiply 1 plus each number.
INLINE void fold_products(double* tile) {
    for (int i = 0; i < ROWS_PER_TILE; ++i) tile[i] += 1.0;
    for (int half : {512, 256, 128, 64})
        for (int i = 0; i < half; ++i) tile[i] *= tile[i + half];
}

/// The parts of the sum of a span.
struct Parts {
    alignas(64) double part[PARTS] = {};

    /// Fold the first `size` numbers of a tile, and add them.
    INLINE void add_tile(double* tile, i64 size) {
        for (i64 i = size; i < ROWS_PER_TILE; ++i) tile[i] = 0.0;
        fold_sums(tile);
        for (int i = 0; i < PARTS; ++i) part[i] += tile[i];
    }
    /// Add the second half of the parts to the first until one number remains; clear the parts.
    INLINE double total() {
        for (int width = PARTS / 2; width > 0; width /= 2)
            for (int i = 0; i < width; ++i) part[i] += part[i + width];
        double sum = part[0];
        std::fill_n(part, PARTS, 0.0);
        return sum;
    }
};

}  // namespace pacboost
