"""JSON lines: one object a line, which maps column names to values. A list of objects also does."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import IO, Any

from pacboost.errors import FileError
from pacboost.sources.cells import Cells
from pacboost.sources.csv_rows import ROWS_AT_ONCE
from pacboost.sources.data_file import DataFile


def json_blocks(file: DataFile) -> Iterator[Cells]:
    """Read a file some thousand rows at a time; a name that a row leaves out is missing there."""
    names: dict[str, None] = {}
    lines: list[int] = []
    chunk: list[dict[str, Any]] = []
    with file.opened() as stream:
        text = io.TextIOWrapper(stream, file.encoding or "utf-8-sig")
        for line, row in _objects(file, text):
            names.update(dict.fromkeys(row))
            lines.append(line)
            chunk.append(row)
            if len(chunk) == ROWS_AT_ONCE:
                yield _cells(file, names, chunk, lines)
                lines, chunk = [], []
    if chunk:
        yield _cells(file, names, chunk, lines)
    elif not names:
        raise FileError(f"{file}: is empty; at least one line with an object is needed")


def _objects(file: DataFile, text: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        for number, line in enumerate(text, start=1):
            if number == 1 and line.lstrip().startswith("["):
                yield from enumerate(map(_object, json.loads(line + text.read())), start=1)
                return
            if line.strip():
                yield number, _object(json.loads(line))
    except UnicodeDecodeError as problem:
        raise FileError(f"{file}: is not UTF-8 text; name its encoding by --encoding") from problem
    except (ValueError, TypeError) as problem:
        raise FileError(
            f"{file}, line {number}: is no JSON object ({problem}). Write one object a line, such "
            'as {"age": 37, "city": "Rome"}.'
        ) from problem


def _object(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise TypeError(f"it holds {row!r:.40}")
    return row


def _cells(
    file: DataFile, names: dict[str, None], rows: list[dict[str, Any]], lines: list[int]
) -> Cells:
    columns = {
        name: tuple(
            as_text(row.get(name), file, name, line) for row, line in zip(rows, lines, strict=True)
        )
        for name in names
    }
    return Cells(file, columns, lines)


def as_text(value: Any, file: DataFile, name: str, line: int) -> str:
    """Write a value as a CSV file would hold it; nothing stands for what is missing.

    >>> from pathlib import Path
    >>> [as_text(value, DataFile(Path("rows.jsonl")), "a", 1) for value in (1.5, True, None, "x")]
    ['1.5', 'true', '', 'x']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict | set | bytes):
        raise FileError(
            f"{file.where(line)}: {name!r} is {value!r:.40}; a cell has to be a number, a text, a "
            "boolean or a date. Take it apart into columns, or leave the column out of the file."
        )
    if hasattr(value, "total_seconds"):
        return repr(value.total_seconds())
    return value.isoformat(sep=" ") if hasattr(value, "hour") else str(value)
