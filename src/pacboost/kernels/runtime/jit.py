"""How a kernel is compiled: without the interpreter's lock, kept on disk for later processes.

There are two ways, and the functions of this module do not depend on which is taken: that of
numba_private.py, with the versions of numba that it was tested with, and that of numba_public.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, TypeVar, cast

from numba import config, types
from numba.extending import intrinsic

from pacboost.errors import PacboostError

if config.DISABLE_JIT:
    raise PacboostError(
        "the environment variable NUMBA_DISABLE_JIT is set, but pacboost has to compile its "
        "kernels; unset it and start Python again"
    )
compiler: Any
try:
    compiler = import_module("pacboost.kernels.runtime.numba_private")
    HAS_ENTRIES = True
except ImportError:
    compiler = import_module("pacboost.kernels.runtime.numba_public")
    HAS_ENTRIES = False
"""Whether members of a team enter kernels by an address: see entry.py and team.py."""

on_stack, prefetch = compiler.on_stack, compiler.prefetch
add, exchange, load = compiler.add, compiler.exchange, compiler.load
"""``add(array, place, value)`` adds to a number that other threads change, and gives what it was
before; ``exchange`` sets it, and gives what it was; ``load(array, place)`` reads it."""
enter, pause = compiler.enter, compiler.pause
entry_address = compiler.entry_address

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile at the first call for each combination of array types; later processes load it."""
    return cast(Function, compiler.compile_kernel(function))


def part_of_kernels(function: Function, **options: Any) -> Function:
    """Make a part that is compiled with every kernel that calls it, and that Python cannot call.

    The options are those of numba's ``njit``.
    """
    return cast(Function, compiler.compile_part(function, **options))


def team_kernel(*, allocates: bool = True) -> Callable[[Function], Function]:
    """Make a kernel that is run by teams: see team.py. Python cannot call it."""
    return partial(compiler.compile_team_kernel, allocates=allocates)


def uncounted(function: Function) -> Function:
    """Make a kernel that allocates nothing, so that no use of an array has to be counted.

    Counting takes instructions that lock memory (measured: with the passing of arrays, half of the
    time of a tree). The memory of the arrays belongs to the Python function that called.
    """
    return cast(Function, compiler.compile_kernel(function, allocates=False))


def inline(function: Function) -> Function:
    """Make a part of kernels that is compiled into each of its callers.

    Passing an array takes seven numbers, which is more than the work on a node of a few rows.
    """
    return cast(Function, compiler.compile_part(function, inlined=True))


@intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(typing: Any, bits: types.Type) -> Any:
    """Return the place of the lowest bit that is set; one has to be."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], context.get_constant(types.boolean, True))

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def bits_of(typing: Any, number: types.Type) -> Any:
    """Return the bits of a float as an integer; numba's ``view`` is compiled as a function."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(values[0], context.get_value_type(types.int64))

    return types.int64(types.float64), generate
