"""All that pacboost uses of numba's private API, which numba changes without notice.

This module can be imported only with versions of numba that it was tested with. With any other, or
with PACBOOST_NUMBA=public in the environment, jit.py uses numba_public.py, which gives the same
bytes, but compiles and runs more slowly.
"""

# ruff: noqa: E402 - the version is checked before anything private is imported

from __future__ import annotations

import ctypes
import functools
import os
import pickle
import platform
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

import numba
import numpy as np

FIRST_TESTED, LAST_TESTED = (0, 61), (0, 68)

IS_TESTED = FIRST_TESTED <= numba.version_info[:2] <= LAST_TESTED
if not IS_TESTED or os.environ.get("PACBOOST_NUMBA") == "public":
    raise ImportError(f"the private API of numba {numba.__version__} is not to be used")

from llvmlite import ir
from numba import types
from numba.core import cgutils, event
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.serialize import dumps
from numba.core.typed_passes import BaseNativeLowering, NativeLowering
from numba.core.typing import Context
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from pacboost.kernels.runtime import compile_note, disk_cache
from pacboost.numerics.interactive import uninterrupted

if TYPE_CHECKING:
    from llvmlite.binding import ModuleRef
    from numba.core.base import BaseContext
    from numba.core.compiler import CompileResult, StateDict
    from numba.core.dispatcher import Dispatcher
    from numba.core.typing import Signature

NOT_NEEDED = {
    "WithLifting", "InlineClosureLikes", "InlineInlinables", "RewriteDynamicRaises",
    "MakeFunctionToJitFunction", "FindLiterallyCalls", "LiteralUnroll", "InlineOverloads",
    "LiteralPropagationSubPipelinePass", "NopythonRewrites", "DumpParforDiagnostics",
    "NoPythonSupportedFeatureValidation",
}  # fmt: skip
"""The passes of numba that change nothing in a kernel; without them compiling takes a third less
time. Kernels have no closures, no ``with``, no raised
objects and no expressions over whole arrays."""


Values = Sequence[ir.Value]


class KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel, which is optimised once, when it is complete.

    Numba would optimise each function before that, too; the machine code is as fast without.
    """

    def _optimize_functions(self, module: ModuleRef) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        manager = self._codegen._module_pass_manager()
        passes, *builder = manager if isinstance(manager, tuple) else (manager,)  # numba 0.61
        passes.run(self._final_module, *builder)


class PartLibrary(KernelLibrary):
    """The code of a part, to be linked into that of kernels: there is no machine code of it."""

    def finalize(self) -> None:
        """Link the parts that are called here; the kernels do the rest."""
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no such function in memory."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Return this object, of which numba calls ``set_env`` only."""
        return self

    def set_env(self, name: str, environment: object) -> None:
        """Do nothing: an environment holds Python objects, and a part has none."""


class KernelLower(Lower):  # type: ignore[misc]
    """Translates a kernel to LLVM, with an entry in place of a function to be called from C."""

    def create_cfunc_wrapper(self) -> None:
        """Write the entry: it reads the arguments from memory, and calls the kernel."""
        context, described = self.context, self.fndesc
        module = context.create_module("entry")
        kind = context.call_conv.get_function_type(described.restype, described.argtypes)
        kernel = ir.Function(module, kind, described.llvm_func_name)
        entry = ir.Function(module, ENTRY, described.llvm_cfunc_wrapper_name)
        builder = ir.IRBuilder(entry.append_basic_block())
        number, team, address = entry.args
        reader = ArgumentReader(context, builder, address)
        member, *kinds = described.argtypes
        parts = [number, team, reader.argument(member[2])]
        arguments = [context.make_tuple(builder, member, parts), *map(reader.argument, kinds)]
        context.call_conv.call_function(
            builder, kernel, described.restype, described.argtypes, arguments, attrs=("noinline",)
        )
        builder.ret_void()
        self.library.add_ir_module(module)


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(BaseNativeLowering):  # type: ignore[misc]
    """The pass that translates a kernel to LLVM."""

    _name = "pacboost_kernel_lowering"
    lowering_class = KernelLower

    def run_pass(self, state: StateDict) -> bool:
        """Translate it into one of our libraries; a part is called by neither Python nor a team."""
        is_part = state.flags.no_cpython_wrapper and state.flags.no_cfunc_wrapper
        library = PartLibrary if is_part else KernelLibrary
        state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class KernelFlags(Flags):  # type: ignore[misc]
    """Numba's options of a kernel, compared quickly: every operation is looked up by them."""

    defaults: ClassVar = {name: option.default for name, option in Flags.options.items()}

    def values(self) -> dict[str, Any]:
        """Return all values by their names."""
        return {**self.defaults, **self._values}


