"""The container: whole, in its place, of its kind, or refused in words."""

import hashlib
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import pacboost
from pacboost.errors import FileError
from pacboost.models.file import container, document
from pacboost.models.file.container import VERSION
from pacboost.models.file.document import TYPES, MemoryBudget, MemoryLimitError
from tests.examples import examples
from tests.models.file.mutants import sealed

ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)
CONTENT: dict[str, Any] = {"a": np.arange(5.0), "words": [f"w{k}" for k in range(30)], "n": None}


def written(path: Path, kind: str = "model") -> Path:
    container.write(path, kind, CONTENT)
    return path


def test_there_and_back(tmp_path: Path) -> None:
    found = container.read(written(tmp_path / "file"), "model")
    assert found.document["a"].tolist() == CONTENT["a"].tolist()
    assert found.document["words"] == CONTENT["words"]
    assert found.document["n"] is None
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert container.kind_of(tmp_path / "file") == "model"


def test_it_is_what_the_page_says_it_is(tmp_path: Path) -> None:
    content = written(tmp_path / "file").read_bytes()
    first, size, rest = content.split(b"\n", 2)
    assert first == b"pacboost model %d" % VERSION
    assert rest[: int(size)].startswith(b'{"arrays":[["f8",5],["u1",80],["i4",30]],"content":{"a":')
    assert rest[int(size) :].startswith(np.arange(5.0).tobytes())
    assert content[-32:] == hashlib.sha256(content[:-32]).digest()
    assert container.read(tmp_path / "file", "model").sha256 == content[-32:].hex()
    assert b"\n".join([first, b"".join(container.packed(CONTENT))]) == content[:-32]


def test_every_flipped_bit_and_every_cut_is_found(tmp_path: Path) -> None:
    path = written(tmp_path / "file")
    content = path.read_bytes()
    flipped = [bytearray(content) for _ in content]
    for place, copy in enumerate(flipped):
        copy[place] ^= 1 << (place % 8)
    damage: list[bytes | bytearray] = [*flipped, content + b"\n"]
    for damaged in (*damage, *(content[:size] for size in range(len(content)))):
        path.write_bytes(damaged)
        with pytest.raises(FileError, match="file: "):
            container.read(path, "model")


def test_another_kind_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "file", "checkpoint")
    with pytest.raises(FileError, match="holds a checkpoint"):
        pacboost.load(path)


@pytest.mark.parametrize("size", [b"-1", b"9" * 30, b"1e3", b"", b"99999", b"\xb2"])
def test_impossible_lengths_are_refused(tmp_path: Path, size: bytes) -> None:
    path = written(tmp_path / "file")
    first, _, rest = path.read_bytes().split(b"\n", 2)
    path.write_bytes(sealed(b"\n".join([first, size, rest])))
    with pytest.raises(FileError, match="is damaged"):
        container.read(path, "model")


def test_what_has_no_end_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="it is not a file"):
        pacboost.load(tmp_path / "pipe")
    with pytest.raises(FileError, match="it is not a file"):
        pacboost.load("/dev/zero")


def test_memory_is_bounded_by_the_file(tmp_path: Path) -> None:
    """A million empty dictionaries are 3 MB of text, and 72 MB in memory."""
    path = tmp_path / "file"
    text = b'{"arrays":[],"content":{"a":[%s]}}' % b",".join([b"{}"] * 1_000_000)
    path.write_bytes(sealed(b"pacboost model 4\n%d\n%s%s" % (len(text), text, bytes(32))))
    tracemalloc.start()
    try:
        with pytest.raises(MemoryLimitError, match="file: the document"):
            container.read(path, "model")
        assert tracemalloc.get_traced_memory()[1] < 2 * path.stat().st_size + 10**6
    finally:
        tracemalloc.stop()


# The document of a file: what goes in comes out, and what no writer writes is refused.

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
ARRAYS = st.sampled_from(TYPES).flatmap(
    lambda kind: arrays.arrays(kind, arrays.array_shapes(min_dims=1, max_dims=3, min_side=0))
)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | NUMBERS | TEXT | ARRAYS | st.lists(TEXT, min_size=20)
KEYS = TEXT.filter(lambda key: key not in ("array", "strings"))


def nested(inner: Any) -> Any:
    return st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)


DOCUMENT = st.dictionaries(KEYS, st.recursive(LEAVES, nested, max_leaves=12), max_size=4)


def read(text: bytes, raw: bytes = b"", room: int = 10**6) -> dict[str, Any]:
    left = raw

    def fill(target: memoryview) -> int:
        nonlocal left
        count = min(len(target), len(left))
        target[:count], left = left[:count], left[count:]
        return count

    return document.read(text, fill, len(raw), MemoryBudget(room))


def same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and repr(one) == repr(other)


@given(DOCUMENT)
@examples(60)
def test_documents_go_there_and_back(content: dict[str, Any]) -> None:
    text, held = document.written(content)
    raw = b"".join(array.tobytes() for array in held)
    assert text.isascii()
    back = read(text, raw, 10**8)
    assert same(content, back)
    again, arrays_again = document.written(back)
    assert again == text
    assert b"".join(array.tobytes() for array in arrays_again) == raw


