"""Records of one class side by side: an array for each of their fields, as their class names them.

Ten thousand rounds are then a dozen arrays, which are small on disk and checked at once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

import numpy as np

from pacboost.models.file.encoding.fields import Fields

BYTES_A_RECORD = 330
BYTES_A_VALUE = 24
"""About what a round takes up in memory, and each of its numbers."""

Record = TypeVar("Record")

KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "str": (str,),
    "bool": (bool,),
    "int | None": (int, type(None)),
    "float | None": (float, int, type(None)),
}
"""What values a field may have, by how its class declares it."""


def columns(records: Sequence[Any], names: Collection[str]) -> dict[str, Any]:
    """Give the fields of records, each as an array or a list; nothing if there are none."""
    if not records:
        return {}
    return {name: _column([getattr(record, name) for record in records]) for name in names}


def _column(values: list[Any]) -> Any:
    """Keep numbers of one kind in an array; NaN stands for None, and a list for what is mixed."""
    if all(isinstance(value, float) for value in values):
        return np.array(values, dtype=np.float64)
    if all(value is None or isinstance(value, float) for value in values):
        return np.array([np.nan if value is None else value for value in values])
    if all(type(value) is int and abs(value) < 2**63 for value in values):
        return np.array(values, dtype=np.int64)
    sizes = {len(value) if isinstance(value, list) else -1 for value in values}
    if (
        len(sizes) == 1
        and -1 not in sizes
        and all(isinstance(v, float) for value in values for v in value)
    ):
        return np.array(values, dtype=np.float64).reshape(len(values), -1)
    return values


def records(parts: Sequence[Fields], kind: type[Record], count: int) -> list[Record]:
    """Read records whose fields lie in one part or several."""
    parts[0].room.take(count * BYTES_A_RECORD, parts[0].where)
    known = {}
    for field in fields(kind) if count else ():  # type: ignore[arg-type]
        part = next((part for part in parts if field.name in part), None)
        if part is None:
            if field.default is MISSING and field.default_factory is MISSING:
                parts[0].refuse(field.name, "is not there")
            continue
        known[field.name] = _values(part, field, count)
    for part in parts:
        part.end()
    lines = zip(*known.values(), strict=True) if known else ()
    return [kind(**dict(zip(known, line, strict=True))) for line in lines]


def _values(part: Fields, field: Field[Any], count: int) -> list[Any]:
    found = part.any(field.name)
    if isinstance(found, np.ndarray) and len(found) == count:
        part.room.take(BYTES_A_VALUE * found.size, part.where)
        optional = "None" in str(field.type)
        if np.isinf(found).any() or (np.isnan(found).any() and not optional):
            part.refuse(field.name, "holds what is no number")
        found = [None if optional and v != v else v for v in found.tolist()]  # noqa: PLR0124
    if not isinstance(found, list) or len(found) != count:
        part.refuse(field.name, f"does not hold a value for each of {count} records")
    for value in found:
        check(part, field, value)
    return found


def check(part: Fields, field: Field[Any], value: Any) -> None:
    """Refuse a value that a field of a class cannot have."""
    declared = str(field.type)
    if declared in KINDS:
        fits = isinstance(value, KINDS[declared]) and (
            declared == "bool" or not isinstance(value, bool)
        )
    elif declared == "list[float]":
        fits = isinstance(value, list) and all(type(v) in (int, float) for v in value)
    elif declared == "tuple[str, ...]":
        fits = isinstance(value, list) and all(isinstance(v, str) for v in value)
    elif declared.startswith("Mapping[str, "):
        fits = isinstance(value, dict) and all(type(v) in (int, float, str) for v in value.values())
    else:
        raise TypeError(f"no file holds fields of the kind {declared}")
    if not fits:
        part.refuse(field.name, f"is {value!r:.40} where {declared} is needed")


def checked(part: Fields, kind: type[Any], skip: Collection[str] = ()) -> dict[str, Any]:
    """Give the fields of a single record, each of its kind; those not there have defaults."""
    found = {}
    for field in fields(kind):
        if field.name in skip:
            continue
        if field.name in part:
            found[field.name] = part.any(field.name)
            check(part, field, found[field.name])
        elif field.default is MISSING and field.default_factory is MISSING:
            part.refuse(field.name, "is not there")
    return found
