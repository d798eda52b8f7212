"""The kinds of columns, in the order in which they are asked. A new kind is one file and one line.

The first that takes the cells of a column reads it. So numbers come before categories, which take
any text, and a kind whose cells another one would take stands before that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacboost.sources.kinds.categories import Categories
from pacboost.sources.kinds.column import InputColumn
from pacboost.sources.kinds.dates import Dates
from pacboost.sources.kinds.kind import ColumnKind
from pacboost.sources.kinds.numbers import PlainNumbers
from pacboost.sources.kinds.texts import Unused
from pacboost.sources.kinds.truths import Truths

KINDS: tuple[type[ColumnKind], ...] = (
    PlainNumbers,
    Truths,
    Dates,
    Unused,
    Categories,
)
BY_TAG = {kind.tag: kind for kind in KINDS}
PLAIN = PlainNumbers()


def learned(column: InputColumn) -> list[ColumnKind] | None:
    """Return the kinds of the columns that are made of one; None if no kind takes its cells.

    >>> import numpy as np
    >>> learned(InputColumn("when", np.array(["31/12/2024", "1/2/2024"], dtype=object)))[1]
    Dates(part='year', order=<DayOrder.DAY_MONTH: 'day/month/year'>, times=False)
    """
    column.refuse_unsupported()
    every = (kind.learn(column) for kind in KINDS)
    return next((found for found in every if found is not None), None)


def to_json(kind: ColumnKind) -> dict[str, Any]:
    """Return a kind as values for JSON."""
    return {"kind": kind.tag, **kind.to_json()}


def from_json(content: Mapping[str, Any]) -> ColumnKind:
    """Return the kind from ``to_json``; raise ValueError for what no fit could have written."""
    fields = dict(content)
    tag = fields.pop("kind", None)
    if tag not in BY_TAG:
        raise ValueError(f"{tag!r:.40} is not a kind of column; {', '.join(BY_TAG)} are")
    return BY_TAG[tag].from_json(fields)
