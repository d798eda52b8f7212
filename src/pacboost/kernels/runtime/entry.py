"""How Python calls a kernel of a team: arguments are written to memory, and each member reads them.

Every kernel has an *entry*, a small function compiled with it that takes the number of a member,
the size of the team, and the address of the arguments; so all kernels are entered in the same way.
An argument takes eight bytes: a number, or the address of NumPy's array object, from which the
entry reads the address of the data, the shape and the strides. Python writes them; a compiled
function for that would have to be compiled for every kernel.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import typeof, types

from pacboost.kernels.runtime import Wholes, jit

LAYOUT = 0x1 | 0x2 | 0x100 | 0x400
"""NumPy's flags of arrays that a numba type depends on: order, alignment, writable."""


class Member(NamedTuple):
    """One of the threads that run a kernel together."""

    number: int
    team: int
    board: Wholes


Body = Callable[..., None]
"""A kernel that takes a ``Member`` and arguments."""


CALL = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3)


class KernelEntry(NamedTuple):
    """The address of an entry, the layout of its arguments, and a function that calls it."""

    address: int
    layout: struct.Struct
    call: Callable[[int, int, int], None]


_entries: dict[Any, KernelEntry] = {}


def entry_of(body: Body, arguments: tuple[Any, ...]) -> tuple[KernelEntry, list[Any]]:
    """Return the entry of a kernel, compiled if needed, and the words to write for its arguments.

    Small fits spend much of their time here.
    """
    key: list[Any] = [body]
    words: list[Any] = []
    _read(arguments, key, words)
    entry = _entries.get(tuple(key))
    if entry is None:
        kinds = _kinds(arguments)
        layout = struct.Struct("Q" + "".join(_format(kind) for kind in kinds[1:]))
        address = jit.entry_address(body, kinds)
        entry = _entries[tuple(key)] = KernelEntry(address, layout, CALL(address))
    return entry, words


def _kinds(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(map(typeof, (Member(0, 1, arguments[0]), *arguments[1:])))


def _read(values: tuple[Any, ...], key: list[Any], words: list[Any]) -> None:
    """Append what the types of arguments depend on to ``key``; faster than numba's ``typeof``.

    An array is written as the address of its object.
    """
    for value in values:
        kind = type(value)
        if kind is np.ndarray or isinstance(value, np.ndarray):
            key += value.dtype.num, value.ndim, value.flags.num & LAYOUT
            words.append(id(value))
        elif isinstance(value, tuple):
            key += kind, len(value)
            _read(value, key, words)
        else:
            key.append(kind)
            if value is not None:
                words.append(value)


def _format(kind: types.Type) -> str:
    """Return the letters of ``struct`` for an argument."""
    if isinstance(kind, types.BaseTuple):
        return "".join(_format(part) for part in kind)
    if isinstance(kind, types.NoneType):
        return ""
    if isinstance(kind, types.Boolean):
        return "?7x"
    if isinstance(kind, types.Float):
        return "d"
    return "q" if isinstance(kind, types.Integer) and kind.signed else "Q"
