/// How NumPy's arrays and tuples of them become arguments of kernels; types are checked here.
///
/// An array must have the element type and the number of axes of the parameter, and C order. A
/// parameter of constant elements takes arrays that are read-only, too. A struct is read from a
/// tuple (in Python a `NamedTuple`) with one entry for each of its members, in their order.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "core/array.h"
#include "team/team.h"

namespace nb = nanobind;
using namespace nb::literals;

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)

template <class T, int N>
struct type_caster<pacboost::Array<T, N>> {
    using View = ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
    using Here = pacboost::Array<T, N>;
    NB_TYPE_CASTER(Here, make_caster<View>::Name)

    bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
        make_caster<View> view;
        if (!view.from_python(source, flags & ~uint8_t(cast_flags::convert), cleanup)) return false;
        value.data = view.value.data();
        for (int k = 0; k < N; ++k) value.shape[k] = pacboost::i64(view.value.shape(k));
        return true;
    }
};

template <int N, class... T>
struct type_caster<pacboost::AnyArray<N, T...>> {
    // an array that may be written has to be asked for as such
    static constexpr bool IS_READ = (std::is_const_v<T> && ...);
    using View = std::conditional_t<IS_READ, ndarray<ro, nb::ndim<N>, nb::c_contig, nb::device::cpu>,
                                    ndarray<nb::ndim<N>, nb::c_contig, nb::device::cpu>>;
    using Here = pacboost::AnyArray<N, T...>;
    NB_TYPE_CASTER(Here, make_caster<View>::Name)

    bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
        make_caster<View> view;
        if (!view.from_python(source, flags & ~uint8_t(cast_flags::convert), cleanup)) return false;
        value.data = view.value.data();
        for (int k = 0; k < N; ++k) value.shape[k] = pacboost::i64(view.value.shape(k));
        int place = 0, found = -1;
        ((view.value.dtype() == nb::dtype<std::remove_const_t<T>>() ? void(found = place++) : void(++place)), ...);
        value.type = found;
        return found >= 0;
    }
};

template <class T>
struct type_caster<pacboost::Strided<T>> {
    using View = ndarray<const T, nb::ndim<2>, nb::device::cpu>;
    using Here = pacboost::Strided<T>;
    NB_TYPE_CASTER(Here, make_caster<View>::Name)

    bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
        make_caster<View> view;
        if (!view.from_python(source, flags & ~uint8_t(cast_flags::convert), cleanup)) return false;
        value.data = reinterpret_cast<const char*>(view.value.data());
        for (int k = 0; k < 2; ++k) {
            value.shape[k] = pacboost::i64(view.value.shape(k));
            value.strides[k] = pacboost::i64(view.value.stride(k)) * pacboost::i64(sizeof(T));
        }
        return true;
    }
};

/// Reads a struct from a tuple: `template <> struct type_caster<S> : tuple_caster<S, &S::a, &S::b> {};`
template <class S, auto... Members>
struct tuple_caster {
    NB_TYPE_CASTER(S, const_name("tuple"))

    bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
        if (!PyTuple_Check(source.ptr()) || PyTuple_Size(source.ptr()) != sizeof...(Members)) return false;
        Py_ssize_t place = 0;
        return (read<Members>(source, place++, flags, cleanup) && ...);
    }

 private:
    template <auto M>
    bool read(handle source, Py_ssize_t place, uint8_t flags, cleanup_list* cleanup) noexcept {
        using Field = std::remove_reference_t<decltype(value.*M)>;
        make_caster<Field> field;
        if (!field.from_python(PyTuple_GetItem(source.ptr(), place), flags, cleanup)) return false;
        value.*M = field.operator cast_t<Field>();
        return true;
    }
};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)

namespace pacboost {

/// Define a function of Python that runs without the interpreter's lock.
template <class Result, class... A, class... Extra>
void def(nb::module_& m, const char* name, Result (*function)(A...), const Extra&... extra) {
    m.def(
        name, [function](A... arguments) -> Result { return function(arguments...); },
        nb::call_guard<nb::gil_scoped_release>(), extra...);
}

/// Define a function of Python that runs a kernel with a team; its first argument is the size.
template <class... A, class... Extra>
void def_team(nb::module_& m, const char* name, void (*kernel)(const Member&, A...), const Extra&... extra) {
    m.def(
        name,
        [kernel](i64 size, A... arguments) {
            run_team(size, [&](const Member& member) { kernel(member, arguments...); });
        },
        nb::call_guard<nb::gil_scoped_release>(), extra...);
}

/// Returns true if Python wants to stop, for `run_team`; the exception is raised by `raise_if_stopped`.
bool poll_python();
void raise_if_stopped();

/// As `def_team`, for kernels that may take long: they end early on Ctrl-C, which is raised then.
template <class... A, class... Extra>
void def_long_team(nb::module_& m, const char* name, void (*kernel)(const Member&, A...), const Extra&... extra) {
    m.def(
        name,
        [kernel](i64 size, A... arguments) {
            {
                nb::gil_scoped_release released;
                run_team(size, [&](const Member& member) { kernel(member, arguments...); }, poll_python);
            }
            raise_if_stopped();
        },
        extra...);
}

}  // namespace pacboost
