"""PlainNumbers, also those in text, with a decimal point or a decimal comma."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.dataframe import Storage, are_truths, numbers_of
from pacboost.sources.kinds.column import InputColumn, numbers_of_arrow
from pacboost.sources.kinds.kind import ColumnKind, checked
from pacboost.sources.kinds.texts import MIN_ROWS_FOR_ID, Unused
from pacboost.sources.spelling import Spelling
from pacboost.sources.values import Values

ID_NAME = re.compile(r"(?:^|[^A-Za-z])(?i:id|nr|no|number|key|index|uid)$|[a-z]I[dD]$")
"""Ends of the names of id columns: customer_id, Kunden-Nr, orderID."""


@dataclass(frozen=True)
class PlainNumbers(ColumnKind):
    """PlainNumbers, which are what they are; durations are seconds."""

    tag: ClassVar[str] = "numbers"
    plural: ClassVar[str] = "numbers"
    decimal_comma: bool = False
    """True if numbers in text are written as 1.234,5."""

    @classmethod
    def learn(cls, column: InputColumn) -> list[ColumnKind] | None:
        if column.storage is Storage.TEXT:
            return cls._of_texts(column)
        if column.storage is Storage.NUMBERS and not are_truths(column.cells):
            return [Unused()] if _is_id(column, column.cells) else [cls()]
        return [cls()] if column.storage is Storage.DURATIONS else None

    @classmethod
    def _of_texts(cls, column: InputColumn) -> list[ColumnKind] | None:
        with_point = column.spelling.with_comma(False).numbers(column.texts)
        with_comma = column.spelling.with_comma(True).numbers(column.texts)
        if with_comma is None:
            return None
        if with_point is None:
            return [cls(decimal_comma=True)]
        # in a file with decimal commas, 1.234 is a whole number
        if column.spelling.decimal_comma and not np.array_equal(with_point, with_comma):
            return [cls(decimal_comma=True)]
        is_id = _is_id(column, column.spelling.numbers(column.coded.texts))
        return [Unused()] if is_id else [cls()]

    @property
    def held(self) -> str:
        return "numbers"

    @property
    def meaning(self) -> str:
        return "the number; of a duration its seconds"

    def check(self, column: InputColumn) -> None:
        if column.storage is not Storage.DURATIONS:
            super().check(column)

    def read(self, column: InputColumn) -> Values:
        if column.storage is Storage.TEXT and not self.decimal_comma:
            quick = numbers_of_arrow(column.cells, column.spelling)
            if quick is not None:
                return quick
        return super().read(column)

    def number(self, text: str, spelling: Spelling) -> float:
        return spelling.with_comma(self.decimal_comma).number(text)

    def to_json(self) -> dict[str, Any]:
        return {"decimal_comma": self.decimal_comma}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        return cls(*checked(content, decimal_comma=bool))


def _is_id(column: InputColumn, cells: Any) -> bool:
    """Check whether a column has the name of an id and a different whole number in each row."""
    rows = len(column.cells)
    if not column.by_type or column.whole or rows < MIN_ROWS_FOR_ID:
        return False
    if not ID_NAME.search(column.name):
        return False
    values: NDArray[np.floating] = numbers_of(cells)
    return bool((values == np.rint(values)).all()) and np.unique(values).size == rows
