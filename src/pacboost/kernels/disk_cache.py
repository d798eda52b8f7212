"""Compiled kernels on disk: a file that is damaged, or cannot be written, costs time and no fit.

Numba keeps an index of each function beside its compiled forms, and believes both: a damaged index
stops every fit, damaged machine code stops the process, and of two processes that compile at once
the index of one can name the code of the other. Here every compiled form has one file, named for
all that it depends on and opened by a hash of its contents. What does not match is compiled again.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

HASH = 32
"""The first bytes of a file are the hash of those that follow."""


def keep_on_disk(compiled: Any) -> None:
    """Let a compiled function load and save its machine code, where any folder can be written."""
    with suppress(RuntimeError):  # numba found no such folder; every process compiles anew
        compiled._cache = DiskCache(compiled.py_func)


@functools.cache
def kernel_sources() -> bytes:
    """Hash all kernels, since parts of one file are compiled into kernels of another."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).digest()


class DiskCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function, with files that are checked before they are used."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        folder, name = Path(self.cache_path), self._impl.filename_base
        stamp = repr((numba.__version__, kernel_sources(), self._impl.locator.get_source_stamp()))
        self._cache_file = CheckedFiles(folder, name, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Give the compiled form of a signature, or None where there is none that can be used."""
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