def test_the_order_of_keys_and_of_memory_does_not_matter() -> None:
    one = document.written({"a": np.arange(6).reshape(2, 3), "b": 1})
    two = document.written({"b": np.int64(1), "a": np.asfortranarray(np.arange(6).reshape(2, 3))})
    big = document.written({"b": 1, "a": np.arange(6).reshape(2, 3).astype(">i8")})
    assert one[0] == two[0] == big[0]
    assert one[1][0].tobytes() == two[1][0].tobytes() == big[1][0].tobytes()


@pytest.mark.parametrize(
    "value",
    [
        float("nan"), float("inf"), object(), {1: 2}, {"array": 3}, {"a": {"strings": 1}}, b"bytes",
        "\ud800", {"\ud800": 1}, np.array(3), np.zeros((1, 1, 1, 1)), np.array(["a"]),
        np.array([object()]), np.array([1j]), np.datetime64("2020-01-01"), ENDLESS,
    ],
)  # fmt: skip
def test_what_is_no_data_is_not_written(value: object) -> None:
    with pytest.raises(FileError, match=r"content\.part.* saved"):
        document.written({"part": value})


WORDS = '{"arrays":[["%s",%d],["%s",%d]],"content":{"a":{"strings":[0,1]}}}'
BAD = {
    "not JSON": ("{", b""),
    "no dictionary": ("[]", b""),
    "parts missing": ('{"content":{}}', b""),
    "more parts": ('{"arrays":[],"content":{},"more":1}', b""),
    "a key twice": ('{"arrays":[],"content":{"a":1,"a":1}}', b""),
    "content that is none": ('{"arrays":[],"content":[]}', b""),
    "arrays that are none": ('{"arrays":{},"content":{}}', b""),
    "NaN": ('{"arrays":[],"content":{"a":NaN}}', b""),
    "infinity": ('{"arrays":[],"content":{"a":-Infinity}}', b""),
    "a number too large": ('{"arrays":[],"content":{"a":1e999}}', b""),
    "too many digits": ('{"arrays":[],"content":{"a":%s}}' % ("9" * 5000), b""),
    "half a character": ('{"arrays":[],"content":{"a":"\\ud800"}}', b""),
    "nested too deeply": ('{"arrays":[],"content":{"a":%s}}' % ("[" * 100 + "]" * 100), b""),
    "nested beyond all bounds": ('{"arrays":[],"content":{"a":%s}}' % ("[" * 10**4), b""),
    "letters beyond ASCII": ('{"arrays":[],"content":{"a":"ü"}}', b""),
    "an array nobody refers to": ('{"arrays":[["u1",1]],"content":{}}', b"1"),
    "an array that is not there": ('{"arrays":[],"content":{"a":{"array":0}}}', b""),
    "an array twice": ('{"arrays":[["u1",1]],"content":{"a":{"array":0},"b":{"array":0}}}', b"1"),
    "a reference with more": ('{"arrays":[["u1",1]],"content":{"a":{"array":0,"b":1}}}', b"1"),
    "a reference by truth": ('{"arrays":[["u1",1]],"content":{"a":{"array":false}}}', b"1"),
    "too few bytes": ('{"arrays":[["u1",2]],"content":{"a":{"array":0}}}', b"1"),
    "too many bytes": ('{"arrays":[["u1",2]],"content":{"a":{"array":0}}}', b"123"),
    "objects": ('{"arrays":[["O8",1]],"content":{"a":{"array":0}}}', b"12345678"),
    "no sizes": ('{"arrays":[["u1"]],"content":{"a":{"array":0}}}', b""),
    "a size below 0": ('{"arrays":[["u1",-1]],"content":{"a":{"array":0}}}', b""),
    "four axes": ('{"arrays":[["u1",1,1,1,1]],"content":{"a":{"array":0}}}', b"1"),
    "sizes of nothing": ('{"arrays":[["u1",0,%s]],"content":{"a":{"array":0}}}' % 10**20, b""),
    "sizes that overflow": ('{"arrays":[["f8",4294967296,4294967296]],"content":{}}', b""),
    "neither true nor false": ('{"arrays":[["b1",1]],"content":{"a":{"array":0}}}', b"\x02"),
    "words of other sizes": (WORDS % ("u1", 2, "i4", 1), b"ab\x03\x00\x00\x00"),
    "words that are no UTF-8": (WORDS % ("u1", 1, "i4", 1), b"\xff\x01\x00\x00\x00"),
    "words of another kind": (WORDS % ("u1", 1, "u4", 1), b"a\x01\x00\x00\x00"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_no_writer_writes_is_refused(kind: str) -> None:
    text, raw = BAD[kind]
    with pytest.raises((ValueError, RecursionError)):
        read(text.encode(), raw)


def test_memory_is_refused_before_it_is_asked_for() -> None:
    many = json.dumps({"arrays": [], "content": {"a": [{}] * 10_000}}).encode()
    assert len(read(many, room=10**7)["a"]) == 10_000
    with pytest.raises(MemoryLimitError, match="the document"):
        read(many, room=10**6)
    words = b"".join([b"ab" * 1000, np.full(1000, 2, np.int32).tobytes()])
    text = b'{"arrays":[["u1",2000],["i4",1000]],"content":{"a":{"strings":[0,1]}}}'
    assert read(text, words, 10**6) == {"a": ["ab"] * 1000}
    with pytest.raises(MemoryLimitError, match=r"content\.a"):
        read(text, words, 20_000)
