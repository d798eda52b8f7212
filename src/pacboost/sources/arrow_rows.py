"""Parquet and Feather files, row by row as text: a column reads as it would in a CSV file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import IO, Any

from pacboost.errors import FileError
from pacboost.sources.cells import Cells
from pacboost.sources.csv_rows import ROWS_AT_ONCE
from pacboost.sources.data_file import PARQUET, DataFile
from pacboost.sources.json_rows import as_text
from pacboost.sources.optional import need


def arrow_blocks(file: DataFile) -> Iterator[Cells]:
    """Read a file some thousand rows at a time; rows are numbered from 1."""
    pa = need("pyarrow", "parquet")
    before = 0
    with file.opened() as stream:
        try:
            for batch in _batches(file, stream):
                lines = list(range(before + 1, before + batch.num_rows + 1))
                before += batch.num_rows
                if lines:
                    yield Cells(file, _columns(file, batch, lines), lines)
        except (pa.ArrowException, OSError) as problem:
            raise FileError(
                f"{file}: cannot be read ({problem}). Is it a Parquet or Feather file, and whole?"
            ) from problem
    if not before:
        raise FileError(f"{file}: has columns but no rows; at least one row is needed")


def _batches(file: DataFile, stream: IO[bytes]) -> Iterator[Any]:
    if file.kind == PARQUET:
        source = need("pyarrow.parquet", "parquet").ParquetFile(stream)
        yield from source.iter_batches(ROWS_AT_ONCE)
    else:
        table = need("pyarrow.feather", "parquet").read_table(stream)
        yield from table.to_batches(ROWS_AT_ONCE)


def _columns(file: DataFile, batch: Any, lines: list[int]) -> dict[str, tuple[str, ...]]:
    names = [str(name).strip() for name in batch.schema.names]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise FileError(f"{file}: {', '.join(sorted(twice))} is the name of two columns")
    columns = {}
    for name, column in zip(names, batch.columns, strict=True):
        if name.startswith("__index_level_"):  # the row numbers of pandas
            continue
        text = partial(as_text, file=file, name=name)
        pairs = zip(column.to_pylist(), lines, strict=True)
        columns[name] = tuple(text(value, line=line) for value, line in pairs)
    return columns
