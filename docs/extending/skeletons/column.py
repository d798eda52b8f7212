"""Times of day such as 08:30, as minutes after midnight."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pacboost.sources.dataframe import Storage
from pacboost.sources.kinds.column import InputColumn
from pacboost.sources.kinds.kind import ColumnKind, checked
from pacboost.sources.spelling import Spelling

TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")


@dataclass(frozen=True)  # kinds are compared, so a field for everything that a fit learns
class Clock(ColumnKind):
    """Times of day, which have no date."""

    tag: ClassVar[str] = "clock"
    plural: ClassVar[str] = "times of day"
    advice: ClassVar[str] = "Write it as in 08:30, or leave the cell empty"

    @classmethod
    def learn(cls, column: InputColumn) -> list[ColumnKind] | None:
        """Take text of which every cell is a time; other text is left to the kinds after this."""
        if column.storage is not Storage.TEXT or not column.texts:
            return None
        # a kind that makes several columns of one returns one instance for each, with its `part`
        return [cls()] if all(map(TIME.fullmatch, column.texts)) else None

    @property
    def held(self) -> str:
        """What error messages say that the column held."""
        return "times of day"

    @property
    def spells_axis(self) -> bool:
        """Let plots write 08:30 along the axis, not 510."""
        return True

    def number(self, text: str, spelling: Spelling) -> float:
        """Return the minutes; ValueError becomes an error that names the row."""
        time = TIME.fullmatch(text)
        if time is None:
            raise ValueError(text)
        return 60 * int(time[1]) + int(time[2])

    def show(self, value: float) -> str:
        """Return minutes as a time; rules, explanations and reports show cuts by this."""
        if math.isnan(value):
            return "missing"
        hours, minutes = divmod(math.floor(value), 60)
        return f"{hours:02}:{minutes:02}"

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Read the fields of `to_json`, which has none here."""
        checked(content)
        return cls()
