"""Lazy frames of polars, which hold a query in the place of rows."""

from __future__ import annotations

from typing import Any

MOST_PARTS = 16
"""So many parts of a list are looked at: pairs of rows and labels, not labels."""


def collected(data: Any) -> Any:
    """Run the query of a lazy frame; give anything else back as it is.

    Pairs of rows and labels, and short lists of them, are looked into. A query is run once in each
    call: rows may come in another order when it is run again.

    >>> collected([1, 2, 3])
    [1, 2, 3]
    """
    if isinstance(data, tuple | list) and len(data) <= MOST_PARTS:
        parts = [collected(part) for part in data]
        same = all(part is given for part, given in zip(parts, data, strict=True))
        return data if same else type(data)(parts)
    kind = type(data)
    if kind.__name__ == "LazyFrame" and kind.__module__.startswith("polars."):
        return data.collect()
    return data
