/// What each folder of kernels adds to the module, or to `testing`: functions that tests alone call.
#pragma once

#include <nanobind/nanobind.h>

namespace pacboost {
void bind_core(nanobind::module_& m);
void bind_rounds(nanobind::module_& m);
void bind_team(nanobind::module_& m, nanobind::module_& testing);
void bind_forest(nanobind::module_& m);
void bind_sparse(nanobind::module_& m);
void bind_tree(nanobind::module_& m);
void bind_rows(nanobind::module_& m);
void bind_stumps(nanobind::module_& m, nanobind::module_& testing);
void bind_monitor(nanobind::module_& m);
void bind_words(nanobind::module_& m, nanobind::module_& testing);
}  // namespace pacboost