class Operator(types.Function):  # type: ignore[misc]
    """An operator of Python, whose signature for some types is found once in a process.

    Numba looks for it several times at every use.
    """

    def __init__(self, function: types.Function) -> None:
        super().__init__(function.templates)
        self._signatures: dict[Any, Signature] = {}

    def get_call_type(self, context: Context, args: tuple[types.Type, ...], kws: Any) -> Any:
        """Return the signature for arguments of these types."""
        if args not in self._signatures:
            self._signatures[args] = super().get_call_type(context, args, kws)
        return self._signatures[args]


class KernelTyping(Context):  # type: ignore[misc]
    """What numba knows of types, with operators that remember."""

    def __init__(self, context: Context) -> None:
        self.__dict__.update(vars(context))
        self._operators: dict[Any, Operator] = {}

    def resolve_value_type(self, value: object) -> types.Type:
        """Return the type of a global value."""
        if type(value) is not BuiltinFunctionType or value.__module__ != "_operator":
            return super().resolve_value_type(value)
        if value not in self._operators:
            self._operators[value] = Operator(super().resolve_value_type(value))
        return self._operators[value]


@functools.cache
def typing_of_kernels(context: Context) -> KernelTyping:
    """Return the one for all kernels."""
    return KernelTyping(context)


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler without the passes that are not needed."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes in their order."""
        state = self.state
        # numba has just loaded all registries; after a failed look-up it would load them again
        state.targetctx.refresh = lambda: None
        state.typingctx = state.targetctx.typing_context = typing_of_kernels(state.typingctx)
        passes = DefaultPassBuilder.define_nopython_pipeline(state)
        passes.passes = [
            (KernelLowering if step is NativeLowering else step, why)
            for step, why in passes.passes
            if step.__name__ not in NOT_NEEDED
        ]
        return [passes]


def compile_kernel(function: FunctionType, *, allocates: bool = True) -> Any:
    """Make a function that is compiled when it is first called with arguments of some types.

    Kernels that call it link a part compiled from the same function instead.
    """
    return _kernel(function, no_cfunc_wrapper=True, _nrt=allocates)


def compile_team_kernel(function: FunctionType, *, allocates: bool = True) -> Any:
    """Make a kernel with an entry for members of a team, which Python cannot call."""
    return _kernel(function, no_cpython_wrapper=True, _nrt=allocates)


def compile_part(function: FunctionType, *, inlined: bool = False, **options: Any) -> Any:
    """Make a function that is compiled with every kernel that calls it."""
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **options}
    return _dispatcher(function, forceinline=inlined, **options)


def _kernel(function: FunctionType, **options: Any) -> Any:
    dispatcher, part = _dispatcher(function, **options), compile_part(function)
    dispatcher.get_call_template = part.get_call_template
    dispatcher.get_overload = part.get_overload
    try:
        cache = DiskCache(function)
        if disk_cache.is_safe(Path(cache.cache_path)):
            dispatcher._cache = cache
    except RuntimeError:
        compile_note.not_kept = compile_note.NO_FOLDER
    return dispatcher


def _dispatcher(function: FunctionType, **options: Any) -> Any:
    options = {"nogil": True, "error_model": "numpy", "pipeline_class": KernelCompiler, **options}
    dispatcher = numba.njit(**options)(function)
    dispatcher.compile = uninterrupted()(dispatcher.compile)
    dispatcher._compiler._customize_flags = KernelFlags
    return dispatcher


class DiskCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, with files that are checked before they are used."""

    def __init__(self, function: FunctionType) -> None:
        super().__init__(function)
        locator = self._impl.locator
        stamp = (numba.__version__, disk_cache.kernel_sources(), locator.get_source_stamp())
        name = self._impl.filename_base
        self._cache_file = PickledFiles(Path(self.cache_path), name, repr(stamp))

    def load_overload(self, sig: Signature, target_context: BaseContext) -> Any:
        """Return the compiled form of a signature, or None where there is none that can be used."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # for any reason: compile again
            return None

    def save_overload(self, sig: Signature, data: CompileResult) -> None:
        """Write the compiled form of a signature, unless the disk is full or cannot be written."""
        with suppress(OSError):
            super().save_overload(sig, data)


class PickledFiles(disk_cache.CheckedFiles):
    """Files of what numba stores."""

    def load(self, key: object) -> object:
        """Read a compiled form; None if there is none that can be used."""
        form = self.read(key)
        return None if form is None else pickle.loads(form)

    def save(self, key: object, data: object) -> None:
        """Write a compiled form."""
        self.write(key, dumps(data))


class CompileListener(event.Listener):  # type: ignore[misc]
    """Called for everything that numba compiles in this process, and not for what it loads."""

    def on_start(self, event: event.Event) -> None:
        """Write a note if it is a kernel of pacboost."""
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        if str(getattr(function, "__module__", "")).startswith("pacboost."):
            compile_note.say_to_a_person()

    def on_end(self, event: event.Event) -> None:
        """Do nothing."""


event.register("numba:compile", CompileListener())


WORD, BYTE = ir.IntType(64), ir.IntType(8)
ENTRY = ir.FunctionType(ir.VoidType(), [WORD, WORD, WORD])
"""An entry takes the number of a member, the size of its team, and the address of arguments."""
DATA, DIMENSIONS, STRIDES = (object.__basicsize__ + offset for offset in (0, 16, 24))
"""Where an array object has them: PyArrayObject_fields in NumPy's C API."""


def reads_arrays() -> bool:
    """Check that NumPy's array objects are laid out as entries read them."""
    array, place = np.zeros((2, 3)), ctypes.c_int64.from_address
    if place(id(array) + DATA).value != array.ctypes.data:
        return False  # the other two may be no addresses
    tables = (place(id(array) + offset).value for offset in (DIMENSIONS, STRIDES))
    shape, strides = ((place(table).value, place(table + 8).value) for table in tables)
    return (shape, strides) == (array.shape, array.strides)


if not reads_arrays():
    raise ImportError(f"the arrays of NumPy {np.__version__} have another layout")


class ArgumentReader:
    """Writes the instructions that read arguments, eight bytes each, from an address."""

    def __init__(self, context: BaseContext, builder: ir.IRBuilder, address: ir.Value) -> None:
        self._context, self._builder = context, builder
        self._address, self._count = address, 0

    def argument(self, kind: types.Type) -> Any:
        """Read an argument of a numba type; a tuple is its parts in their order."""
        if isinstance(kind, types.BaseTuple):
            parts = [self.argument(part) for part in kind]
            return self._context.make_tuple(self._builder, kind, parts)
        if isinstance(kind, types.NoneType):
            return self._context.get_dummy_value()
        place = 8 * self._count
        self._count += 1
        if isinstance(kind, types.Array):
            return self._array(kind, self._load(self._address, place))
        at = self._builder.add(self._address, WORD(place))
        pointer = self._builder.inttoptr(at, self._context.get_data_type(kind).as_pointer())
        return self._context.unpack_value(self._builder, kind, pointer)

    def _load(self, address: ir.Value, offset: int) -> Any:
        at = self._builder.add(address, WORD(offset))
        return self._builder.load(self._builder.inttoptr(at, WORD.as_pointer()))

    def _array(self, kind: types.Array, address: ir.Value) -> Any:
        """Make an array without reference counting from an array object."""
        array = make_array(kind)(self._context, self._builder)
        item = self._context.get_data_type(kind.dtype)
        data = self._builder.inttoptr(self._load(address, DATA), item.as_pointer())
        shape, strides = (
            [self._load(numbers, 8 * k) for k in range(kind.ndim)]
            for numbers in (self._load(address, DIMENSIONS), self._load(address, STRIDES))
        )
        width = WORD(self._context.get_abi_sizeof(item))
        populate_array(array, data, shape, strides, width, None)
        return array._getvalue()


