"""Numba's compiler without what kernels do not need: it takes a quarter less time for them.

A kernel is a chain of passes over the code of one function, most of them written in Python. Kernels
have no closures, no ``with``, no raised objects and no expressions over whole arrays, so the passes
that look for those are left out. And a function that only kernels call, a *part*, is translated
but not optimised: it is optimised once, inside of every kernel that calls it.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

NOT_NEEDED = {
    "WithLifting", "InlineClosureLikes", "RewriteDynamicRaises", "MakeFunctionToJitFunction",
    "FindLiterallyCalls", "LiteralUnroll", "LiteralPropagationSubPipelinePass", "InlineOverloads",
    "NopythonRewrites", "NoPythonSupportedFeatureValidation", "DumpParforDiagnostics",
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


class LeanCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler without the passes that are not needed."""

    lowering: type[BaseNativeLowering] = NativeLowering

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, *rest: Any) -> None:
        return_type, flags, local = rest
        super().__init__(typing, target, library, args, return_type, QuickFlags(flags), local)

    def define_pipelines(self) -> list[Any]:
        """Give the passes in their order."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (self.lowering if step is NativeLowering else step, why)
            for step, why in passes.passes
            if step.__name__ not in NOT_NEEDED
        ]
        return [passes]


class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part, to be linked into that of kernels: there is no machine code of it."""

    def finalize(self) -> None:
        """Take in the parts that are called here, and leave the rest to the kernels."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Say, in numba's way, that there is no such function in memory."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Give this object, which is asked for no more than ``set_env``."""
        return self

    def set_env(self, name: str, environment: object) -> None:
        """Do nothing: an environment holds Python objects, of which a part has none."""


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(BaseNativeLowering):  # type: ignore[misc]
    """The pass that translates a part to LLVM."""

    _name = "pacboost_part_lowering"
    lowering_class = Lower

    def run_pass(self, state: Any) -> bool:
        """Translate it into a library that is never finished."""
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return bool(super().run_pass(state))


class PartCompiler(LeanCompiler):
    """Compiles a part."""

    lowering = PartLowering
