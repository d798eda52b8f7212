"""The same rows as the frames of several libraries, and as a list of mappings."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

LIBRARIES = ["pandas", "polars", "arrow", "mappings"]


def as_rows(columns: Mapping[Any, Iterable[Any]], library: str) -> Any:
    """Return columns as what a library calls a table."""
    frame = {name: list(cells) for name, cells in columns.items()}
    if library == "pandas":
        return pd.DataFrame(frame)
    if library == "polars":
        return pl.DataFrame(frame)
    if library == "arrow":
        return pa.table(frame)
    return [dict(zip(frame, row, strict=True)) for row in zip(*frame.values(), strict=True)]