def entry_address(body: Dispatcher, kinds: tuple[types.Type, ...]) -> int:
    """Compile or load a team kernel for arguments of these types; return its entry's address."""
    body.compile(kinds)
    form = body.overloads[kinds]
    return int(form.library.get_pointer_to_function(form.fndesc.llvm_cfunc_wrapper_name))


@intrinsic  # type: ignore[untyped-decorator]
def enter(
    typing: Context, function: types.Type, member: types.Type, team: types.Type,
    arguments: types.Type,
) -> Any:  # fmt: skip
    """Call the kernel whose entry and arguments have these addresses."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, values: Values
    ) -> Any:
        builder.call(builder.inttoptr(values[0], ENTRY.as_pointer()), list(values[1:]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), generate


def _place(
    context: BaseContext, builder: ir.IRBuilder, signature: Signature, values: Values
) -> Any:
    """Return the address of ``values[0][values[1]]``, an element of an array."""
    array = make_array(signature.args[0])(context, builder, values[0])
    return builder.gep(array.data, [values[1]])


def _change(operation: str) -> Any:
    """Make an instruction on a number that other threads change.

    It is sequentially consistent: what a thread wrote before is seen by every thread that has seen
    the result.
    """

    def typed(typing: Context, array: types.Array, place: types.Type, value: types.Type) -> Any:
        def generate(
            context: BaseContext, builder: ir.IRBuilder, signature: Signature, values: Values
        ) -> Any:
            at = _place(context, builder, signature, values)
            return builder.atomic_rmw(operation, at, values[2], "seq_cst")

        return types.int64(array, types.intp, types.int64), generate

    return intrinsic(typed)


add = _change("add")
exchange = _change("xchg")


@intrinsic  # type: ignore[untyped-decorator]
def load(typing: Context, array: types.Array, place: types.Type) -> Any:
    """Read a number that other threads change."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, values: Values
    ) -> Any:
        return builder.load_atomic(_place(context, builder, signature, values), "seq_cst", 8)

    return types.int64(array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def pause(typing: Context) -> Any:
    """Tell processors that support it that this thread is waiting in a loop."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, values: Values
    ) -> Any:
        if platform.machine().lower() in ("x86_64", "amd64"):
            _call(builder, "llvm.x86.sse2.pause", [], [])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing: Context, array: types.Array, place: types.Type) -> Any:
    """Have an entry of an array brought to the cache, without waiting for it."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, values: Values
    ) -> Any:
        pointer, number = BYTE.as_pointer(), ir.IntType(32)
        at = builder.bitcast(_place(context, builder, signature, values), pointer)
        modes = [number(0), number(3), number(1)]  # to read, often, data
        _call(builder, "llvm.prefetch.p0i8", [pointer, *[number] * 3], [at, *modes])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _call(builder: ir.IRBuilder, name: str, kinds: list[Any], values: list[Any]) -> None:
    kind = ir.FunctionType(ir.VoidType(), kinds)
    builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)


@intrinsic  # type: ignore[untyped-decorator]
def on_stack(typing: Context, shape: types.BaseTuple, dtype: types.DType) -> Any:
    """Return an array of this shape, a tuple, that lives until the function returns.

    It is not initialised and not counted, so kernels that are not to allocate may have it.
    """
    kind = types.Array(dtype.dtype, len(shape), "C")

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, values: Values
    ) -> Any:
        array = make_array(kind)(context, builder)
        sizes = cgutils.unpack_tuple(builder, values[0])
        width = context.get_constant(types.intp, dtype.dtype.bitwidth // 8)
        strides: list[Any] = []
        total = context.get_constant(types.intp, 1)
        for size in reversed(sizes):
            strides.insert(0, builder.mul(total, width))
            total = builder.mul(total, size)
        data = builder.alloca(context.get_data_type(dtype.dtype), total)
        populate_array(array, data, sizes, strides, width, None)
        return array._getvalue()

    return kind(shape, dtype), generate
