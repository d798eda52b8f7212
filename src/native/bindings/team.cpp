#include "bindings/arrays.h"
#include "bindings/module.h"

namespace pacboost {
namespace {

/// Add shares of the numbers to `sums[1 + member]`, and all of these to `sums[0]`, once for each phase.
void add_up(const Member& member, Array<const i64> numbers, Wholes sums, i64 phases) {
    for (i64 phase = 0; phase < phases; ++phase) {
        auto [first, last] = own_share(numbers.size(), member);
        i64 own = 0;
        for (i64 k = first; k < last; ++k) own += numbers[k];
        sums[1 + member.number] = own;
        if (last_to_arrive(member)) {
            for (i64 k = 0; k < member.team; ++k) sums[0] += sums[1 + k];
            release(member);
        }
    }
}

/// Meet again and again until Ctrl-C; `meetings[0]` counts.
void meet_until_stopped(const Member& member, Wholes meetings) {
    bool goes_on = true;
    while (goes_on) {
        look_for_interrupt(member);
        if (last_to_arrive(member)) {
            meetings[0] += 1;
            meetings[1] = member.board->stop.load();
            release(member);
        }
        goes_on = meetings[1] == 0;
        meet(member);
    }
}

}  // namespace

void bind_team(nb::module_& m, nb::module_& testing) {
    testing.def("is_to_be_halved", is_to_be_halved, "size"_a, "wall"_a, "used"_a,
                "Check whether a team has mostly waited: seconds that passed, and those that all members computed.");
    def_team(testing, "add_up", add_up, "team"_a, "numbers"_a, "sums"_a, "phases"_a,
             "Add up numbers in phases with barriers between them.");
    def_long_team(testing, "meet_until_stopped", meet_until_stopped, "team"_a, "meetings"_a, "Meet until Ctrl-C.");
    // Threads of teams must not outlive the interpreter.
    nb::module_::import_("atexit").attr("register")(
        nb::cpp_function(close_teams, nb::scope(m), nb::call_guard<nb::gil_scoped_release>()));
}
}  // namespace pacboost
