/// Draw the rows that a tree is grown on, in spans that the members of a team divide.
///
/// Each span of consecutive rows gets its part of the draw, to within one row. Within a span, every set
/// of so many rows is equally likely, and selection sampling (Knuth 1997, 3.4.2, algorithm S) finds it in
/// ascending order. The random number of a row depends on the key and the row alone, so the draw is the
/// same for any number of members.
#pragma once

#include "core/hash.h"
#include "team/team.h"

namespace pacboost {

constexpr i64 ROWS_PER_DRAWN_SPAN = 1024;

/// Draw this member's spans, and write their rows.
template <class Row>
void draw_share(const Member& member, i64 key, i64 rows, Array<Row> chosen) {
    const i64 spans = std::max<i64>(1, rows / ROWS_PER_DRAWN_SPAN);  // the last one also has the remaining rows
    auto [first, last] = own_share(spans, member);
    i64 row = first * ROWS_PER_DRAWN_SPAN;
    i64 place = row * chosen.size() / rows;
    const u64 start = mixed(u64(key));
    for (i64 span = first; span < last; ++span) {
        const i64 stop = span == spans - 1 ? rows : (span + 1) * ROWS_PER_DRAWN_SPAN;
        const i64 end = stop * chosen.size() / rows;
        while (place < end) {
            i64 number = i64(mixed(start + u64(row) * STEP) >> 32);
            chosen[place] = Row(row);
            place += (number * (stop - row)) >> 32 < end - place;
            row += 1;
        }
        row = stop;
    }
}

/// Draw as many of the rows 0, 1, … as `chosen` holds, in ascending order.
inline void draw(const Member& member, i64 key, i64 rows, Wholes chosen) { draw_share(member, key, rows, chosen); }

}  // namespace pacboost
