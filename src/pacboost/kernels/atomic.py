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
ARGUMENT_WORDS = 1_024
"""The most words that the arguments of a kernel take."""
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
def entry(typing: Any, function: Any, held: Any, arguments: Any) -> Any:
    """Write arguments to an array, and give the address by which any thread can ``enter`` a kernel.

    The kernel takes the number of the team's member, the size of the team, and the arguments; it
    returns nothing. ``function`` is its address, see kernels/team.py: so that what is called need
    not be compiled into its caller once more.
    """
    inner = (types.int64, types.int64, *arguments.types)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        given = cgutils.pack_struct(builder, [values[0], values[2]])
        if context.get_abi_sizeof(given.type) > 8 * ARGUMENT_WORDS:
            raise TypeError(f"arguments of a team take more than {ARGUMENT_WORDS} words")
        place = make_array(signature.args[1])(context, builder, values[1]).data
        builder.store(given, builder.bitcast(place, given.type.as_pointer()), align=8)
        module = builder.module
        wrapper = ir.Function(module, ENTRY, module.get_unique_name("entry"))
        wrapper.linkage = "internal"
        inside = ir.IRBuilder(wrapper.append_basic_block())
        member, team, address = wrapper.args
        read = inside.load(inside.inttoptr(address, given.type.as_pointer()), align=8)
        convention = context.call_conv
        kind = convention.get_function_type(types.none, inner)
        callee = inside.inttoptr(inside.extract_value(read, 0), kind.as_pointer())
        own = [member, team, *cgutils.unpack_tuple(inside, inside.extract_value(read, 1))]
        flat = context.get_arg_packer(inner).as_arguments(inside, own)
        outputs = [cgutils.alloca_once(inside, part.pointee) for part in kind.args[:2]]
        inside.call(callee, [*outputs, *flat])
        inside.ret_void()
        return builder.ptrtoint(wrapper, WORD)

    return types.int64(types.int64, held, arguments), generate


@intrinsic  # type: ignore[untyped-decorator]
def enter(typing: Any, function: Any, member: Any, team: Any, arguments: Any) -> Any:
    """Call the kernel whose entry and arguments have these addresses."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        callee = builder.inttoptr(values[0], ENTRY.as_pointer())
        builder.call(callee, list(values[1:]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), generate
