/// The extension: one module for each level of processors, with the same functions.
#include "bindings/module.h"

#include "bindings/arrays.h"
#include "core/levels.h"

namespace pacboost {
namespace {
thread_local bool is_interrupted = false;
}

bool poll_python() {
    nb::gil_scoped_acquire held;
    if (!is_interrupted && PyErr_CheckSignals() != 0) {
        PyErr_Clear();
        is_interrupted = true;
    }
    return is_interrupted;
}

void raise_if_stopped() {
    if (!is_interrupted) return;
    is_interrupted = false;
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
}
}  // namespace pacboost

NB_MODULE(PACBOOST_MODULE, m) {
    using namespace pacboost;
    m.doc() = "Kernels of pacboost, compiled for one level of processors.";
    m.attr("LINE") = LINE;
    m.attr("MAX_MEMBERS") = MAX_MEMBERS;
    m.def("level_of_processor", level_of_processor,
          "Return the highest level that this processor has; 0 if it is not x86-64.");
    nb::module_ testing = m.def_submodule("testing", "What tests alone call.");
    bind_core(m);
    bind_rounds(m);
    bind_team(m, testing);
    bind_forest(m);
    bind_sparse(m);
    bind_tree(m);
    bind_rows(m);
    bind_stumps(m, testing);
    bind_monitor(m);
    bind_words(m, testing);
}
