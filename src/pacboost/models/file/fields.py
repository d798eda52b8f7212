"""Checked reading of the fields of a file: each is read by name and kind.

A value that no fit could have written is refused, with the name of the field and the reason, and so
is a field that nothing reads. Records of one class are stored side by side, an array for each of
their fields: ten thousand rounds are a dozen arrays, which are small on disk and checked at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pacboost.bounds.certificate import Certificate
from pacboost.models.file.document import MemoryBudget
from pacboost.sources.derived import OPERATORS, DerivedColumn
from pacboost.sources.level_means import MEANS, LevelMeans

MAX_NUMBER = 1e150
"""No vote or value of a fit is larger; products and sums of such numbers stay finite."""


class Written(Protocol):
    """Something that can be written as plain values."""

    def to_dict(self) -> Any:
        """Return plain values."""


Made = TypeVar("Made", bound=Written)
Kind = TypeVar("Kind", bool, str, list[Any], dict[str, Any])


class Fields:
    """A dictionary of a file, named ``where``."""

    def __init__(self, content: object, where: str, room: MemoryBudget) -> None:
        self.where, self.room = where, room
        if not isinstance(content, dict):
            self.refuse(None, f"is {_kind(content)} where names and values are needed")
        self._content: dict[str, Any] = dict(content)

    def refuse(self, name: str | None, reason: str) -> NoReturn:
        """Raise an error that names the field and the reason."""
        raise ValueError(f"{self.where if name is None else f'{self.where}.{name}'}: {reason}")

    def __contains__(self, name: str) -> bool:
        return name in self._content

    def peek(self, name: str) -> Any:
        """Return a field without consuming it; None if there is none."""
        return self._content.get(name)

    def any(self, name: str) -> Any:
        """Return a field of any kind."""
        if name not in self._content:
            self.refuse(name, "is not there")
        return self._content.pop(name)

    def whole(self, name: str, low: int, high: int) -> int:
        """Return a whole number within bounds."""
        value = self.any(name)
        # type and not isinstance: True is an int
        if type(value) is not int or not low <= value <= high:
            self.refuse(name, f"is {value!r:.40}; it must be a whole number, {low} to {high}")
        return value

    def number(self, name: str) -> float:
        """Return a number."""
        value = self.any(name)
        if type(value) not in (int, float) or not abs(value) <= MAX_NUMBER:
            self.refuse(name, f"is {value!r:.40}; it must be a number")
        return float(value)

    def get(self, name: str, kind: type[Kind]) -> Kind:
        """Return a field of a kind that JSON knows: bool, str, list or dict."""
        value = self.any(name)
        if not isinstance(value, kind):
            self.refuse(name, f"is {_kind(value)} where a {kind.__name__} is needed")
        return value

    def word(self, name: str, allowed: Mapping[str, Any] | tuple[str, ...]) -> str:
        """Return a field that is one of the allowed words."""
        value = self.any(name)
        if not isinstance(value, str) or value not in allowed:
            self.refuse(name, f"is {value!r:.40}; it may be {', '.join(allowed)}")
        return value

    def words(self, name: str) -> list[str]:
        """Return a list of words."""
        words = self.get(name, list)
        return [w for w in words if isinstance(w, str) or self.refuse(name, "is not words")]

    def array(
        self,
        name: str,
        kind: DTypeLike,
        *shape: int | None,
        within: tuple[float, float] | None = None,
    ) -> NDArray[Any]:
        """Return an array of a kind and shape (None: any length), finite and within bounds.

        Without bounds, numbers are within ±MAX_NUMBER.
        """
        value = self.any(name)
        dtype = np.dtype(kind)
        if not isinstance(value, np.ndarray) or value.dtype != dtype:
            actual = value.dtype if isinstance(value, np.ndarray) else _kind(value)
            self.refuse(name, f"is {actual} where an array of {dtype} is needed")
        fits = value.ndim == len(shape) and all(
            size in (None, length) for size, length in zip(shape, value.shape, strict=True)
        )
        if not fits:
            wanted_shape = " x ".join("any" if size is None else str(size) for size in shape)
            self.refuse(name, f"has the shape {value.shape}, not {wanted_shape}")
        low, high = (-MAX_NUMBER, MAX_NUMBER) if within is None else within
        # NaN makes both ends NaN, which no comparison lets pass
        ends = (value.min().item(), value.max().item()) if value.size else (0, 0)
        if dtype.kind != "b" and value.size and not low <= ends[0] <= ends[1] <= high:
            self.refuse(name, f"holds what is not a number from {low:g} to {high:g}")
        return value

    def part(self, name: str) -> Fields:
        """Return the fields within a field."""
        return Fields(self.any(name), f"{self.where}.{name}", self.room)

    def optional_part(self, name: str) -> Fields | None:
        """Return the fields within a field; None if it is null."""
        value = self.any(name)
        return None if value is None else Fields(value, f"{self.where}.{name}", self.room)

    def parts(self, name: str) -> list[Fields]:
        """Return the fields within each entry of a list."""
        entries = enumerate(self.get(name, list))
        return [Fields(entry, f"{self.where}.{name}[{k}]", self.room) for k, entry in entries]

    def made(self, name: str, make: Callable[[Any], Made]) -> Made:
        """Build an object from a field, and name the field if that fails.

        The object must be written back as the same value: then no part of it was ignored.
        """
        value = self.any(name)
        try:
            built = make(value)
        except KeyError as problem:
            self.refuse(name, f"lacks {problem}")
        except (AttributeError, LookupError, ArithmeticError, TypeError, ValueError) as problem:
            self.refuse(name, str(problem))
        if not _same(built.to_dict(), value):
            self.refuse(name, "holds what this version does not know")
        return built

    def end(self) -> None:
        """Refuse fields that nothing has read."""
        # a field that nobody reads may be one that a newer version relies on
        for name in self._content:
            self.refuse(name, "is a field that this version does not know")


def _same(one: object, other: object) -> bool:
    """Compare plain values; a list equals a tuple."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    # JSON has no tuples
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(
        np.array_equal(one, np.asarray(other)) if isinstance(one, np.ndarray) else one == other
    )


