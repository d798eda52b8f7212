"""How Python calls a kernel of a team: arguments are written to memory, and each member reads them.

Every kernel has an *entry*, a small function compiled with it that takes the number of a member,
the size of the team, and the address of the arguments; so all kernels are entered in the same way.
An argument takes eight bytes: a number, or the address of NumPy's array object, in which the entry
finds the address of the data, the shape and the strides. To write them is a matter of Python alone;
a compiled function that took these arguments would have to be compiled for every kernel.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from pacboost.kernels.runtime import Wholes
from pacboost.kernels.runtime.lean_compiler import KernelLowering, LeanCompiler

WORD = ir.IntType(64)
BYTE = ir.IntType(8)
ENTRY = ir.FunctionType(ir.VoidType(), [WORD, WORD, WORD])
ARRAY_FIELDS = object.__basicsize__
"""Where the fields of an array object begin: PyArrayObject_fields in NumPy's C API."""
DATA, DIMENSIONS, STRIDES = (ARRAY_FIELDS + offset for offset in (0, 16, 24))
LAYOUT = 0x1 | 0x2 | 0x100 | 0x400
"""NumPy's flags of arrays that a type depends on: both kinds of order, alignment, writable."""


class Member(NamedTuple):
    """One of the threads that run a kernel together, as the kernel knows it."""

    number: int
    team: int
    """How many there are."""
    board: Wholes


Body = Callable[..., None]
"""A kernel that takes a ``Member`` and arguments."""


class ArgumentReader:
    """Writes the instructions that read arguments, one after the other, from an address."""

    def __init__(self, context: Any, builder: Any, address: Any) -> None:
        self._context = context
        self._builder = builder
        self._address = address
        self._read = 0

    def argument(self, kind: Any) -> Any:
        """Read an argument of a numba type; a tuple is its parts in their order."""
        if isinstance(kind, types.BaseTuple):
            parts = [self.argument(part) for part in kind]
            return self._context.make_tuple(self._builder, kind, parts)
        if isinstance(kind, types.NoneType):
            return self._context.get_dummy_value()
        at = self._builder.add(self._address, WORD(8 * self._read))
        self._read += 1
        if isinstance(kind, types.Array):
            return self._array(kind, self._load(at, WORD))
        if isinstance(kind, types.Float):
            return self._load(at, ir.DoubleType())
        if isinstance(kind, types.Boolean):
            return self._builder.trunc(self._load(at, BYTE), ir.IntType(1))
        return self._builder.trunc(self._load(at, WORD), ir.IntType(kind.bitwidth))

    def _load(self, at: Any, kind: Any) -> Any:
        return self._builder.load(self._builder.inttoptr(at, kind.as_pointer()))

    def _array(self, kind: Any, found: Any) -> Any:
        """Make an array, whose memory is not counted, of an array object."""

        def field(offset: int) -> Any:
            return self._load(self._builder.add(found, WORD(offset)), WORD)

        def numbers(first: Any) -> list[Any]:
            places = (self._builder.add(first, WORD(8 * k)) for k in range(kind.ndim))
            return [self._load(place, WORD) for place in places]

        made = make_array(kind)(self._context, self._builder)
        item = self._context.get_data_type(kind.dtype)
        populate_array(
            made,
            data=self._builder.inttoptr(field(DATA), item.as_pointer()),
            shape=numbers(field(DIMENSIONS)),
            strides=numbers(field(STRIDES)),
            itemsize=WORD(self._context.get_abi_sizeof(item)),
            meminfo=None,
        )
        return made._getvalue()


class TeamLower(Lower):  # type: ignore[misc]
    """Translates a kernel to LLVM, with an entry in place of a function to be called from C."""

    def create_cfunc_wrapper(self) -> None:
        """Write the entry."""
        context, described = self.context, self.fndesc
        module = context.create_module("entry")
        convention = context.call_conv.get_function_type(described.restype, described.argtypes)
        kernel = ir.Function(module, convention, described.llvm_func_name)
        entry = ir.Function(module, ENTRY, described.llvm_cfunc_wrapper_name)
        builder = ir.IRBuilder(entry.append_basic_block())
        member, team, address = entry.args
        reader = ArgumentReader(context, builder, address)
        kinds = described.argtypes
        parts = [member, team, reader.argument(kinds[0][2])]
        given = [
            context.make_tuple(builder, kinds[0], parts),
            *(reader.argument(kind) for kind in kinds[1:]),
        ]
        context.call_conv.call_function(
            builder, kernel, described.restype, kinds, given, attrs=("noinline",)
        )
        builder.ret_void()
        self.library.add_ir_module(module)


