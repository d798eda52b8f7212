#include "bindings/arrays.h"
#include "bindings/module.h"

namespace pacboost {
namespace {
/// Meet without work between the barriers, to test how long members wait for each other.
void meet_repeatedly(const Member& member, i64 times) {
    for (i64 k = 0; k < times; ++k) meet(member);
}
}  // namespace

void bind_team(nb::module_& m) {
    def_team(m, "meet_repeatedly", meet_repeatedly, "team"_a, "times"_a,
             "Let all members of a team meet at some barriers, without work between them.");
    m.def("close_teams", close_teams, nb::call_guard<nb::gil_scoped_release>(),
          "End the threads of all teams that wait for work.");
    nb::module_::import_("atexit").attr("register")(m.attr("close_teams"));
}
}  // namespace pacboost
