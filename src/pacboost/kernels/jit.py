"""How a kernel is compiled: without the interpreter's lock, cached beside its source.

While the first one is compiled, a note says so to a person who waits. Kernels that are loaded from
the cache come without a note.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast

import numba
from numba.core import event

from pacboost.kernels import compile_note
from pacboost.kernels.disk_cache import keep_on_disk
from pacboost.kernels.entry import TeamCompiler
from pacboost.kernels.lean_compiler import LEAN, LeanCompiler, PartCompiler

Function = TypeVar("Function", bound=Callable[..., object])


class CompileNote(event.Listener):  # type: ignore[misc]
    """Hears of everything that numba compiles in this process, and of nothing that it loads.

    Meanwhile garbage is not collected: to look through all that the compiler holds makes it a fifth
    slower.
    """

    def __init__(self) -> None:
        self._under_way = 0
        self._collects = False

    def on_start(self, found: Any) -> None:
        """Write the note if it is a kernel of ours."""
        if self._under_way == 0:
            self._collects = gc.isenabled()
            gc.disable()
        self._under_way += 1
        function = getattr(found.data.get("dispatcher"), "py_func", None)
        if str(getattr(function, "__module__", "")).startswith("pacboost."):
            compile_note.say_to_a_person()

    def on_end(self, found: Any) -> None:
        """Collect garbage again."""
        self._under_way -= 1
        if self._under_way == 0 and self._collects:
            gc.enable()


event.register("numba:compile", CompileNote())


def _compiled(function: Function, **options: Any) -> Function:
    options = {"pipeline_class": LeanCompiler, "no_cfunc_wrapper": True, **options}
    made: Function = numba.njit(nogil=True, error_model="numpy", **options)(function)
    return made


def kernel(function: Function, **options: Any) -> Function:
    """Compile at the first call for each combination of array types; later processes load it.

    Kernels that call it link a part made of the same function, and not what Python calls. LLVM
    inlines small parts; to have numba inline them made a first fit a twentieth longer.
    """
    compiled: Any = _compiled(function, **options)
    keep_on_disk(compiled)
    if LEAN:
        part: Any = part_of_kernels(function)
        compiled.get_call_template = part.get_call_template
        compiled.get_overload = part.get_overload
    return cast(Function, compiled)


def part_of_kernels(function: Function, **options: Any) -> Function:
    """Make a part that is compiled with every kernel that calls it, and that Python cannot call."""
    options = {"no_cpython_wrapper": True, "pipeline_class": PartCompiler, **options}
    return _compiled(function, **options)


def uncounted(function: Function) -> Function:
    """Make a kernel that allocates nothing, so that no use of an array has to be counted."""
    return kernel(function, _nrt=False)


def team_kernel(*, allocates: bool = True) -> Callable[[Function], Function]:
    """Make a kernel that is run by teams: see kernels/team.py. Python cannot call it."""
    return partial(
        kernel, _nrt=allocates, pipeline_class=TeamCompiler, no_cpython_wrapper=True,
        no_cfunc_wrapper=False,
    )  # fmt: skip
