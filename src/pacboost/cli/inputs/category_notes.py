"""Notes on columns of a file that are read as categories and were hardly meant as such."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Collection, Sequence

import numpy as np

from pacboost.errors import InputWarning
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.data_file import DataFile
from pacboost.sources.dates import orders
from pacboost.sources.numbers import Spelling

FEWEST_NUMBERS = 10
"""Of fewer different numbers, such as 1, 2, 3 and "4 or more", categories may be meant."""
FEWEST_ROWS = 50
"""Of fewer rows, names may all differ by chance."""
OTHER_DATE = re.compile(
    r"(?:\d{1,2}([./-])\d{1,2}\1(?:\d{2}|\d{4})|\d{1,2}[-. ]*[A-Za-z]{3,9}[-., ]*(?:\d{2}|\d{4})"
    r"|[A-Za-z]{3,9}\.? \d{1,2},? \d{4})(?:[T ,].*)?"
)
"""Dates that are not read as such: 31/12/24, 31-12-2024, 31-Dec-2024, Dec 31, 2024."""
SIGNS = "%'’ \u00a0\u202f"


def note_categories(data: DataFile, table: ArrayTable, others: Collection[str]) -> None:
    """Warn of categories that look like numbers, or that differ in every row."""
    spelling: Spelling = getattr(table, "spelling", Spelling())
    for j, levels in table.levels.columns.items():
        name, texts = table.name(j), [str(level) for level in levels]
        if name in others:
            continue
        odd = spoilt(texts, spelling)
        if texts and all(map(OTHER_DATE.fullmatch, texts)) and not orders(texts):
            _warn(
                f"{data}: column {name!r} holds dates such as {texts[0]!r} and is read as "
                "categories. Write them as in 2024-01-31, 31.1.2024 or 31/1/2024 to have them read "
                "as dates"
            )
        elif odd is not None:
            _warn(
                f"{data}: column {name!r} holds mostly numbers and is read as categories, because "
                f"{odd!r} is no number. Write plain numbers, leave such cells empty, or name the "
                "word by --missing if it stands for a missing value"
            )
        elif len(texts) >= FEWEST_ROWS and len(texts) == np.count_nonzero(
            ~np.isnan(_cells(table, j))
        ):
            _warn(
                f"{data}: column {name!r} holds another value in every row, so that nothing can be "
                "learned from it for new rows. Leave it out by --drop"
            )


def note_classes(data: DataFile, target: str, labels: Collection[str]) -> None:
    """Warn of classes that differ in small and capital letters only."""
    seen: dict[str, str] = {}
    for label in sorted(labels):
        other = seen.setdefault(label.casefold(), label)
        if other != label:
            _warn(
                f"{data}: the classes {other!r} and {label!r} in {target!r} differ in small and "
                "capital letters only, and are learned as two classes. Spell them alike if they "
                "are one"
            )


def spoilt(texts: Sequence[str], spelling: Spelling) -> str | None:
    """Give the first text that is no number where most are, but for signs such as $ and %.

    >>> spoilt([*map(str, range(20)), "unknown"], Spelling())
    'unknown'
    >>> spoilt([f"${k},000.50" for k in range(20)], Spelling())
    '$0,000.50'
    >>> spoilt(["red", "green", "1"], Spelling()) is None
    True
    """
    numbers = [text for text in texts if _is_number(_without_signs(text), spelling)]
    if len(numbers) < max(FEWEST_NUMBERS, (len(texts) + 1) // 2):
        return None
    return next((text for text in texts if not _is_number(text, spelling)), None)


def _without_signs(text: str) -> str:
    kept = (c for c in text if c not in SIGNS and unicodedata.category(c) != "Sc")
    return "".join(kept)


def _is_number(text: str, spelling: Spelling) -> bool:
    try:
        spelling.number(text)
    except ValueError:
        return False
    return True


def _cells(table: ArrayTable, column: int) -> np.ndarray:
    return table.block(column, column + 1)[:, 0]


def _warn(said: str) -> None:
    warnings.warn(said, InputWarning, stacklevel=3)
