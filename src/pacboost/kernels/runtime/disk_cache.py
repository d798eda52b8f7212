"""Files of compiled code, checked before they are loaded: a damaged one costs time and no fit.

Numba trusts its index of the compiled forms of a function: a damaged index stops every fit, and
damaged machine code stops the process. Here every compiled form has one file, named after all that
it depends on, which begins with a hash of its contents. If that differs, the form is compiled
again. Loaded code runs, so no file is loaded that other users could have written.
"""

from __future__ import annotations

import functools
import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from pacboost.kernels.runtime import compile_note

HASH_BYTES = 32
"""The first bytes of a file are the hash of those that follow."""

Writers = set[tuple[str, int]]
"""Users and groups by their numbers, and ("all", 0) for everybody."""


class CheckedFiles:
    """A file for each compiled form of a function. Those of an earlier source are replaced."""

    def __init__(self, folder: Path, name: str, stamp: str) -> None:
        self.folder = folder
        self.name = name
        self.stamp = stamp

    def path(self, key: object) -> Path:
        """Return the path for a signature, a processor and the bytes of the function."""
        digest = hashlib.sha256(repr(key).encode()).hexdigest()
        return self.folder / f"{self.name}.{digest[:16]}.nbc"

    def read(self, key: object) -> bytes | None:
        """Read a compiled form; None if its file is absent, damaged, stale, or of another user."""
        try:
            with self.path(key).open("rb") as file:
                if not _writers_of_file(os.fstat(file.fileno())) <= _trusted():
                    compile_note.say_not_loaded(self.path(key))
                    return None
                contents = file.read()
        except OSError:
            return None
        form = contents[HASH_BYTES:]
        return form if contents[:HASH_BYTES] == self._hash(key, form) else None

    def write(self, key: object, form: bytes) -> None:
        """Write a compiled form in one step, so that no process reads half of it."""
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


@functools.cache
def kernel_sources() -> bytes:
    """Hash all kernels, since parts of one file are compiled into kernels of another."""
    files = sorted(file for folder in Path(__file__).parents[:2] for file in folder.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).digest()


def is_safe(folder: Path) -> bool:
    """Check whether compiled code may be kept in a folder; note why, if not."""
    if others_write(folder):
        compile_note.not_kept = compile_note.WRITTEN_BY_OTHERS.format(folder)
        return False
    return True


@functools.cache
def holds_safe_files(folder: Path) -> bool:
    """Check that no other user could have written the files of numba's own cache in a folder."""
    for file in folder.glob("*.nb?"):
        if not _writers_of_file(file.stat()) <= _trusted():
            compile_note.say_not_loaded(file)
            return False
    return True


@functools.cache
def others_write(folder: Path) -> bool:
    """Check whether a folder takes files of users who cannot change the package itself."""
    return not _writers_of_folder(folder) <= _trusted()


@functools.cache
def _trusted() -> Writers:
    """Return this user, the administrator, and those who can change the package."""
    package = _writers_of_folder(Path(__file__).parent)
    if os.name != "posix":
        return package
    return package | {("user", os.getuid()), ("user", 0), ("group", 0)} | _private_group()


def _writers_of_folder(folder: Path) -> Writers:
    """Return who can write to a folder, or replace it or a folder above it.

    The owner of a folder can rename its contents. In a sticky one, such as /tmp, others can replace
    only their files.
    """
    if os.name != "posix":
        return set()
    status, *above = (place.stat() for place in (folder.resolve(), *folder.resolve().parents))
    writers = _writers_of_file(status)
    for place in above:
        sticky = place.st_mode & stat.S_ISVTX
        writers |= {("user", place.st_uid)} if sticky else _writers_of_file(place)
    return writers


def _writers_of_file(status: os.stat_result) -> Writers:
    """Return who can write to a file or folder with this status; nobody if the system hides it."""
    if os.name != "posix":
        return set()
    writers = {("user", status.st_uid)}
    writers |= {("group", status.st_gid)} if status.st_mode & stat.S_IWGRP else set()
    return writers | ({("all", 0)} if status.st_mode & stat.S_IWOTH else set())


def _private_group() -> Writers:
    """Return the private group of this user, which on many systems may write by default."""
    import grp
    import pwd

    with suppress(KeyError):
        user = pwd.getpwuid(os.getuid())
        group = grp.getgrgid(user.pw_gid)
        if group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}:
            return {("group", user.pw_gid)}
    return set()
