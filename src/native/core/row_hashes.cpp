#include "core/row_hashes.h"

#include <bit>

namespace pacboost {
namespace {

/// The bits of a value rounded to 32 bits; all missing values are equal.
INLINE u64 cell(double value) {
    float rounded = float(value) + 0.0f;  // turns -0 into 0
    return std::isnan(rounded) ? MISSING_CELL : std::bit_cast<u32>(rounded);
}
INLINE u64 cell(float value) {
    value += 0.0f;
    return std::isnan(value) ? MISSING_CELL : std::bit_cast<u32>(value);
}
INLINE u64 cell(u64 value) { return value; }

}  // namespace

template <class Value>
void add_hashes(Strided<Value> values, Array<const u64> factors, Words total) {
    for (i64 i = 0; i < total.size(); ++i)
        for (i64 j = 0; j < factors.size(); ++j) total[i] += mixed(cell(values(i, j)) + factors[j]);
}

void mix(Words total) {
    for (u64& word : total) word = mixed(word);
}

template <class Value>
void below_limit(Strided<Value> values, Array<const i64> columns, Array<const u64> factors, u64 salt, u64 limit,
                 Array<bool> is_below) {
    for (i64 i = 0; i < is_below.size(); ++i) {
        u64 total = salt;
        for (i64 j : columns) total += mixed(cell(values(i, j)) + factors[j]);
        is_below[i] = mixed(total) < limit;
    }
}

void draw(Array<const u64> rows, u64 key, Words out) {
    for (i64 i = 0; i < rows.size(); ++i) out[i] = drawn(rows[i], key);
}

i64 draw_below(Array<const u8> kinds, Array<const u64> limits, i64 first, u64 key, Wholes out) {
    i64 count = 0;
    for (i64 i = 0; i < kinds.size(); ++i)
        if (drawn(u64(first + i), key) < limits[kinds[i]]) out[count++] = first + i;
    return count;
}

i64 keep(Array<const u64> tickets, u64 key, Array<const double> chances, Array<const double> bounds, double scale,
         Floats odds, Wholes chosen) {
    i64 count = 0;
    for (i64 i = 0; i < tickets.size(); ++i) {
        double chance = chances[i];
        if (bounds.size() > 0 && bounds[i] < chance) chance = bounds[i];
        double probability = chance / scale < 1.0 ? chance / scale : 1.0;
        if (double(drawn(tickets[i], key)) * 0x1p-53 < probability) {
            odds[count] = probability, chosen[count] = i;
            ++count;
        }
    }
    return count;
}

#define FOR_VALUES(Value)                                              \
    template void add_hashes(Strided<Value>, Array<const u64>, Words); \
    template void below_limit(Strided<Value>, Array<const i64>, Array<const u64>, u64, u64, Array<bool>);
FOR_VALUES(float)
FOR_VALUES(double)
template void add_hashes(Strided<u64>, Array<const u64>, Words);

}  // namespace pacboost
