"""All that pacboost uses of numba's private API: a faster compiler, files of its own, and entries.

Numba changes these parts without notice. So this module can be imported only with versions of numba
that it was tested with; with any other, jit.py uses numba_public.py instead, which gives the same
bytes, but compiles and runs more slowly. The environment variable PACBOOST_NUMBA=public asks for
that.

- The compiler is numba's without what kernels do not need: it takes a third less time for them.
- The cache is numba's with files that are checked: see disk_cache.py.
- Entries are how the members of a team call a kernel by its address: see entry.py.
- Instructions that numba does not offer: atomic numbers, arrays on the stack, prefetching.
"""

# ruff: noqa: E402 - the version is checked before anything private is imported

from __future__ import annotations

import os
import pickle
import platform
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import numba

FIRST_TESTED, LAST_TESTED = (0, 61), (0, 68)
"""The versions of numba whose private API this module was tested with."""


def is_usable(version: tuple[int, ...]) -> bool:
    """Check whether private API may be used: with tested versions, unless a user forbids it."""
    tested = FIRST_TESTED <= version[:2] <= LAST_TESTED
    return tested and os.environ.get("PACBOOST_NUMBA") != "public"


if not is_usable(tuple(numba.version_info[:2])):
    raise ImportError(f"pacboost was not tested with the private API of numba {numba.__version__}")

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
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from pacboost.kernels.runtime import compile_note, disk_cache
from pacboost.numerics.interactive import uninterrupted

# The compiler. Numba compiles a function by a chain of passes, most of them written in Python.

NOT_NEEDED = {
    "WithLifting", "InlineClosureLikes", "InlineInlinables", "RewriteDynamicRaises",
    "MakeFunctionToJitFunction", "FindLiterallyCalls", "LiteralUnroll", "InlineOverloads",
    "LiteralPropagationSubPipelinePass", "NopythonRewrites", "DumpParforDiagnostics",
    "NoPythonSupportedFeatureValidation",
}  # fmt: skip
"""The passes that change nothing in a kernel: kernels have no closures, no ``with``, no raised
objects and no expressions over whole arrays."""


