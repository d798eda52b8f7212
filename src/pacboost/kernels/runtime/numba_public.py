"""Compile kernels with numba's public API alone; numba_private.py is the default.

Models have the same bytes. Compiling takes longer, numba's cache is used, and the threads of a team
are called from Python for every kernel: see PlainTeam in team.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from pacboost.kernels.runtime import Wholes, compile_note, disk_cache
from pacboost.numerics.interactive import uninterrupted


def compile_kernel(function: FunctionType, *, allocates: bool = True) -> Any:
    """Make a function that is compiled when it is first called with arguments of some types."""
    try:
        dispatcher = _dispatcher(function, cache=True)
        folder = Path(dispatcher.stats.cache_path)
        if not (disk_cache.is_safe(folder) and disk_cache.holds_safe_files(folder)):
            dispatcher = _dispatcher(function)
    except RuntimeError:
        compile_note.not_kept = compile_note.NO_FOLDER
        dispatcher = _dispatcher(function)
    compile_form = dispatcher.compile

    def compile_and_say(signature: tuple[types.Type, ...]) -> Any:
        path = dispatcher.stats.cache_path
        name = f"*.{function.__qualname__.replace('<', '').replace('>', '')}-*.nbi"
        if not dispatcher.signatures and (path is None or not any(Path(path).glob(name))):
            compile_note.say_to_a_person()
        with uninterrupted():
            return compile_form(signature)

    dispatcher.compile = compile_and_say
    return dispatcher


compile_team_kernel = compile_kernel


def compile_part(function: Callable[..., object], *, inlined: bool = False, **options: Any) -> Any:
    """Make a function that is compiled with every kernel that calls it."""
    return _dispatcher(function, **options)


def _dispatcher(function: Callable[..., object], **options: Any) -> Any:
    return njit(nogil=True, error_model="numpy", **options)(function)


on_stack = np.empty


def _change(operation: str) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def change_at(typing: Any, address: types.Type, value: types.Type) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            kind = context.get_value_type(types.CPointer(types.int64))
            at = builder.inttoptr(values[0], kind)
            return builder.atomic_rmw(operation, at, values[1], "seq_cst")

        return types.int64(types.intp, types.int64), generate

    def change(array: Wholes, place: int, value: int) -> Any:
        return change_at(array.ctypes.data + array.itemsize * place, value)

    return _dispatcher(change)


add = _change("add")
exchange = _change("xchg")


@_dispatcher
def load(array: Wholes, place: int) -> Any:
    """Read a number that other threads change."""
    return add(array, place, 0)


@_dispatcher
def pause() -> None:
    """Do nothing."""


@_dispatcher
def prefetch(array: NDArray[np.generic], place: int) -> None:
    """Do nothing."""


def enter(function: int, member: int, team: int, arguments: int) -> None:
    """Raise: kernels have no entries here."""
    raise NotImplementedError


def entry_address(body: object, kinds: tuple[types.Type, ...]) -> int:
    """Raise: the public API of numba gives no addresses."""
    raise NotImplementedError
