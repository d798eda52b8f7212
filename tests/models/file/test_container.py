"""The container: whole, in its place, of its kind, or refused in words."""

from __future__ import annotations

import hashlib
import os
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost.errors import FileError
from pacboost.models.file import container
from pacboost.models.file.container import VERSION
from tests.models.file.mutants import sealed

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
    assert rest[: int(size)].startswith(b'{"arrays":["f8 5","u1 80","i4 30"],"content":{"a":')
    assert rest[int(size) :].startswith(np.arange(5.0).tobytes())
    assert content[-32:] == hashlib.sha256(content[:-32]).digest()
    assert container.read(tmp_path / "file", "model").sha256 == content[-32:].hex()
    assert b"\n".join([first, b"".join(container.packed(CONTENT))]) == content[:-32]


def test_every_flipped_bit_is_found(tmp_path: Path) -> None:
    path = written(tmp_path / "file")
    content = path.read_bytes()
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << (place % 8)
        path.write_bytes(changed)
        with pytest.raises(FileError, match=r"file: (is damaged|is not a|has version|holds a)"):
            container.read(path, "model")


def test_every_cut_is_found(tmp_path: Path) -> None:
    path = written(tmp_path / "file")
    content = path.read_bytes()
    for size in range(len(content)):
        path.write_bytes(content[:size])
        with pytest.raises(FileError, match="file: "):
            container.read(path, "model")
    path.write_bytes(content + b"\n")
    with pytest.raises(FileError, match="is damaged"):
        container.read(path, "model")


def test_another_kind_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "file", "checkpoint")
    with pytest.raises(FileError, match="holds a checkpoint; a pacboost model file is needed"):
        pacboost.load(path)


@pytest.mark.parametrize("size", [b"-1", b"9" * 30, b"1e3", b"", b"99999", b"\xb2"])
def test_impossible_lengths_are_refused(tmp_path: Path, size: bytes) -> None:
    path = written(tmp_path / "file")
    first, _, rest = path.read_bytes().split(b"\n", 2)
    path.write_bytes(sealed(b"\n".join([first, size, rest])))
    with pytest.raises(FileError, match=r"is damaged \(the document cannot have"):
        container.read(path, "model")


def test_what_has_no_end_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="it is no file"):
        pacboost.load(tmp_path / "pipe")
    with pytest.raises(FileError, match="it is no file"):
        pacboost.load("/dev/zero")


def test_memory_is_bounded_by_the_file(tmp_path: Path) -> None:
    """A million empty dictionaries are 3 MB of text, and 72 MB in memory."""
    path = tmp_path / "file"
    text = b'{"arrays":[],"content":{"a":[%s]}}' % b",".join([b"{}"] * 1_000_000)
    path.write_bytes(sealed(b"pacboost model 3\n%d\n%s%s" % (len(text), text, bytes(32))))
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match="would take more memory than a file"):
            container.read(path, "model")
        assert tracemalloc.get_traced_memory()[1] < 2 * path.stat().st_size + 10**6
    finally:
        tracemalloc.stop()
