/// Teams of threads that stay inside compiled code: how members share work and wait for each other.
///
/// A kernel of a team takes a `Member` first. Every member runs the same function on its share; at a
/// barrier (`meet`) they wait for each other, which takes a microsecond. The results never depend on
/// the size of the team: shares write separate parts, and sums are of whole numbers or in one order.
#pragma once

#include <atomic>

#include "core/array.h"

namespace pacboost {

/// Numbers that members write while they work lie so many apart: cores that write to one cache line
/// take it from each other every time.
constexpr i64 LINE = 16;
constexpr i64 MAX_MEMBERS = 256;

/// Numbers that the members of a team share, each in a line of its own.
struct Board {
    alignas(128) std::atomic<i64> arrived{0};
    alignas(128) std::atomic<i64> phase{0};
    /// Not 0 once Ctrl-C was pressed: kernels that may take long look at it.
    alignas(128) std::atomic<i64> stop{0};
    /// The next piece of work that nobody has taken.
    alignas(128) std::atomic<i64> ticket{0};
};

struct Member {
    i64 number, team;
    Board* board;
};

/// Wait until all members have arrived, and return true for the last one, which must `release` the
/// others. Between the two calls it does what only one member may do.
bool last_to_arrive(const Member& member);
void release(const Member& member);
inline void meet(const Member& member) {
    if (member.team > 1 && last_to_arrive(member)) release(member);
}

/// Stop early on Ctrl-C: called by kernels that may take long, at every step, by all members.
void look_for_interrupt(const Member& member);

/// Where a share begins and ends.
struct Span {
    i64 first, last;
};
INLINE Span share(i64 size, i64 piece, i64 pieces) { return {size * piece / pieces, size * (piece + 1) / pieces}; }
INLINE Span own_share(i64 size, const Member& member) { return share(size, member.number, member.team); }
/// The share of a member, cut between spans of a fixed size.
INLINE Span share_of_spans(i64 size, i64 span, const Member& member) {
    auto [first, last] = own_share((size + span - 1) / span, member);
    return {std::min(size, first * span), std::min(size, last * span)};
}

using Body = void (*)(void* work, const Member& member);

/// Run `body` with a team of at most `size` threads, the calling one among them. `poll` is called now
/// and then by kernels that look for interrupts; if it returns true, they stop.
void run_team(i64 size, Body body, void* work, bool (*poll)() = nullptr);

template <class Work>
void run_team(i64 size, Work&& work, bool (*poll)() = nullptr) {
    run_team(
        size, [](void* w, const Member& member) { (*static_cast<std::remove_reference_t<Work>*>(w))(member); }, &work,
        poll);
}

/// Whether members have mostly waited for each other: in `wall` seconds, all computed `used` seconds.
bool is_to_be_halved(i64 size, double wall, double used);

/// End the threads of all teams that wait for work.
void close_teams();

}  // namespace pacboost
