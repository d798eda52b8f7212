"""Yes and no, true and false: 1 and 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pacboost.sources.dataframe import Storage, are_truths
from pacboost.sources.kinds.column import InputColumn
from pacboost.sources.kinds.kind import ColumnKind, checked
from pacboost.sources.kinds.numbers import PlainNumbers
from pacboost.sources.spelling import Spelling

TRUTHS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class Truths(ColumnKind):
    """Cells that are one of two words.

    >>> paid = Truths(("no", "yes"))
    >>> paid.show(1.0), paid.condition("paid", 0.5, above=False)
    ('yes', 'paid is no')
    """

    tag: ClassVar[str] = "truths"
    plural: ClassVar[str] = "yes and no"
    words: tuple[str, str] = ("false", "true")
    """The words of 0 and of 1."""

    @classmethod
    def learn(cls, column: InputColumn) -> list[ColumnKind] | None:
        if column.storage is Storage.NUMBERS:
            return [cls()] if are_truths(column.cells) else None
        if column.storage is not Storage.TEXT:
            return None
        if not column.texts or not all(text.lower() in TRUTHS for text in column.texts):
            return None
        is_plain = all(text.lower() in cls().words for text in column.texts)
        return [cls() if is_plain else cls(("no", "yes"))]

    @property
    def held(self) -> str:
        return f"{self.words[1]} and {self.words[0]}"

    @property
    def meaning(self) -> str:
        return f"1 for {self.words[1]}, 0 for {self.words[0]}"

    @property
    def named_integers(self) -> tuple[int, tuple[str, ...]]:
        return 0, self.words

    def number(self, text: str, spelling: Spelling) -> float:
        truth = TRUTHS.get(text.lower())
        return PlainNumbers().number(text, spelling) if truth is None else truth

    def show(self, value: float) -> str:
        return self.words[int(value)] if value in (0, 1) else super().show(value)

    def condition(self, name: str, cut: float, *, above: bool) -> str:
        return f"{name} is {self.words[above]}"

    def to_json(self) -> dict[str, Any]:
        return {"words": list(self.words)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        (words,) = checked(content, words=list)
        if words not in (["false", "true"], ["no", "yes"]):
            raise ValueError(f"{words!r:.40} are not words of 0 and 1")
        return cls((words[0], words[1]))