@register_pass(mutates_CFG=True, analysis_only=False)
class TeamLowering(KernelLowering):
    """The pass that translates a kernel of a team to LLVM."""

    _name = "pacboost_team_lowering"
    lowering_class = TeamLower


class TeamCompiler(LeanCompiler):
    """Compiles a kernel of a team."""

    lowering = TeamLowering


class Bundle:
    """A tuple of arguments that many calls share: what is to be written of it is read once."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values
        self.key: list[Any] = []
        self.words: list[Any] = []
        _read((values,), self.key, self.words)


CALL = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3)


class KernelEntry(NamedTuple):
    """The address of an entry, how its arguments are written, and a call without a team."""

    address: int
    layout: struct.Struct
    call: Callable[[int, int, int], None]


_entries: dict[Any, KernelEntry] = {}


def entry_of(body: Any, arguments: tuple[Any, ...]) -> tuple[KernelEntry, list[Any]]:
    """Return the entry of a kernel for such arguments, and what is written of them.

    The kernel is compiled where it is not yet. Small fits spend much of their time here.
    """
    key: list[Any] = [body]
    words: list[Any] = []
    _read(arguments, key, words)
    known = _entries.get(tuple(key))
    if known is None:
        kinds = _kinds(arguments)
        layout = struct.Struct("Q" + "".join(_format(kind) for kind in kinds[1:]))
        address = _compiled(body, kinds)
        known = _entries[tuple(key)] = KernelEntry(address, layout, CALL(address))
    return known, words


def is_compiled(body: Any, arguments: tuple[Any, ...]) -> bool:
    """Check whether a kernel is compiled for such arguments, in memory or on disk."""
    key: list[Any] = [body]
    _read(arguments, key, [])
    if tuple(key) in _entries:
        return True
    kinds = _kinds(arguments)
    return kinds in body.overloads or body._cache.load_overload(kinds, body.targetctx) is not None


def _kinds(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    values: list[Any] = [value.values if type(value) is Bundle else value for value in arguments]
    return tuple(map(typeof, (Member(0, 1, values[0]), *values[1:])))


def _read(values: tuple[Any, ...], key: list[Any], words: list[Any]) -> None:
    """Note what the types of arguments depend on; faster than numba's own question for them.

    An array is written as the address of its object.
    """
    for value in values:
        kind = type(value)
        if kind is np.ndarray or isinstance(value, np.ndarray):
            key += value.dtype.num, value.ndim, value.flags.num & LAYOUT
            words.append(id(value))
        elif kind is Bundle:
            key += value.key
            words += value.words
        elif isinstance(value, tuple):
            key += kind, len(value)
            _read(value, key, words)
        else:
            key.append(kind)
            if value is not None:
                words.append(value)


def _format(kind: Any) -> str:
    """Return how an argument is written, in the letters of ``struct``."""
    if isinstance(kind, types.BaseTuple):
        return "".join(_format(part) for part in kind)
    if isinstance(kind, types.NoneType):
        return ""
    if isinstance(kind, types.Boolean):
        return "?7x"
    if isinstance(kind, types.Float):
        return "d"
    return "q" if isinstance(kind, types.Integer) and kind.signed else "Q"


def _compiled(body: Any, kinds: tuple[Any, ...]) -> int:
    """Compile a kernel, or load it; give the address of its entry."""
    body.compile(kinds)
    found = body.overloads[kinds]
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_cfunc_wrapper_name))


# Kernels that other kernels call by their address, so that each is compiled on its own.
#
# What a kernel calls by its name is compiled with it, again for every kernel that does so. What it
# calls by an address is compiled once, and by another process meanwhile: see compile_helper.py.


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
