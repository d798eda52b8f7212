#include "tree/bins.h"

namespace pacboost {
namespace {

/// A tile of a C-ordered matrix stays in the second-level cache.
constexpr i64 ROWS_PER_TILE = 256;
/// The width of most features.
constexpr i64 USUAL_WIDTH = 256;

/// Count the cuts below a value; `step`, a power of 2, is half of the number of cuts. There is no
/// branch, and the loop is unrolled where the first step is a constant.
INLINE u64 rank(const double* cuts, double value, u64 step) {
    u64 low = 0;
    for (; step > 0; step >>= 1) low += step * u64(cuts[low + step - 1] < value);
    return low;
}

/// A part of a column of a matrix of any order.
template <class Value>
struct Column {
    const char* data;
    i64 stride, size;
    INLINE Value operator[](i64 i) const { return *reinterpret_cast<const Value*>(data + i * stride); }
};

/// Rows `tile` and after of column j, at most a tile of them.
template <class Value>
INLINE Column<Value> tile_of(const Strided<Value>& values, i64 tile, i64 j) {
    check_index(j, values.shape[1]);
    return {values.data + tile * values.strides[0] + j * values.strides[1], values.strides[0],
            std::min(ROWS_PER_TILE, values.shape[0] - tile)};
}

/// Write how many cuts lie below each value; the most common number of cuts is a constant.
template <class Value, class Code>
INLINE void write_ranks(const double* cuts, i64 width, Column<Value> column, Code* out) {
    if (width == 2)
        for (i64 i = 0; i < column.size; ++i) out[i] = Code(cuts[0] < column[i]);
    else if (width == USUAL_WIDTH)
        for (i64 i = 0; i < column.size; ++i) out[i] = Code(rank(cuts, column[i], USUAL_WIDTH / 2));
    else
        for (i64 i = 0; i < column.size; ++i) out[i] = Code(rank(cuts, column[i], u64(width) >> 1));
}

}  // namespace

template <class Value, class Code>
void encode(Strided<Value> values, i64 first, Array<const i64> features, Array<const double> cuts,
            Array<const i64> offsets, i64 missing, Array<Code, 2> codes, i64 start) {
    for (i64 tile = 0; tile < values.shape[0]; tile += ROWS_PER_TILE)
        for (i64 j = 0; j < features.size(); ++j) {
            i64 feature = features[j];
            auto column = tile_of(values, tile, feature - first);
            Code* out = codes[j].slice(start + tile, start + tile + column.size).data;
            write_ranks(cuts.data + offsets[feature], offsets[feature + 1] - offsets[feature], column, out);
            // separate, so that the loops above have no branches
            for (i64 i = 0; i < column.size; ++i)
                if (std::isnan(column[i])) out[i] = Code(missing);
        }
}

template <class Value>
void score_steps(Strided<Value> values, Array<const i64> columns, Array<const double> cuts, Array<const i64> offsets,
                 Array<const double> steps, Array<const double> missing, Array<double> scores) {
    for (i64 tile = 0; tile < values.shape[0]; tile += ROWS_PER_TILE)
        for (i64 j = 0; j < columns.size(); ++j) {
            auto column = tile_of(values, tile, columns[j]);
            const i64 width = offsets[j + 1] - offsets[j];
            const double *own = cuts.data + offsets[j], *heights = steps.data + offsets[j];
            double* out = scores.slice(tile, tile + column.size).data;
            if (width == USUAL_WIDTH)
                for (i64 i = 0; i < column.size; ++i) out[i] += heights[rank(own, column[i], USUAL_WIDTH / 2)];
            else
                for (i64 i = 0; i < column.size; ++i) out[i] += heights[rank(own, column[i], u64(width) >> 1)];
            for (i64 i = 0; i < column.size; ++i)
                if (std::isnan(column[i])) out[i] += missing[j] - heights[0];  // exact: see numerics/exact.py
        }
}

#define FOR_CODES(Value, Code)                                                                              \
    template void encode(Strided<Value>, i64, Array<const i64>, Array<const double>, Array<const i64>, i64, \
                         Array<Code, 2>, i64);
FOR_CODES(double, u8)
FOR_CODES(double, u16)
FOR_CODES(float, u8)
FOR_CODES(float, u16)
#define FOR_VALUES(Value)                                                                              \
    template void score_steps(Strided<Value>, Array<const i64>, Array<const double>, Array<const i64>, \
                              Array<const double>, Array<const double>, Array<double>);
FOR_VALUES(double)
FOR_VALUES(float)

}  // namespace pacboost
