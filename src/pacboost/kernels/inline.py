"""Parts of a kernel written as functions of their own, for loops over nodes of a few rows.

Two things made such calls dearer than their work (measured: half of the time that a tree took).
Handing over an array takes seven numbers, so a part is compiled into its caller. And every array
handed over is counted in and out, by instructions that lock memory; so kernels work on bare arrays,
which are not counted. Their memory belongs to the Python function that called the kernel.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from pacboost.kernels.jit import Function, part_of_kernels


def inline(function: Function) -> Function:
    """Make a part of kernels; it has no entry for Python to call it by."""
    return part_of_kernels(function, forceinline=True)


@intrinsic  # type: ignore[untyped-decorator]
def bare(typing: Any, array: Any) -> Any:
    """Give an argument of a kernel as an array that is not counted."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        given = make_array(array)(context, builder, values[0])
        given.meminfo = cgutils.get_null_value(given.meminfo.type)
        given.parent = cgutils.get_null_value(given.parent.type)
        return given._getvalue()

    return array(array), generate


@intrinsic  # type: ignore[untyped-decorator]
def on_stack(typing: Any, shape: Any, dtype: Any) -> Any:
    """Give an array of this shape, a tuple, that lives until the function returns.

    It is not initialised and not counted, so kernels that are not to allocate may have it.
    """
    array = types.Array(dtype.dtype, len(shape), "C")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        made = make_array(array)(context, builder)
        sizes = cgutils.unpack_tuple(builder, values[0])
        width = context.get_constant(types.intp, dtype.dtype.bitwidth // 8)
        strides: list[Any] = []
        total = context.get_constant(types.intp, 1)
        for size in reversed(sizes):
            strides.insert(0, builder.mul(total, width))
            total = builder.mul(total, size)
        data = builder.alloca(context.get_data_type(dtype.dtype), total)
        populate_array(made, data, sizes, strides, width, None)
        return made._getvalue()

    return array(shape, dtype), generate


@intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(typing: Any, bits: Any) -> Any:
    """Give the place of the lowest bit that is set; one has to be."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], cgutils.true_bit)

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def multiply_high(typing: Any, a: Any, b: Any) -> Any:
    """Give the upper 64 of the 128 bits of a product."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(value, wide) for value in values))
        return builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate
