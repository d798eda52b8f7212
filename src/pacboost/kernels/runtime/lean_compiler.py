"""Numba's compiler without what kernels do not need: it takes a third less time for them.

Numba compiles a function by a chain of passes, most of them written in Python. Kernels
have no closures, no ``with``, no raised objects and no expressions over whole arrays, so the passes
that look for those are left out. And a function that only kernels call, a *part*, is translated
but not optimised: it is optimised inside of the kernels that call it.

All of this depends on the inside of numba. So it is done with the versions it was tried with, and
any other version compiles kernels in its own way: slower, to the same code.
"""

from __future__ import annotations

from typing import Any, ClassVar

from numba import types, version_info
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

TRIED = {(0, 68)}
LEAN = (version_info.major, version_info.minor) in TRIED
"""Whether numba is a version that this was tried with."""
NOT_NEEDED = {
    "WithLifting", "InlineClosureLikes", "InlineInlinables", "RewriteDynamicRaises",
    "MakeFunctionToJitFunction", "FindLiterallyCalls", "LiteralUnroll", "InlineOverloads",
    "LiteralPropagationSubPipelinePass", "NopythonRewrites", "DumpParforDiagnostics",
    "NoPythonSupportedFeatureValidation",
}  # fmt: skip
"""The names of numba's passes that change nothing in a kernel."""


class QuickFlags(Flags):  # type: ignore[misc]
    """Numba's options of a function, compared by those that were set.

    Numba compares all of them with their defaults, thousands of times for each function.
    """

    def __hash__(self) -> int:
        return hash(frozenset(self._values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QuickFlags) and self._values == other._values


class KnownTypes:
    """Numba's context of types, which remembers what it has found out about builtin functions.

    Numba tries the implementations of an operator in their order, for every use of it anew.
    """

    _known: ClassVar[dict[QuickFlags, dict[Any, Any]]] = {}

    def __init__(self, context: Any, flags: QuickFlags) -> None:
        self._context = context
        self._found = self._known.setdefault(flags, {})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call."""
        if not isinstance(function, types.Function) or kws:
            return self._context.resolve_function_type(function, args, kws)
        return self._remembered((function, *args), "resolve_function_type", function, args, kws)

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        """Return the signature of an assignment to a part of an array."""
        return self._remembered((target, index, value), "resolve_setitem", target, index, value)

    def _remembered(self, key: Any, name: str, *given: Any) -> Any:
        found = self._found.get((name, *key))
        if found is None:
            found = self._found[name, *key] = getattr(self._context, name)(*given)
        return found


class KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel, which is optimised once it is complete.

    Numba would optimise each function before that, too, and look for uses of arrays that need not
    be counted before it optimises all; the machine code is as fast without.
    """

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class KernelLowering(BaseNativeLowering):  # type: ignore[misc]
    """The pass that translates a kernel to LLVM."""

    library: type[KernelLibrary] = KernelLibrary

    def run_pass(self, state: Any) -> bool:
        """Translate it, into a library of ours if we may."""
        if not LEAN:
            return bool(super().run_pass(state))
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class PlainLowering(KernelLowering):
    """The pass for a kernel that Python calls."""

    _name = "pacboost_plain_lowering"
    lowering_class = Lower


class LeanCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler without the passes that are not needed."""

    lowering: type[KernelLowering] = PlainLowering

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, *rest: Any) -> None:
        if not LEAN:
            super().__init__(typing, target, library, args, *rest)
            return
        return_type, flags, local = rest
        quick = QuickFlags(flags)
        super().__init__(typing, target, library, args, return_type, quick, local)
        self.state.typingctx = KnownTypes(typing, quick.copy())

    def define_pipelines(self) -> list[Any]:
        """Return the passes in their order."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (self.lowering if step is NativeLowering else step, why)
            for step, why in passes.passes
            if not (LEAN and step.__name__ in NOT_NEEDED)
        ]
        return [passes]


class PartLibrary(KernelLibrary):
    """The code of a part, to be linked into that of kernels: there is no machine code of it."""

    def finalize(self) -> None:
        """Take in the parts that are called here, and leave the rest to the kernels."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Raise, in numba's way, because there is no such function in memory."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Return this object, which is asked for no more than ``set_env``."""
        return self

    def set_env(self, name: str, environment: object) -> None:
        """Do nothing: an environment holds Python objects, of which a part has none."""


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(KernelLowering):
    """The pass for a part."""

    _name = "pacboost_part_lowering"
    lowering_class = Lower
    library = PartLibrary


class PartCompiler(LeanCompiler):
    """Compiles a part."""

    lowering = PartLowering if LEAN else PlainLowering
