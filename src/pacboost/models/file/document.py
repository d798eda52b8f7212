"""The document of a model file: plain values in JSON, with arrays and long lists of words apart.

Content consists of dictionaries with string keys, lists, strings, numbers, true, false, null and
NumPy arrays. An array becomes ``{"array": k}``: the k-th of the arrays that follow the document. A
long list of words becomes ``{"strings": [k, k + 1]}``: their letters in UTF-8, and the number of
bytes of each. ``arrays`` holds dtype and shape of each: ["f8", 31, 2] is 31 rows of two doubles.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError

BYTES_PER_BYTE, SPARE_BYTES = 16, 50_000_000
"""Memory per byte of a file, and for any file: a tree of two leaves, with its round, takes 200
bytes in a file and 2,700 in memory."""


class MemoryLimitError(FileError):
    """Reading a file would take more memory than allowed; that is a limit, not damage."""


@dataclass
class MemoryBudget:
    """The bytes that reading a file may still allocate: 16 times its size and 50 MB in all."""

    left: int

    @classmethod
    def of(cls, size: int, memory: int = 0) -> MemoryBudget:
        """Return the budget of a file of this size in bytes; ``memory`` may raise it."""
        return cls(max(BYTES_PER_BYTE * size + SPARE_BYTES, memory))

    def take(self, size: int, what: str) -> None:
        """Reserve bytes, or refuse."""
        if size > self.left:
            raise MemoryLimitError(
                f"{what}: {size / 1e6:,.0f} MB are needed, and {self.left / 1e6:,.0f} MB of memory "
                "are left for a file of this size. This is a limit, not damage: if you trust the "
                "file, allow more: load(path, memory=10**9), or --memory 1GB in a command"
            )
        self.left -= size

    @contextmanager
    def lent(self, size: int, what: str) -> Iterator[None]:
        """Reserve bytes while the context lasts."""
        self.take(size, what)
        yield
        self.left += size


TYPES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
MAX_AXES = 3
# Python's parser of JSON raises RecursionError at some thousand levels, in the midst of a read.
MAX_DEPTH = 64
MAX_WORDS_IN_DOCUMENT = 16
"""Lists of at most this many words stay in the document, where people can read them."""

Array = NDArray[Any]


def written(content: dict[str, Any]) -> tuple[bytes, list[Array]]:
    """Return the document, and the arrays that follow it."""
    arrays: list[Array] = []
    values = _plain(content, arrays, "content", 0)
    headers = [[array.dtype.str[1:], *array.shape] for array in arrays]
    document = {"arrays": headers, "content": values}
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode("ascii"), arrays


def _plain(value: object, arrays: list[Array], where: str, depth: int) -> Any:
    """Turn a value into JSON types; arrays are appended to ``arrays``, in order of sorted keys."""
    # numbers in JSON take twice the space and ten times as long to read
    if isinstance(value, np.ndarray):
        return {"array": _put_aside(value, arrays, where)}
    if depth < MAX_DEPTH and isinstance(value, list | tuple):
        if len(value) > MAX_WORDS_IN_DOCUMENT and all(isinstance(entry, str) for entry in value):
            return {"strings": _strings(value, arrays, where)}
        return [_plain(v, arrays, f"{where}[{k}]", depth + 1) for k, v in enumerate(value)]
    if depth < MAX_DEPTH and isinstance(value, dict) and not {"array", "strings"} & set(value):
        # sorted, so that equal content has equal bytes and one digest
        keys = [_checked_text(key, where) for key in sorted(value, key=str)]
        return {key: _plain(value[key], arrays, f"{where}.{key}", depth + 1) for key in keys}
    if isinstance(value, str):
        return _checked_text(value, where)
    scalar = value.item() if isinstance(value, np.generic) else value
    if scalar is None or (isinstance(scalar, bool | int | float) and math.isfinite(scalar)):
        return scalar
    raise FileError(f"{where} cannot be saved: {value!r:.60} is not what a model file holds")


def _checked_text(text: str, where: str) -> str:
    try:
        text.encode()
    except (AttributeError, UnicodeEncodeError) as problem:
        raise FileError(f"{where} cannot be saved: {text!r:.60} is no Unicode text") from problem
    return text


def _put_aside(array: Array, arrays: list[Array], where: str) -> int:
    if array.dtype.str[1:] not in TYPES or not 1 <= array.ndim <= MAX_AXES:
        raise FileError(f"{where} cannot be saved: an array of {array.dtype} and {array.ndim} axes")
    # the same bytes from every machine
    arrays.append(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")))
    return len(arrays) - 1


def raw(array: Array) -> memoryview:
    """Return the bytes of an array without copying them."""
    flat: Any = array.reshape(-1).view(np.uint8)
    return memoryview(flat)


def _strings(words: list[str] | tuple[str, ...], arrays: list[Array], where: str) -> list[int]:
    sizes: Array = np.empty(len(words), dtype=np.int32)
    letters_utf8 = bytearray()
    for k, word in enumerate(words):
        encoded = _checked_text(word, where).encode()
        letters_utf8 += encoded
        sizes[k] = len(encoded)
    letters: Array = np.frombuffer(letters_utf8, dtype=np.uint8)
    return [_put_aside(letters, arrays, where), _put_aside(sizes, arrays, where)]


def read(
    text: bytes, fill: Callable[[memoryview], int], n_left: int, room: MemoryBudget
) -> dict[str, Any]:
    """Read a document; ``fill`` reads the bytes of the arrays, ``n_left`` in all."""
    # The characters that create objects bound the memory that the parsed JSON takes.
    counts = {b"{": 240, b"[": 96, b",": 64, b":": 260}
    cost = 2 * len(text) + sum(price * text.count(mark) for mark, price in counts.items())
    room.take(cost, "the document")
    # the writer escapes all else, so other bytes are damage, and a character is a byte
    if not text.isascii():
        raise ValueError("the document holds bytes that are not ASCII")
    document = json.loads(
        text.decode("ascii"), object_pairs_hook=_no_key_twice, parse_float=_finite,
        parse_constant=_finite,
    )  # fmt: skip
    if not isinstance(document, dict) or sorted(document) != ["arrays", "content"]:
        raise ValueError("the document does not consist of arrays and content")
    if not isinstance(document["arrays"], list):
        raise ValueError("arrays: is no list")
    headers = [_array_header(line) for line in document["arrays"]]
    if sum(kind.itemsize * math.prod(shape) for kind, shape in headers) != n_left:
        raise ValueError(f"the arrays do not take up the {n_left} bytes that are there")
    arrays = [_filled(kind, shape, fill, room) for kind, shape in headers]
    reader = _Reader(arrays, room)
    content = reader.value(document["content"], "content", 0)
    if reader.next != len(arrays) or not isinstance(content, dict):
        raise ValueError("the content does not refer to every array once, in order")
    return content


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Python keeps the last of equal keys and other programs the first: a file must not mean
    # two things
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError(f"a key occurs twice among {[key for key, _ in pairs][:10]}")
    return content


def _finite(text: str) -> float:
    # json reads NaN and 1e999, which no writer writes
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text:.40} is not a number that a fit writes")
    return number


def _array_header(line: object) -> tuple[np.dtype[Any], tuple[int, ...]]:
    kind, *shape = line if isinstance(line, list) and line else ("",)
    fits = all(type(size) is int and 0 <= size < 2**48 for size in shape)
    if kind not in TYPES or not (1 <= len(shape) <= MAX_AXES and fits):
        raise ValueError(f"arrays: {line!r:.60} is not a type and sizes")
    return np.dtype(f"<{kind}"), tuple(shape)


def _filled(
    kind: np.dtype[Any],
    shape: tuple[int, ...],
    fill: Callable[[memoryview], int],
    room: MemoryBudget,
) -> Array:
    # an array of no bytes may still have a long axis, which costs who walks it
    room.take(max(kind.itemsize * math.prod(shape), 64 * max(shape) * (0 in shape)), "arrays")
    array = np.empty(shape, dtype=kind)
    if array.size and fill(raw(array)) != array.nbytes:
        raise ValueError("the file ends within its arrays")
    # NumPy takes any byte for true, and then counts with its value
    if kind.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ValueError("arrays: a truth value is neither 0 nor 1")
    return array.astype(kind.newbyteorder("="), copy=False)


@dataclass
class _Reader:
    """Replaces references by arrays and lists of words; references are in order."""

    arrays: list[Array]
    room: MemoryBudget
    next: int = 0

    def value(self, value: object, where: str, depth: int) -> Any:
        # Python's own limit would end in a RecursionError, at a depth that depends on the
        # caller
        if depth > MAX_DEPTH:
            raise ValueError(f"{where}: is nested too deeply")
        if isinstance(value, list):
            return [self.value(v, f"{where}[{k}]", depth + 1) for k, v in enumerate(value)]
        if isinstance(value, dict):
            if "array" in value or "strings" in value:
                return self._referred(value, where)
            return {k: self.value(v, f"{where}.{k}", depth + 1) for k, v in value.items()}
        if isinstance(value, str):
            value.encode()  # a lone surrogate raises
        return value

    def _referred(self, value: dict[str, Any], where: str) -> Any:
        # in order, so that there is one way to write a content
        if value == {"array": self.next} and type(value["array"]) is int:
            self.next += 1
            if self.next <= len(self.arrays):
                return self.arrays[self.next - 1]
        elif value == {"strings": [self.next, self.next + 1]}:
            self.next += 2
            if self.next <= len(self.arrays):
                return self._words(self.arrays[self.next - 2], self.arrays[self.next - 1], where)
        raise ValueError(f"{where}: refers to arrays out of order: {value!r:.60}")

    def _words(self, letters: Array, sizes: Array, where: str) -> list[str]:
        kinds = [f"{array.dtype} {array.ndim}" for array in (letters, sizes)]
        if kinds != ["uint8 1", "int32 1"]:
            raise ValueError(f"{where}: the letters of words are not letters and sizes")
        if (sizes < 0).any() or int(sizes.sum(dtype=np.int64)) != letters.size:
            raise ValueError(f"{where}: the sizes of words are not those of their letters")
        self.room.take(letters.size, where)
        content, words, start = letters.tobytes(), [], 0
        for size in sizes.tolist():
            word = content[start : start + size].decode()
            self.room.take(sys.getsizeof(word) + 16, where)
            words.append(word)
            start += size
        return words
