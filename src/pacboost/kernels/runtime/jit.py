"""How a kernel is compiled: without the interpreter's lock, kept on disk for later processes.

There are two ways, and the functions of this module do not depend on which is taken: that of
numba_private.py, with the versions of numba that it was tested with, and that of numba_public.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar, cast

try:
    from pacboost.kernels.runtime.numba_private import (
        add,
        compile_kernel,
        compile_part,
        compile_team_kernel,
        enter,
        entry_address,
        exchange,
        is_compiled,
        load,
        on_stack,
        pause,
        prefetch,
        trailing_zeros,
    )

    HAS_ENTRIES = True
except ImportError:
    from pacboost.kernels.runtime.numba_public import (
        add,
        compile_kernel,
        compile_part,
        compile_team_kernel,
        enter,
        entry_address,
        exchange,
        is_compiled,
        load,
        on_stack,
        pause,
        prefetch,
        trailing_zeros,
    )

    HAS_ENTRIES = False
"""Whether members of a team enter kernels by an address: see entry.py and plain_team.py."""

__all__ = [
    "HAS_ENTRIES",
    "add",
    "enter",
    "entry_address",
    "exchange",
    "inline",
    "is_compiled",
    "kernel",
    "load",
    "on_stack",
    "part_of_kernels",
    "pause",
    "prefetch",
    "team_kernel",
    "trailing_zeros",
    "uncounted",
]

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile at the first call for each combination of array types; later processes load it."""
    return cast(Function, compile_kernel(function))


def part_of_kernels(function: Function) -> Function:
    """Make a part that is compiled with every kernel that calls it, and that Python cannot call."""
    return cast(Function, compile_part(function))


def team_kernel(*, allocates: bool = True) -> Callable[[Function], Function]:
    """Make a kernel that is run by teams: see team.py. Python cannot call it."""
    return partial(compile_team_kernel, allocates=allocates)


# Parts of a kernel written as functions of their own, for loops over nodes of a few rows.
#
# Two things made such calls dearer than their work (measured: half of the time that a tree took).
# Handing over an array takes seven numbers, so a part is compiled into its caller. And every array
# handed over is counted in and out, by instructions that lock memory; so these kernels are
# ``uncounted``. The memory of their arrays belongs to the Python function that called them.


def uncounted(function: Function) -> Function:
    """Make a kernel that allocates nothing, so that no use of an array has to be counted."""
    return cast(Function, compile_kernel(function, allocates=False))


def inline(function: Function) -> Function:
    """Make a part of kernels that is compiled into each of its callers."""
    return cast(Function, compile_part(function, inlined=True))
