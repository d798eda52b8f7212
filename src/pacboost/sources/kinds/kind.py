"""A kind of column: how cells become numbers, and how these are shown, saved and checked.

Each kind is one file of this room, and ``order.py`` lists them. A fit asks each kind in turn, by
``learn``, whether the cells of a column are of it; the first that takes them reads the column, now
and in new rows. A kind may make several columns of one, as dates do: each has a ``part``.

What the rest of the package asks of a kind: ``show`` and ``condition`` for rules, explanations and
reports, ``named_integers`` and ``spells_axis`` for plots, ``plural`` and ``held`` for messages,
``to_json`` for model files.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from pacboost.sources.dataframe import Storage
from pacboost.sources.kinds.column import InputColumn
from pacboost.sources.spelling import Spelling
from pacboost.sources.values import Values


class ColumnKind(ABC):
    """What the numbers of a column mean; instances are values, equal if their fields are."""

    tag: ClassVar[str]
    """The name of the kind in model files."""
    plural: ClassVar[str]
    """What such columns are counted as: "3 of dates"."""
    advice: ClassVar[str] = "Correct it, or leave the cell empty"
    """What to do about a cell that is not of the kind."""
    tells_time: ClassVar[bool] = False
    """True if such a column says when a row was drawn."""
    part: str = ""
    """Which of the columns that are made of one column this is; "" for the one with its name."""

    @classmethod
    @abstractmethod
    def learn(cls, column: InputColumn) -> list[ColumnKind] | None:
        """Return the kinds of the columns made of these cells; None if they are not of the kind."""

    @classmethod
    def doubt(cls, column: InputColumn) -> str | None:
        """Return a warning if texts that became categories may have been meant as this kind."""
        return None

    @property
    @abstractmethod
    def held(self) -> str:
        """What the column held, in error messages: "dates written as day/month/year"."""

    @property
    def meaning(self) -> str:
        """What the number of a cell is, for programs that are given numbers."""
        return "the number"

    @property
    def named_integers(self) -> tuple[int, tuple[str, ...]]:
        """The first integer of the column and the names that its integers stand for, if any."""
        return 0, ()

    @property
    def spells_axis(self) -> bool:
        """True if the numbers along an axis of a plot should be written by ``show``."""
        return False

    def check(self, column: InputColumn) -> None:
        """Raise if cells are stored in a way that the kind never is."""
        column.refuse_unsupported()
        if column.storage not in (Storage.NUMBERS, Storage.TEXT):
            raise column.refused(self.held)

    def read(self, column: InputColumn) -> Values:
        """Return the cells as numbers, NaN for missing ones; raise for texts of another kind."""
        if column.storage is Storage.TEXT:
            return column.spread(self.of_text, self.held, self.advice)
        return column.numbers()

    def of_text(self, text: str, spelling: Spelling) -> float:
        """Return the number of one text, NaN if it stands for a missing value."""
        text = text.strip()
        return math.nan if spelling.is_missing(text) else self.number(text, spelling)

    @abstractmethod
    def number(self, text: str, spelling: Spelling) -> float:
        """Return the number of one text without spaces around it; raise ValueError for others."""

    def show(self, value: float) -> str:
        """Return a number as it is written in the column."""
        return "missing" if math.isnan(value) else f"{value:.6g}"

    def condition(self, name: str, cut: float, *, above: bool) -> str:
        """Return the condition that a value lies above, or not above, a cut."""
        return f"{name} {'>' if above else '≤'} {self.show(cut)}"

    def name(self, source: str) -> str:
        """Return the name of the column that is made of the input column ``source``."""
        return f"{source}: {self.part}" if self.part else source

    def source(self, name: str) -> str:
        """Return the name of the input column, from that of the column made of it."""
        return name[: -len(self.part) - 2] if self.part else name

    def to_json(self) -> dict[str, Any]:
        """Return the fields as values for JSON."""
        return {}

    @classmethod
    @abstractmethod
    def from_json(cls, content: Mapping[str, Any]) -> ColumnKind:
        """Return the kind from ``to_json``; raise ValueError for what no fit could have written."""


def checked(content: Mapping[str, Any], **types: Any) -> list[Any]:
    """Return the fields of a kind in order; raise ValueError if one lacks or has another type."""
    if content.keys() != types.keys():
        raise ValueError(f"it has the fields {', '.join(content)}, not {', '.join(types)}")
    for name, kind in types.items():
        if not isinstance(content[name], kind):
            raise ValueError(f"{name} is {content[name]!r:.40}")
    return [content[name] for name in types]
