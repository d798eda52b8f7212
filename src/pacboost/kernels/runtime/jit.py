"""How a kernel is compiled: without the interpreter's lock, cached beside its source.

While the first one is compiled, a note says so to a person who waits. Kernels that are loaded from
the cache come without a note.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import multiprocessing
import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils, event
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from pacboost.kernels.runtime.entry import TeamCompiler
from pacboost.kernels.runtime.lean_compiler import LEAN, LeanCompiler, PartCompiler
from pacboost.numerics.interactive import person_waits, uninterrupted

# Compiled kernels on disk: a file that is damaged, or cannot be written, costs time and no fit.
#
# Numba keeps an index of each function beside its compiled forms, and believes both: a damaged
# index stops every fit, damaged machine code stops the process, and of two processes that compile
# at once the index of one can name the code of the other. Here every compiled form has one file,
# named for all that it depends on and opened by a hash of its contents. What does not match is
# compiled again.

HASH = 32
"""The first bytes of a file are the hash of those that follow."""


def keep_on_disk(compiled: Any) -> None:
    """Let a compiled function load and save its machine code, where a folder is fit for that."""
    global not_kept  # noqa: PLW0603 - once a process
    try:
        cache = DiskCache(compiled.py_func)
    except RuntimeError:
        not_kept = "neither the folder of the package nor the user's can be written"
        return
    if others_write(Path(cache.cache_path)):
        not_kept = f"other users can write to {cache.cache_path}, and what they write would run"
    else:
        compiled._cache = cache


not_kept: str | None = None
"""Why every process compiles anew; None where compiled code is kept."""


@functools.cache
def others_write(folder: Path) -> bool:
    """Check whether a folder takes files of users who cannot change the package itself."""
    if os.name != "posix":
        return False
    trusted = _writers(Path(__file__).parent) | {("user", os.getuid()), ("user", 0), ("group", 0)}
    return not _writers(folder) <= trusted | _own_group()


def _writers(folder: Path) -> set[tuple[str, int]]:
    """Return who can put a file into a folder, or another folder in its place.

    In sticky folders above it, such as /tmp, everybody can replace what is theirs alone.
    """
    own, *above = (place.stat() for place in (folder.resolve(), *folder.resolve().parents))
    found = {("user", own.st_uid)}
    for place in (own, *(one for one in above if not one.st_mode & stat.S_ISVTX)):
        found |= {("group", place.st_gid)} if place.st_mode & stat.S_IWGRP else set()
        found |= {("all", 0)} if place.st_mode & stat.S_IWOTH else set()
    return found


def _own_group() -> set[tuple[str, int]]:
    """Return the group that many systems make for each user alone, and let write by default."""
    import grp
    import pwd

    with suppress(KeyError):
        user = pwd.getpwuid(os.getuid())
        group = grp.getgrgid(user.pw_gid)
        if group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}:
            return {("group", user.pw_gid)}
    return set()


@functools.cache
def kernel_sources() -> bytes:
    """Hash all kernels, since parts of one file are compiled into kernels of another."""
    files = sorted(file for folder in Path(__file__).parents[:2] for file in folder.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).digest()


class DiskCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, with files that are checked before they are used."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        folder, name = Path(self.cache_path), self._impl.filename_base
        stamp = repr((numba.__version__, kernel_sources(), self._impl.locator.get_source_stamp()))
        self._cache_file = CheckedFiles(folder, name, stamp)

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


class CheckedFiles:
    """A file for each compiled form of a function. Those of an earlier source are replaced."""

    def __init__(self, folder: Path, name: str, stamp: str) -> None:
        self.folder = folder
        self.name = name
        self.stamp = stamp

    def path(self, key: object) -> Path:
        """Name the file of a signature, a processor and the bytes of the function."""
        digest = hashlib.sha256(repr(key).encode()).hexdigest()
        return self.folder / f"{self.name}.{digest[:16]}.nbc"

    def load(self, key: object) -> object:
        """Read a compiled form; give None if the file is absent, damaged, or of another source."""
        try:
            written = self.path(key).read_bytes()
        except OSError:
            return None
        if written[:HASH] != self._hash(key, written[HASH:]):
            return None
        return pickle.loads(written[HASH:])

    def save(self, key: object, data: object) -> None:
        """Write a compiled form in one step, so that no process reads half of it."""
        form = dumps(data)
        handle, draft = tempfile.mkstemp(dir=self.folder, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(self._hash(key, form) + form)
            Path(draft).replace(self.path(key))
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise

    def flush(self) -> None:
        """Remove every compiled form of the function, as its ``recompile`` asks for."""
        for file in self.folder.glob(f"{self.name}.*.nbc"):
            file.unlink(missing_ok=True)

    def _hash(self, key: object, form: bytes) -> bytes:
        return hashlib.sha256(f"{self.stamp}{key!r}".encode() + form).digest()


# Say that kernels are being compiled, once a process, so that a first fit does not look stuck.
#
# This module does not load the compiler: the command line says it before anything is loaded.

NOTE = "Note: compiling once for this machine, which takes some seconds; later runs start at once."
AGAIN = (
    "Note: compiling, which takes a minute, in this and in every process: {}. Set NUMBA_CACHE_DIR "
    "to a folder of your own."
)

_said = False


def say_once() -> None:
    """Write the note to stderr, unless it was written before."""
    global _said  # noqa: PLW0603 - once a process
    if not _said:
        _said = True
        print(AGAIN.format(not_kept) if not_kept else NOTE, file=sys.stderr, flush=True)  # noqa: T201


def say_to_a_person() -> None:
    """Write the note if a person waits for this process; workers of a pool stay silent.

    That nothing can be kept is written in any case: it costs each process that is started.
    """
    if not _said and multiprocessing.parent_process() is None and (not_kept or person_waits()):
        say_once()


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
            say_to_a_person()

    def on_end(self, found: Any) -> None:
        """Collect garbage again."""
        self._under_way -= 1
        if self._under_way == 0 and self._collects:
            gc.enable()


event.register("numba:compile", CompileNote())


def _compiled(function: Function, **options: Any) -> Function:
    options = {"pipeline_class": LeanCompiler, "no_cfunc_wrapper": True, **options}
    made: Any = numba.njit(nogil=True, error_model="numpy", **options)(function)
    made.compile = uninterrupted()(made.compile)
    return cast(Function, made)


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
    """Make a kernel that is run by teams: see kernels/runtime/team.py. Python cannot call it."""
    return partial(
        kernel, _nrt=allocates, pipeline_class=TeamCompiler, no_cpython_wrapper=True,
        no_cfunc_wrapper=False,
    )  # fmt: skip


# Parts of a kernel written as functions of their own, for loops over nodes of a few rows.
#
# Two things made such calls dearer than their work (measured: half of the time that a tree took).
# Handing over an array takes seven numbers, so a part is compiled into its caller. And every array
# handed over is counted in and out, by instructions that lock memory; so these kernels are
# ``uncounted``. The memory of their arrays belongs to the Python function that called them.


def inline(function: Function) -> Function:
    """Make a part of kernels; it has no entry for Python to call it by."""
    return part_of_kernels(function, forceinline=True)


@intrinsic  # type: ignore[untyped-decorator]
def on_stack(typing: Any, shape: Any, dtype: Any) -> Any:
    """Return an array of this shape, a tuple, that lives until the function returns.

    It is not initialised and not counted, so kernels that are not to allocate may have it.
    """
    array = types.Array(dtype.dtype, len(shape), "C")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        made = make_array(array)(context, builder)
        sizes = cgutils.unpack_tuple(builder, values[0])
        width = context.get_constant(types.intp, dtype.dtype.bitwidth // 8)
        strides: list[Any] = []
        total = context.get_constant(types.intp, 1)
        for size in reversed(sizes):
            strides.insert(0, builder.mul(total, width))
            total = builder.mul(total, size)
        data = builder.alloca(context.get_data_type(dtype.dtype), total)
        populate_array(made, data, sizes, strides, width, None)
        return made._getvalue()

    return array(shape, dtype), generate


@intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(typing: Any, bits: Any) -> Any:
    """Return the place of the lowest bit that is set; one has to be."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], cgutils.true_bit)

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing: Any, array: Any, place: Any) -> Any:
    """Have an entry of an array brought to the cache, without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        data = make_array(signature.args[0])(context, builder, values[0]).data
        at = builder.bitcast(builder.gep(data, [values[1]]), byte)
        builder.call(function, [at, number(0), number(3), number(1)])  # to read, often, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def multiply_high(typing: Any, a: Any, b: Any) -> Any:
    """Return the upper 64 of the 128 bits of a product."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(value, wide) for value in values))
        return builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate
