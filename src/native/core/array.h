/// Arrays that Python owns, as kernels see them: an address and a shape.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/scalar.h"

namespace pacboost {

using i8 = std::int8_t;
using i32 = std::int32_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;

#ifdef PACBOOST_CHECKED
inline void check_index(i64 i, i64 size) {
    if (i < 0 || i >= size) {
        std::fprintf(stderr, "index %lld of %lld\n", (long long)i, (long long)size);
        std::abort();
    }
}
#else
INLINE void check_index(i64, i64) {}
#endif

/// A C-ordered array of N axes. `const T` is for arrays that a kernel only reads.
template <class T, int N = 1>
struct Array {
    using Element = T;
    T* data;
    i64 shape[N];

    INLINE i64 size() const {
        i64 total = 1;
        for (int k = 0; k < N; ++k) total *= shape[k];
        return total;
    }
    /// The number of elements from one entry of the first axis to the next.
    INLINE i64 step() const {
        i64 total = 1;
        for (int k = 1; k < N; ++k) total *= shape[k];
        return total;
    }
    /// An element, or the array of all that have this index on the first axis.
    INLINE decltype(auto) operator[](i64 i) const {
        check_index(i, shape[0]);
        if constexpr (N == 1) {
            return (data[i]);
        } else {
            Array<T, N - 1> part;
            part.data = data + i * step();
            for (int k = 1; k < N; ++k) part.shape[k - 1] = shape[k];
            return part;
        }
    }
    template <class... Rest>
    INLINE decltype(auto) operator()(i64 i, Rest... rest) const {
        if constexpr (sizeof...(rest) == 0)
            return (*this)[i];
        else
            return (*this)[i](rest...);
    }
    /// Entries a to before b of the first axis; the ends are clipped, as in Python.
    INLINE Array slice(i64 a, i64 b) const {
        a = std::min(a, shape[0]);
        b = std::max(a, std::min(b, shape[0]));
        Array part = *this;
        part.data += a * step();
        part.shape[0] = b - a;
        return part;
    }
    /// All elements along one axis.
    INLINE Array<T> flat() const { return {data, {size()}}; }
    INLINE T* begin() const { return data; }
    INLINE T* end() const { return data + size(); }
    INLINE operator Array<const T, N>() const
        requires(!std::is_const_v<T>)
    {
        Array<const T, N> same;
        same.data = data;
        for (int k = 0; k < N; ++k) same.shape[k] = shape[k];
        return same;
    }
};

/// An array whose elements are of one of some types; which one is known when a kernel is called.
///
/// A loop over a tile of rows is compiled for each (`visit`), what comes before and after it once.
template <int N, class... T>
struct AnyArray {
    const void* data;
    i64 shape[N];
    int type;  // its place in T

    AnyArray() = default;
    template <class U>
    INLINE AnyArray(Array<U, N> array) : data(array.data), type(place_of<U>()) {
        std::copy_n(array.shape, N, shape);
    }
    INLINE i64 size() const {
        i64 total = 1;
        for (i64 each : shape) total *= each;
        return total;
    }
    /// Call a function with the array of its type.
    template <class Task>
    INLINE void visit(const Task& task) const {
        int place = 0;
        ((place++ == type ? task(as<T>()) : void()), ...);
    }

 private:
    template <class U>
    static constexpr int place_of() {
        int place = -1, k = 0;
        ((std::is_same_v<const U, const T> ? void(place = k++) : void(++k)), ...);
        return place;
    }
    template <class U>
    INLINE Array<U, N> as() const {
        Array<U, N> array;
        array.data = const_cast<U*>(static_cast<const U*>(data));
        std::copy_n(shape, N, array.shape);
        return array;
    }
};

/// A matrix of any order, which a kernel only reads.
template <class T>
struct Strided {
    const char* data;
    i64 shape[2], strides[2];  // strides in bytes
    INLINE T operator()(i64 i, i64 j) const {
        check_index(i, shape[0]);
        check_index(j, shape[1]);
        return *reinterpret_cast<const T*>(data + i * strides[0] + j * strides[1]);
    }
};

using Wholes = Array<i64>;
using Floats = Array<double>;
using Bytes = Array<u8>;
using Signs = Array<i8>;
using Rows = Array<u32>;
using Words = Array<u64>;
/// The cell of each row: a leaf of a tree, a side of a stump.
using Cells = AnyArray<1, const u8, const u16, const u32>;
/// Pulls (rows, outputs), or signs that multiply weights.
using Pulls = AnyArray<2, const i8, const i64>;

/// An array over memory on the stack.
template <class T, std::size_t N>
INLINE Array<T> array_on(T (&memory)[N]) {
    return {memory, {i64(N)}};
}

INLINE void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

}  // namespace pacboost