class QuickFlags(Flags):  # type: ignore[misc]
    """Numba's options of a function, compared by those that were set.

    Numba compares all of them with their defaults, thousands of times for each function.
    """

    def __hash__(self) -> int:
        return hash(frozenset(self._values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QuickFlags) and self._values == other._values


class RememberedTypes:
    """Numba's context of types, which remembers the types of calls of builtin functions.

    Numba tries the implementations of an operator in their order, for every use of it anew.
    """

    _results: ClassVar[dict[QuickFlags, dict[Any, Any]]] = {}

    def __init__(self, context: Any, flags: QuickFlags) -> None:
        self._context = context
        self._of_flags = self._results.setdefault(flags, {})

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

    def _remembered(self, key: Any, name: str, *arguments: Any) -> Any:
        result = self._of_flags.get((name, *key))
        if result is None:
            result = self._of_flags[name, *key] = getattr(self._context, name)(*arguments)
        return result


class KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel, which is optimised once, when it is complete.

    Numba would optimise each function before that, too, and look for uses of arrays that need not
    be counted before it optimises all; the machine code is as fast without.
    """

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


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
        """Return 0, by which numba says that there is no such function in memory."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Return this object, which is asked for no more than ``set_env``."""
        return self

    def set_env(self, name: str, environment: object) -> None:
        """Do nothing: an environment holds Python objects, of which a part has none."""


class KernelLower(Lower):  # type: ignore[misc]
    """Translates a kernel to LLVM, with an entry in place of a function to be called from C."""

    def create_cfunc_wrapper(self) -> None:
        """Write the entry: it reads the arguments from memory, and calls the kernel."""
        context, described = self.context, self.fndesc
        module = context.create_module("entry")
        convention = context.call_conv.get_function_type(described.restype, described.argtypes)
        kernel = ir.Function(module, convention, described.llvm_func_name)
        entry = ir.Function(module, ENTRY, described.llvm_cfunc_wrapper_name)
        builder = ir.IRBuilder(entry.append_basic_block())
        number, team, address = entry.args
        reader = ArgumentReader(context, builder, address)
        member, *kinds = described.argtypes
        arguments = [
            context.make_tuple(builder, member, [number, team, reader.argument(member[2])]),
            *(reader.argument(kind) for kind in kinds),
        ]
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

    def run_pass(self, state: Any) -> bool:
        """Translate it into a library of ours; what neither Python nor a team calls is a part."""
        is_part = state.flags.no_cpython_wrapper and state.flags.no_cfunc_wrapper
        library = PartLibrary if is_part else KernelLibrary
        state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler without the passes that are not needed."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, *rest: Any) -> None:
        return_type, flags, local = rest
        quick = QuickFlags(flags)
        super().__init__(typing, target, library, args, return_type, quick, local)
        self.state.typingctx = RememberedTypes(typing, quick.copy())

    def define_pipelines(self) -> list[Any]:
        """Return the passes in their order."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (KernelLowering if step is NativeLowering else step, why)
            for step, why in passes.passes
            if step.__name__ not in NOT_NEEDED
        ]
        return [passes]


def compile_kernel(function: Any, *, allocates: bool = True) -> Any:
    """Make a function that is compiled when it is first called with arguments of some types.

    Kernels that call it link a part made of the same function, and not what Python calls. LLVM
    inlines small parts; to have numba inline them made a first fit a twentieth longer.
    """
    return _kernel(function, no_cfunc_wrapper=True, _nrt=allocates)


def compile_team_kernel(function: Any, *, allocates: bool = True) -> Any:
    """Make a kernel with an entry for members of a team, which Python cannot call."""
    return _kernel(function, no_cpython_wrapper=True, _nrt=allocates)


def compile_part(function: Any, *, inlined: bool = False) -> Any:
    """Make a function that is compiled with every kernel that calls it."""
    return _dispatcher(
        function, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=inlined
    )


def _kernel(function: Any, **options: Any) -> Any:
    dispatcher, part = _dispatcher(function, **options), compile_part(function)
    dispatcher.get_call_template, dispatcher.get_overload = (
        part.get_call_template,
        part.get_overload,
    )
    try:
        cache = DiskCache(function)
    except RuntimeError:
        compile_note.not_kept = compile_note.NO_FOLDER
        return dispatcher
    if disk_cache.others_write(Path(cache.cache_path)):
        compile_note.not_kept = compile_note.WRITTEN_BY_OTHERS.format(cache.cache_path)
    else:
        dispatcher._cache = cache
    return dispatcher


def _dispatcher(function: Any, **options: Any) -> Any:
    dispatcher = numba.njit(
        nogil=True, error_model="numpy", pipeline_class=KernelCompiler, **options
    )(function)
    dispatcher.compile = uninterrupted()(dispatcher.compile)
    return dispatcher


# The cache.


class DiskCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, with files that are checked before they are used."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        locator = self._impl.locator
        stamp = (numba.__version__, disk_cache.kernel_sources(), locator.get_source_stamp())
        name = self._impl.filename_base
        self._cache_file = PickledFiles(Path(self.cache_path), name, repr(stamp))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled form of a signature, or None where there is none that can be used."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever the reason, compiling again is the answer
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
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
    """Hears of everything that numba compiles in this process, and of nothing that it loads."""

    def on_start(self, event: Any) -> None:
        """Write a note if it is a kernel of pacboost."""
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        if str(getattr(function, "__module__", "")).startswith("pacboost."):
            compile_note.say_to_a_person()

    def on_end(self, event: Any) -> None:
        """Do nothing."""


event.register("numba:compile", CompileListener())


# Entries: functions of the number of a member, the size of its team, and an address of arguments.

WORD, BYTE = ir.IntType(64), ir.IntType(8)
ENTRY = ir.FunctionType(ir.VoidType(), [WORD, WORD, WORD])
ARRAY_FIELDS = object.__basicsize__
"""Where the fields of an array object begin: PyArrayObject_fields in NumPy's C API."""
DATA, DIMENSIONS, STRIDES = (ARRAY_FIELDS + offset for offset in (0, 16, 24))


class ArgumentReader:
    """Writes the instructions that read arguments, one after the other, from an address."""

    def __init__(self, context: Any, builder: Any, address: Any) -> None:
        self._context = context
        self._builder = builder
        self._address = address
        self._count = 0

    def argument(self, kind: Any) -> Any:
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
        if isinstance(kind, types.Float):
            return self._load(self._address, place, ir.DoubleType())
        if isinstance(kind, types.Boolean):
            return self._builder.trunc(self._load(self._address, place, BYTE), ir.IntType(1))
        return self._builder.trunc(self._load(self._address, place), ir.IntType(kind.bitwidth))

    def _load(self, address: Any, offset: int, kind: Any = WORD) -> Any:
        at = self._builder.add(address, WORD(offset))
        return self._builder.load(self._builder.inttoptr(at, kind.as_pointer()))

    def _array(self, kind: Any, address: Any) -> Any:
        """Make an array, whose memory is not counted, of an array object."""
        shape, strides = (self._load(address, field) for field in (DIMENSIONS, STRIDES))
        array = make_array(kind)(self._context, self._builder)
        item = self._context.get_data_type(kind.dtype)
        populate_array(
            array,
            data=self._builder.inttoptr(self._load(address, DATA), item.as_pointer()),
            shape=[self._load(shape, 8 * k) for k in range(kind.ndim)],
            strides=[self._load(strides, 8 * k) for k in range(kind.ndim)],
            itemsize=WORD(self._context.get_abi_sizeof(item)),
            meminfo=None,
        )
        return array._getvalue()


def entry_address(body: Any, kinds: tuple[Any, ...]) -> int:
    """Compile or load a team kernel for arguments of these types; return its entry's address."""
    body.compile(kinds)
    form = body.overloads[kinds]
    return int(form.library.get_pointer_to_function(form.fndesc.llvm_cfunc_wrapper_name))


def is_compiled(body: Any, kinds: tuple[Any, ...]) -> bool:
    """Check whether a kernel is compiled for arguments of these types, in memory or on disk."""
    return kinds in body.overloads or body._cache.load_overload(kinds, body.targetctx) is not None


@intrinsic  # type: ignore[untyped-decorator]
def enter(typing: Any, function: Any, member: Any, team: Any, arguments: Any) -> Any:
    """Call the kernel whose entry and arguments have these addresses."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        builder.call(builder.inttoptr(values[0], ENTRY.as_pointer()), list(values[1:]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), generate


# Instructions.
#
# Those on atomic numbers are sequentially consistent: what a thread wrote before such an
# instruction is seen by every thread that has seen the instruction's own result.


def _place(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """Return the address of ``array[place]``, the first two arguments of an instruction."""
    array = make_array(signature.args[0])(context, builder, values[0])
    return builder.gep(array.data, [values[1]])


def _change(operation: str) -> Any:
    def typed(typing: Any, array: Any, place: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            at = _place(context, builder, signature, values)
            return builder.atomic_rmw(operation, at, values[2], "seq_cst")

        return types.int64(array, types.intp, types.int64), generate

    return intrinsic(typed)


add = _change("add")
exchange = _change("xchg")


@intrinsic  # type: ignore[untyped-decorator]
def load(typing: Any, array: Any, place: Any) -> Any:
    """Read a number that other threads change."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load_atomic(_place(context, builder, signature, values), "seq_cst", 8)

    return types.int64(array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def pause(typing: Any) -> Any:
    """Let the processor know, where it listens, that this thread is waiting in a loop."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if platform.machine().lower() in ("x86_64", "amd64"):
            _call(builder, "llvm.x86.sse2.pause", [], [])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing: Any, array: Any, place: Any) -> Any:
    """Have an entry of an array brought to the cache, without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer, number = BYTE.as_pointer(), ir.IntType(32)
        at = builder.bitcast(_place(context, builder, signature, values), pointer)
        modes = [number(0), number(3), number(1)]  # to read, often, data
        _call(builder, "llvm.prefetch.p0i8", [pointer, *[number] * 3], [at, *modes])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _call(builder: Any, name: str, kinds: list[Any], values: list[Any]) -> None:
    kind = ir.FunctionType(ir.VoidType(), kinds)
    builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)


@intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(typing: Any, bits: Any) -> Any:
    """Return the place of the lowest bit that is set; one has to be."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], cgutils.true_bit)

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def on_stack(typing: Any, shape: Any, dtype: Any) -> Any:
    """Return an array of this shape, a tuple, that lives until the function returns.

    It is not initialised and not counted, so kernels that are not to allocate may have it.
    """
    kind = types.Array(dtype.dtype, len(shape), "C")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
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
