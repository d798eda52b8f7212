"""Texts that differ in every row, such as names, ids and sentences: they cannot help to predict.

Sentences do help where their words are columns (sources/text.py); as one column they are not used.
"""

from __future__ import annotations

from typing import ClassVar

from pacboost.sources.dataframe import Storage
from pacboost.sources.kinds.categories import Categories
from pacboost.sources.kinds.column import InputColumn
from pacboost.sources.kinds.kind import ColumnKind
from pacboost.sources.spelling import are_sentences, spoilt

MIN_ROWS_FOR_ID = 50
"""In fewer rows, names or numbers may all differ by chance."""


class Unused(Categories):
    """A category without levels: every cell is read as missing, so no rule can ask about it."""

    unused: ClassVar[bool] = True

    @classmethod
    def learn(cls, column: InputColumn) -> list[ColumnKind] | None:
        if column.storage is not Storage.TEXT or not column.by_type or column.whole:
            return None
        differ = MIN_ROWS_FOR_ID <= len(column.texts) == column.coded.present
        # numbers of which one is spoilt, as in "12 or more", are told to the user instead
        return [cls()] if differ and spoilt(column.texts, column.spelling) is None else None

    @staticmethod
    def are_sentences(column: InputColumn) -> bool:
        return column.storage is Storage.TEXT and are_sentences(column.coded.texts)
