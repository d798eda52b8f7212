"""Atomic numbers in arrays of 64-bit integers, and calls of compiled functions by their address.

numba has neither, so these are written as LLVM instructions. All of them are sequentially
consistent: what a thread wrote before such an instruction is seen by every thread that has seen the
instruction's own result.
"""

from __future__ import annotations

import platform
import sys
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

WORD = ir.IntType(64)
ENTRY = ir.FunctionType(ir.VoidType(), [WORD, WORD, WORD])
ON_X86 = platform.machine().lower() in ("x86_64", "amd64")

give_way = types.ExternalFunction(
    "SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32()
)
"""Let another thread run on this core."""


def _place(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    array = make_array(signature.args[0])(context, builder, values[0])
    return builder.gep(array.data, [values[1]])


def _change(operation: str) -> Any:
    def typed(typing: Any, array: Any, place: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            at = _place(context, builder, signature, values)
            return builder.atomic_rmw(operation, at, values[2], "seq_cst")

        return types.int64(array, types.intp, types.int64), generate

    return intrinsic(typed)


add = _change("add")
"""``add(array, place, value)`` adds to a number and gives what it was before."""
exchange = _change("xchg")
"""``exchange(array, place, value)`` sets a number and gives what it was before."""


@intrinsic  # type: ignore[untyped-decorator]
def load(typing: Any, array: Any, place: Any) -> Any:
    """Read a number that other threads change."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load_atomic(_place(context, builder, signature, values), "seq_cst", 8)

    return types.int64(array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def pause(typing: Any) -> Any:
    """Tell the processor, where it listens, that this thread is waiting in a loop."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if ON_X86:
            nothing = ir.FunctionType(ir.VoidType(), [])
            name = "llvm.x86.sse2.pause"
            builder.call(cgutils.get_or_insert_function(builder.module, nothing, name), [])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic  # type: ignore[untyped-decorator]
def enter(typing: Any, function: Any, member: Any, team: Any, arguments: Any) -> Any:
    """Call the kernel whose entry and arguments have these addresses."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        callee = builder.inttoptr(values[0], ENTRY.as_pointer())
        builder.call(callee, list(values[1:]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), generate
