"""How cells of text are spelt: words for missing values, commas in numbers, the order of dates.

A number may have commas between thousands ("1,234.5"). In columns with numbers such as "1,5", and
in files separated by semicolons, a comma is a decimal comma.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.data_file import MISSING

THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
DECIMALS = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+")


@dataclass(frozen=True)
class Spelling:
    """How cells are written: words for missing values, decimal comma, and order of dates.

    >>> Spelling().number("1,234.5"), Spelling(decimal_comma=True).number("1,5")
    (1234.5, 1.5)
    """

    missing: frozenset[str] = MISSING
    decimal_comma: bool = False
    day_first: bool | None = None
    """Whether the day comes first in ambiguous dates such as 1/2/2024; None: read them as text."""

    def is_missing(self, cell: str) -> bool:
        return cell.strip().lower() in self.missing

    def number(self, cell: str) -> float:
        """Return the number in a cell, NaN if it is missing; raise ValueError if it is text."""
        cell = cell.strip()
        if cell.lower() in self.missing:
            return math.nan
        if "," in cell:
            if self.decimal_comma and DECIMALS.fullmatch(cell):
                return float(cell.replace(".", "").replace(",", "."))
            if THOUSANDS.fullmatch(cell):
                return float(cell.replace(",", ""))
        return float("text" if "_" in cell else cell)  # Python reads 1_000 as 1000, tables do not

    def numbers(self, cells: Iterable[str]) -> NDArray[np.float64] | None:
        """Return the numbers in cells, NaN for missing ones; None if a cell is text."""
        with suppress(ValueError):
            return np.array([self.number(cell) for cell in cells], dtype=np.float64)
        return None

    def with_comma(self, decimal_comma: bool) -> Spelling:
        """Return the spelling of numbers with a decimal comma, or without."""
        # a copy for every cell would take longer than reading it
        same = self.decimal_comma == decimal_comma
        return self if same else replace(self, decimal_comma=decimal_comma)

    def is_number(self, cell: str) -> bool:
        return self.numbers([cell]) is not None

    # kept, since it is asked for each column of each row that is predicted alone
    @cached_property
    def missing_numbers(self) -> list[float]:
        """The words for missing values that would be read as numbers, such as -999."""
        numbers = []
        for word in self.missing - {"nan", "-nan", "+nan"}:
            with suppress(ValueError):
                numbers.append(float(word))
        return numbers


MIN_WORDS_PER_TEXT = 3
"""Mean number of words in the cells of a column of sentences."""
MIN_DISTINCT_TEXTS = 51
"""Distinct cells of a column of sentences; columns with fewer may be categorical."""


def are_sentences(kinds: Collection[Any]) -> bool:
    """Check whether the distinct cells of a column look like sentences."""
    texts = [cell for cell in kinds if isinstance(cell, str)]
    words = sum(len(text.split()) for text in texts)
    return len(texts) >= MIN_DISTINCT_TEXTS and words >= MIN_WORDS_PER_TEXT * len(texts)


MIN_NUMBERS = 10
"""A column with fewer distinct numbers, such as 1, 2, 3 and "4 or more", may be categorical."""
SIGNS = "%'’ \u00a0\u202f"


def spoilt(texts: Sequence[str], spelling: Spelling) -> str | None:
    """Return the first text that is not a number if most are, ignoring signs such as $ and %.

    >>> spoilt([*map(str, range(20)), "unknown"], Spelling())
    'unknown'
    >>> spoilt([f"${k},000.50" for k in range(20)], Spelling())
    '$0,000.50'
    >>> spoilt(["red", "green", "1"], Spelling()) is None
    True
    """
    stripped = (
        "".join(c for c in text if c not in SIGNS and category(c) != "Sc") for text in texts
    )
    if sum(map(spelling.is_number, stripped)) < max(MIN_NUMBERS, (len(texts) + 1) // 2):
        return None
    return next((text for text in texts if not spelling.is_number(text)), None)
