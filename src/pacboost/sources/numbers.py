"""Cells of text as numbers and as labels.

A number may have commas between thousands ("1,234.5"). In files separated by semicolons a comma
without thousands is a decimal comma ("1,5"), as programs write it that separate by semicolons. A
column of nothing but true and false, or yes and no, is one of the numbers 1 and 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.data_file import MISSING

THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
DECIMAL_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+")
BOOLEANS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}


@dataclass(frozen=True)
class Spelling:
    """How numbers are written in a file: the words for missing ones, and the decimal comma.

    >>> Spelling().number("1,234.5"), Spelling(decimal_comma=True).number("1,5")
    (1234.5, 1.5)
    """

    missing: frozenset[str] = MISSING
    decimal_comma: bool = False

    def is_missing(self, cell: str) -> bool:
        """Check whether a cell counts as missing."""
        return cell.strip().lower() in self.missing

    def number(self, cell: str) -> float:
        """Read a cell as a number, NaN if it is missing; raise ValueError if it is text.

        >>> Spelling().number(" 1.5"), Spelling().number("?")
        (1.5, nan)
        """
        cell = cell.strip()
        if cell.lower() in self.missing:
            return math.nan
        if "," in cell:
            if self.decimal_comma and DECIMAL_COMMA.fullmatch(cell):
                return float(cell.replace(".", "").replace(",", "."))
            if THOUSANDS.fullmatch(cell):
                return float(cell.replace(",", ""))
        return float("text" if "_" in cell else cell)  # Python reads 1_000 as 1000: no table does

    def read(self, cells: Sequence[str]) -> ReadNumbers:
        """Read a column; what is text becomes NaN, and its first place is noted."""
        if not self._words_are_numbers and not any("_" in cell for cell in cells):
            with suppress(ValueError):  # the common case, in one go
                return ReadNumbers(np.array([float(cell) for cell in cells], dtype=np.float64))
        known: dict[str, float | None] = {}
        for cell in cells:
            if cell not in known:
                try:
                    known[cell] = self.number(cell)
                except ValueError:
                    known[cell] = None
        if None in known.values():
            return self._booleans(cells, known)
        return ReadNumbers(np.array([known[cell] for cell in cells], dtype=np.float64))

    def _booleans(self, cells: Sequence[str], known: dict[str, float | None]) -> ReadNumbers:
        """Read a column that is not one of numbers: of booleans if all are, else of text."""
        for cell in known:
            word = cell.strip().lower()
            known[cell] = math.nan if word in self.missing else BOOLEANS.get(word)
        values = [known[cell] for cell in cells]
        if None not in values:
            return ReadNumbers(np.array(values, dtype=np.float64), booleans=True)
        bad = next(k for k, cell in enumerate(cells) if not self._is_number(cell))
        return ReadNumbers(np.full(len(cells), np.nan), bad)

    def _is_number(self, cell: str) -> bool:
        try:
            self.number(cell)
        except ValueError:
            return False
        return True

    @property
    def _words_are_numbers(self) -> bool:
        """Whether a word for missing values, such as -999, would be read as a number."""
        for word in self.missing - {"nan", "-nan", "+nan"}:
            with suppress(ValueError):
                float(word)
                return True
        return False


@dataclass(frozen=True, eq=False)
class ReadNumbers:
    """A column read as numbers: the place of the first cell of text, and whether of booleans."""

    values: NDArray[np.float64]
    bad: int | None = None
    booleans: bool = False


def label_kind(texts: Iterable[str]) -> type:
    """Check whether labels are all whole numbers, all numbers, or text.

    >>> [label_kind(texts).__name__ for texts in (["1", "-1"], ["1", "0.5"], ["1", "x"])]
    ['int', 'float', 'str']
    """
    different = list(set(texts))
    for kind in (int, float):
        with suppress(ValueError):
            read_labels(different, kind)
            return kind
    return str


def read_labels(texts: Sequence[str], kind: type | None = None) -> NDArray[Any]:
    """Read labels of a kind, by default the one that all of them are; else raise ValueError.

    >>> read_labels(["1", "0"]).tolist(), read_labels(["1_000", "1"]).tolist()
    ([1, 0], ['1_000', '1'])
    """
    if kind is None:
        kind = label_kind(texts)
    if kind is not str and any("_" in text for text in texts):
        raise ValueError("1_000 is no number in a table, though Python reads it as one")
    return np.array([kind(text) for text in texts])