def _kind(value: object) -> str:
    return "null" if value is None else type(value).__name__


BYTES_A_RECORD = 330
BYTES_A_VALUE = 24
"""Approximate memory of a round, and of each of its numbers."""

Record = TypeVar("Record")

KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,), "float": (float, int), "str": (str,), "bool": (bool,),
    "int | None": (int, type(None)), "float | None": (float, int, type(None)),
}  # fmt: skip


def columns(records: Sequence[Any], names: Collection[str]) -> dict[str, Any]:
    """Return the fields of records, each as an array or a list."""
    if not records:
        return {}
    return {name: _column([getattr(record, name) for record in records]) for name in names}


def _column(values: list[Any]) -> Any:
    """Return numbers of one kind as an array, with NaN for None; mixed values as a list."""
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
    # before any record is made: the count alone is from the file
    parts[0].room.take(count * BYTES_A_RECORD, parts[0].where)
    values_of = {}
    for field in fields(kind) if count else ():  # type: ignore[arg-type]
        part = next((part for part in parts if field.name in part), None)
        if part is None:
            if field.default is MISSING and field.default_factory is MISSING:
                parts[0].refuse(field.name, "is not there")
            continue
        values_of[field.name] = _values(part, field, count)
    for part in parts:
        part.end()
    lines = zip(*values_of.values(), strict=True) if values_of else ()
    return [kind(**dict(zip(values_of, line, strict=True))) for line in lines]


def _values(part: Fields, field: Field[Any], count: int) -> list[Any]:
    values = part.any(field.name)
    if isinstance(values, np.ndarray) and len(values) == count:
        part.room.take(BYTES_A_VALUE * values.size, part.where)
        optional = "None" in str(field.type)
        if np.isinf(values).any() or (np.isnan(values).any() and not optional):
            part.refuse(field.name, "holds what is not a number")
        values = [None if optional and v != v else v for v in values.tolist()]  # noqa: PLR0124
    if not isinstance(values, list) or len(values) != count:
        part.refuse(field.name, f"does not hold a value for each of {count} records")
    for value in values:
        check(part, field, value)
    return values


def check(part: Fields, field: Field[Any], value: object) -> None:
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
    elif declared == "Mapping[str, Any]":
        fits = isinstance(value, dict) and all(type(v) in (int, float, str) for v in value.values())
    else:
        raise TypeError(f"no file holds fields of the kind {declared}")
    if not fits:
        part.refuse(field.name, f"is {value!r:.40} where {declared} is needed")


def checked(part: Fields, kind: type[Any], skip: Collection[str] = ()) -> dict[str, Any]:
    """Return the checked fields of a single record; absent fields need a default."""
    values = {}
    for field in fields(kind):
        if field.name in skip:
            continue
        if field.name in part:
            values[field.name] = part.any(field.name)
            check(part, field, values[field.name])
        elif field.default is MISSING and field.default_factory is MISSING:
            part.refuse(field.name, "is not there")
    return values


def check_claims(document: Fields) -> None:
    """Refuse claims of thresholds, sets and intervals whose fields have other types."""
    for name in ("decision", "coverage"):
        if name in document:
            part = Fields(document.peek(name), name, document.room)
            claims = [part.part("certificate")] if "certificate" in part else []
            for group in ("others", "certificates"):
                claims += part.parts(group) if group in part else []
            for claim in claims:
                checked(claim, Certificate)
                claim.end()


def derived_read(part: Fields, features: int) -> tuple[DerivedColumn, ...]:
    """Read the columns that are derived from others, if there are any."""
    derived: list[DerivedColumn] = []
    for stored in part.get("derived", list) if "derived" in part else ():
        if isinstance(stored, list) and stored[:1] == [MEANS]:
            derived.append(_means_read(part, stored, features))
            continue
        operator, *pair = stored if isinstance(stored, list) and len(stored) == 3 else [None]
        if not (operator in OPERATORS and all(type(j) is int and 0 <= j < features for j in pair)):
            part.refuse("derived", f"holds {stored!r:.60}, which is no operator and two columns")
        derived.append(DerivedColumn(operator, *pair))
    return tuple(derived)


def _means_read(part: Fields, stored: list[Any], features: int) -> LevelMeans:
    column, same, levels, means = stored[1:] if len(stored) == 5 else (-1, -1, [], [])
    if not (
        type(column) is type(same) is int and 0 <= column < features and same == column
        and isinstance(levels, list) and isinstance(means, list) and len(levels) == len(means)
        and all(type(level) in (str, bool, int, float) for level in levels)
        and len(set(levels)) == len(levels)
        and all(type(mean) is float and math.isfinite(mean) for mean in means)
    ):  # fmt: skip
        part.refuse("derived", f"holds {stored!r:.60}, which is no column and means of its levels")
    return LevelMeans(MEANS, column, same, tuple(levels), tuple(means))
