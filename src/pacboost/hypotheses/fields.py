"""The fields of a kind of rule: what fingerprints cover, and what a file holds.

A file stores a run of consecutive rules of one kind side by side: one array for each field, and one
array for each count, such as the number of splits of every tree. A kind of rule declares its fields
as data, and nothing else has to know them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.bins import Bins

Arrays = Mapping[str, NDArray[Any]]
OUTPUTS = -1
"""The width of a field with one number for each output of the model."""
MAX_UNITS = 5_000_000
"""At most this many values are stored in 16 bits as multiples of a unit; up to twice as many in 32
bits, and more as doubles: the memory to expand them is bounded by the size of the file."""


@dataclass(frozen=True)
class FieldLines:
    """The lines of a field in each rule: ``times`` a count of the rule, plus ``more``."""

    count: str
    times: int = 1
    more: int = 0

    def of(self, counts: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of lines of every rule of a run."""
        lines: NDArray[np.int64] = self.times * counts.astype(np.int64) + self.more
        return lines


@dataclass(frozen=True)
class Column:
    """A field of numbers: one of each rule, or an array with some ``lines``."""

    type: type[np.generic]
    lines: FieldLines | None = None
    """None: the field is a single number."""
    width: int | str = 0
    """Numbers of a line: 0 if a line is a number, ``OUTPUTS``, or the name of a count."""
    within: tuple[float, float] | None = None
    of_features: bool = False
    """Whether the numbers are those of features."""
    bits: tuple[int, int] | None = None
    """The only two values, if a file stores eight of them in a byte."""
    unit: float = 0.0
    """Values are multiples of this, and files store them as whole numbers if they can."""

    def joined(self, values: Sequence[Any]) -> NDArray[Any]:
        """Return the field of a run of rules as a file stores it."""
        if self.lines is None:
            return np.array(values, dtype=self.type)
        array: NDArray[Any] = np.concatenate(values).astype(self.type)
        if self.bits is not None:
            # a set of levels has 256 places, of which a file would hold 256 bytes
            return np.packbits(array == self.bits[1], axis=1)
        return self._in_units(array) if self.unit else array

    def _in_units(self, values: NDArray[Any]) -> NDArray[Any]:
        if values.size > 2 * MAX_UNITS:
            return values
        units = np.rint(values / self.unit)
        # a vote by another program may hold values between the multiples
        if not np.array_equal(units * self.unit, values):
            return values
        for kind in (np.int16, np.int32) if values.size <= MAX_UNITS else (np.int32,):
            if np.abs(units).max(initial=0) <= np.iinfo(kind).max:
                return units.astype(kind)
        return values


class SharedBins:
    """A field that all rules of a model share, the bins: a file stores it once."""


class Parts:
    """A field of rules within the rule, which a file stores as it stores those of a model."""


Field = Column | SharedBins | Parts


@dataclass(frozen=True)
class RuleRun:
    """Consecutive rules of one kind, as read from a file."""

    counts: Arrays
    arrays: Arrays
    features: int
    """The number of features of the model."""
    outputs: int
    bins: Bins | None
    rules: Sequence[Any] = ()
    """The rules within a rule made of rules, which is a run by itself."""

    def each(self, fields: Mapping[str, Field]) -> list[dict[str, Any]]:
        """Return the fields of every rule."""
        names, columns = [], []
        for name, field in fields.items():
            if isinstance(field, Column):
                names.append(name)
                columns.append(self._split(self.arrays[name], field))
        rest: dict[str, Any] = {}
        for name, field in fields.items():
            if not isinstance(field, Column):
                rest[name] = self.bins if isinstance(field, SharedBins) else self.rules
        if not columns:
            return [rest]
        return [
            {**rest, **dict(zip(names, line, strict=True))} for line in zip(*columns, strict=True)
        ]

    def _split(self, array: NDArray[Any], column: Column) -> list[Any]:
        if column.lines is None:
            values: list[Any] = array.tolist()
            return values
        ends = [0, *np.cumsum(column.lines.of(self.counts[column.lines.count])).tolist()]
        return [array[start:end] for start, end in pairwise(ends)]


def counts_of(fields: Mapping[str, Field]) -> dict[str, str]:
    """Return each count of a kind of rule, with a field that has as many lines."""
    counts: dict[str, str] = {}
    for name, field in fields.items():
        lines = field.lines if isinstance(field, Column) else None
        if lines is not None and (lines.times, lines.more) == (1, 0):
            counts.setdefault(lines.count, name)
    return counts
