"""Blocks of whole lines, cut without parsing."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.errors import FileError
from pacboost.sources.oracles import csv as lines
from pacboost.sources.oracles.csv import Lines, cut, last_end, read_lines


def pieces(path: Path, *, quotes: bool = True) -> list[tuple[Lines, bytes]]:
    return [(block, read_lines(path, block)) for block in cut(path, 0, quotes=quotes)]


cells = st.text(st.sampled_from('ab1,"\n\r '), max_size=6)


@given(st.lists(st.lists(cells, min_size=2, max_size=2), max_size=12), st.integers(1, 40))
@settings(deadline=None, max_examples=200)
def test_blocks_are_whole_rows_for_any_size(rows: list[list[str]], size: int) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK", size)
        path = Path("unused")
        content = text.getvalue().encode()
        patch.setattr(Path, "open", lambda self, mode: io.BytesIO(content))
        got = pieces(path)
    assert b"".join(piece for _, piece in got) == content
    read = [
        row
        for _, piece in got
        for row in csv.reader(io.StringIO(piece.decode(), newline=""), strict=True)
    ]
    assert read == rows
    for block, _ in got:
        assert block.line == 1 + content[: block.start].count(b"\n")


def test_a_last_line_without_an_end_is_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"1\n2\n3")
    assert [piece for _, piece in pieces(path)] == [b"1\n2\n", b"3"]


def test_a_block_grows_until_a_line_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK", 4)
    path = tmp_path / "a.txt"
    path.write_bytes(b"0123456789\n1\n")
    assert [piece for _, piece in pieces(path)] == [b"0123456789\n", b"1\n"]


def test_quotes_mean_nothing_where_there_are_none(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b'1 # 5"\n2\n')
    assert [piece for _, piece in pieces(path, quotes=False)] == [b'1 # 5"\n2\n']


def test_a_quote_that_is_never_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK", 8)
    path = tmp_path / "a.csv"
    path.write_bytes(b'1,2\n3,4\n5,"6\n7,8\n')
    with pytest.raises(FileError, match=r"a\.csv, line 3: a quote is opened here or later"):
        pieces(path)


@pytest.mark.parametrize(
    ("chunk", "inside", "end"),
    [(b"", False, -1), (b"ab", False, -1), (b'a\nb"\n', True, 4), (b'"\n"\n"\n', False, 3)],
)
def test_the_last_end_of_a_row(chunk: bytes, inside: bool, end: int) -> None:
    assert last_end(chunk, inside) == end


def test_a_file_that_shrinks_or_vanishes(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"1\n2\n")
    (block,) = cut(path, 0, quotes=False)
    path.write_bytes(b"1\n")
    with pytest.raises(FileError, match=r"a\.txt: was cut short while"):
        read_lines(path, block)
    path.unlink()
    with pytest.raises(FileError, match=r"a\.txt: cannot be read \(No such file"):
        read_lines(path, block)
