"""Kernels that other kernels call by their address, so that each is compiled on its own.

What a kernel calls by its name is compiled with it, again for every kernel that does so. What it
calls by an address is compiled once, and by another process meanwhile: see compile_helper.py.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def address_of(body: Any, kinds: tuple[Any, ...]) -> int:
    """Compile a kernel for arguments of these types, or load it; give the address of its code."""
    body.compile(kinds)
    found = body.overloads[kinds]
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


def caller(result: Any, kinds: tuple[Any, ...]) -> Any:
    """Make a function for kernels: it calls what is at an address, with arguments of these types.

    The kernel that is called must not raise.
    """

    def typed(typing: Any, address: Any, *arguments: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            convention = context.call_conv
            kind = convention.get_function_type(result, kinds)
            callee = builder.inttoptr(values[0], kind.as_pointer())
            given = cgutils.unpack_tuple(builder, values[1])
            return convention.call_function(builder, callee, result, kinds, given)[1]

        return result(types.int64, types.StarArgTuple(kinds)), generate

    return intrinsic(typed)
