"""The container of model files: one document, arrays as raw bytes, and a SHA-256 over all of it.

    pacboost model 4\n        what it is, and the version of the schema
    1234\n                    how many bytes the document has
    {"arrays": …, "content": …}   ASCII JSON; an array is a reference, {"array": 0}
    the bytes of the arrays, one after the other, little-endian
    SHA-256 of everything before, 32 bytes

It holds data only: no code, no file names, nothing compressed. So its size bounds the memory that
reading may take, and each allocation is checked beforehand (see models/file/document.py).

Each claim in a file has a SHA-256 digest that binds it to the model it was made for: of everything
in the file but clock times and versions, and of all fields of the claim. So a certificate cannot be
combined with other classes or names. The digest is not a signature: anybody who writes a file from
scratch can compute it too.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

from pacboost.errors import FileError
from pacboost.models.file import document
from pacboost.models.file.document import MemoryBudget, MemoryLimitError
from pacboost.sources.optional import atomic_write

VERSION = 4
DIGEST = 32
BYTES_PER_READ = 2**20
MAX_LINE_BYTES = 64


@dataclass(frozen=True, eq=False)
class Content:
    """The content of a file, and the memory that building a model may still take."""

    kind: str
    document: dict[str, Any]
    room: MemoryBudget
    sha256: str


def packed(content: dict[str, Any]) -> Iterator[bytes | memoryview]:
    """Return all bytes between the first line and the SHA-256; the same for equal content."""
    text, arrays = document.written(content)
    yield b"%d\n" % len(text)
    yield text
    for array in arrays:
        yield document.raw(array)


def write(path: Path, kind: str, content: dict[str, Any]) -> None:
    """Write a file whole or not at all: first to a temporary file, which then replaces it."""
    with atomic_write(path) as part, part.open("wb") as file:
        digest = hashlib.sha256()
        for piece in (f"pacboost {kind} {VERSION}\n".encode(), *packed(content)):
            digest.update(piece)
            file.write(piece)
        file.write(digest.digest())
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def refusing_damage(path: str | Path) -> Iterator[None]:
    """Turn errors while reading into errors that name the file."""
    try:
        yield
    except MemoryLimitError as problem:
        raise MemoryLimitError(f"{path}: {problem}") from problem
    except (
        ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError
    ) as problem:  # fmt: skip
        raise FileError(f"{path}: is damaged ({problem})") from problem


def kind_of(path: Path) -> str:
    """Return the kind of a file, from its first line."""
    with _opened(path, "model") as (file, _):
        return _first_line(path, file, "model")


def read(path: Path, kind: str, memory: int = 0) -> Content:
    """Read a file of a kind that ``write`` wrote, and refuse it if it was changed.

    Reading may take ``memory`` bytes, if that is more than the size of the file allows.
    """
    with _opened(path, kind) as (file, size):
        found_kind = _first_line(path, file, kind)
        if found_kind != kind:
            raise FileError(f"{path}: holds a {found_kind}; a pacboost {kind} file is needed")
        sha256 = _checked_digest(path, file, size)
        room = MemoryBudget.of(size, memory)
        with refusing_damage(path):
            line = file.readline(MAX_LINE_BYTES)
            n_left = size - DIGEST - file.tell()
            if not line[:-1].isdigit() or line[-1:] != b"\n" or int(line) > n_left:
                raise ValueError(f"the document cannot have {line[:20]!r} bytes")
            text = file.read(int(line))
            content = document.read(text, file.readinto, size - DIGEST - file.tell(), room)
    return Content(kind, content, room, sha256)


@contextmanager
def _opened(path: Path, kind: str) -> Iterator[tuple[BufferedReader, int]]:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe or device may never end
            raise FileError(f"{path}: cannot be read (it is not a file); a {kind} file is needed")
        with path.open("rb") as file:
            yield file, os.fstat(file.fileno()).st_size
    except FileError:
        raise
    except (OSError, ValueError) as problem:  # a path may contain a null character
        reason = getattr(problem, "strerror", None) or problem
        raise FileError(f"{path}: cannot be read ({reason})") from problem


def _first_line(path: Path, file: BufferedReader, kind: str) -> str:
    line = file.readline(MAX_LINE_BYTES)
    words = line.decode("ascii", "replace").split(" ")
    if len(words) != 3 or words[0] != "pacboost" or not line.endswith(b"\n"):
        raise FileError(f"{path}: is not a pacboost {kind} file")
    if words[2] != f"{VERSION}\n":
        raise FileError(
            f"{path}: has version {words[2][:-1]!r:.20}, this pacboost reads version {VERSION}; it "
            "was written by another version of pacboost. Fit again, or use that version"
        )
    return words[1]


def _checked_digest(path: Path, file: BufferedReader, size: int) -> str:
    """Compare the SHA-256 at the end with that of everything before it."""
    after = file.tell()
    file.seek(0)
    digest, n_left = hashlib.sha256(), size - DIGEST
    while n_left > 0 and (piece := file.read(min(BYTES_PER_READ, n_left))):
        digest.update(piece)
        n_left -= len(piece)
    if n_left != 0 or file.read(DIGEST + 1) != digest.digest():
        raise FileError(
            f"{path}: is damaged (its SHA-256 is not the one at its end: it was cut off, or "
            "something has changed it since it was written)"
        )
    file.seek(after)
    return digest.hexdigest()


CLAIMS = ("certificate", "answering", "decision", "coverage")
"""The parts of a file that make a claim about the model; each has its digest."""
OUTSIDE = ("seconds", "versions")
FIELD = "model_digest"


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a file with a digest in every claim.

    A claim that did not belong to the file it was read from keeps its wrong digest (``kept``):
    writing a model again proves nothing.
    """
    new = [name for name in CLAIMS if content.get(name) and not content[name].get(FIELD)]
    body = _body_digest(content) if new else b""
    claims = {name: {**content[name], FIELD: _digest(body, content[name])} for name in new}
    return {**content, **claims}


def binds(content: Mapping[str, Any], name: str) -> bool:
    """Check whether the digest of a claim matches the content of its file."""
    claim = content[name]
    return bool(claim[FIELD] == _digest(_body_digest(content), claim))


def kept(content: Mapping[str, Any], name: str) -> str:
    """Return the digest that a claim keeps after reading: "" if the claim belongs to the model.

    Such a claim gets a new digest when the model is written again; no other claim does.
    """
    if not content[name].get(FIELD):
        raise ValueError(f"{name}.{FIELD} is not there")
    return "" if binds(content, name) else str(content[name][FIELD])


def _body_digest(content: Mapping[str, Any]) -> bytes:
    body = {name: part for name, part in content.items() if name not in CLAIMS}
    if "about" in body:
        body["about"] = _timeless(body["about"])
    return _sha256(body)


def _digest(body: bytes, claim: Mapping[str, Any]) -> str:
    fields = {name: value for name, value in claim.items() if name != FIELD}
    return _sha256({"body": body.hex(), "claim": fields}).hex()


def _timeless(part: Mapping[str, Any]) -> dict[str, Any]:
    timed = {name: value for name, value in part.items() if name not in OUTSIDE}
    return {k: _timeless(v) if isinstance(v, Mapping) else v for k, v in timed.items()}


def _sha256(content: dict[str, Any]) -> bytes:
    digest = hashlib.sha256()
    for piece in packed(content):
        digest.update(piece)
    return digest.digest()
