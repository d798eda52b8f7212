"""The cells of one column of the input, before it is known what they mean."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, PacboostError
from pacboost.sources.arrow import doubles, memory, one_chunk
from pacboost.sources.dataframe import Storage, numbers_of, storage_of
from pacboost.sources.look_up import Level, look_up
from pacboost.sources.spelling import Spelling
from pacboost.sources.values import Values, distinct, is_missing, pieces


@dataclass(frozen=True)
class CellOrigin:
    """The origin of columns: how their cells are written, and how errors name a row."""

    spelling: Spelling = field(default_factory=Spelling)
    prefix: str = ""
    row: Callable[[int], str] = field(default=lambda row: f"row {row}")
    error: type[PacboostError] = DataError


IN_MEMORY = CellOrigin()


class Coded:
    """A column of text as its distinct texts and, for each cell, an index into them.

    Missing cells have the index after the last.
    """

    def __init__(self, cells: Any, name: str) -> None:
        native = cells.to_native() if isinstance(cells, nw.Series) else cells
        if hasattr(native, "dictionary_encode"):  # Arrow does both at once
            parts = one_chunk(native.dictionary_encode())
            self.texts: list[str] = parts.dictionary.to_pylist()
            places = memory(parts.indices.fill_null(len(self.texts)))
            self.places: NDArray[np.intp] = places.astype(np.intp)
            return
        self.texts = distinct(cells)
        places_of: dict[Level, float] = {
            text: float(place) for place, text in enumerate(self.texts)
        }
        numbers = look_up(cells, places_of, name)
        self.places = np.where(np.isnan(numbers), len(self.texts), numbers).astype(np.intp)

    @property
    def present(self) -> int:
        return int(np.count_nonzero(self.places < len(self.texts)))

    def levels(self, spelling: Spelling) -> list[str]:
        """Return the distinct texts in order, without those that stand for missing values."""
        return sorted({text.strip() for text in self.texts if not spelling.is_missing(text)})

    def spread(self, of: Callable[[str], float]) -> NDArray[np.float64]:
        return np.array([*map(of, self.texts), np.nan])[self.places]


class InputColumn:
    """The cells of one column of the input, and what its kind needs to know to read them."""

    def __init__(
        self,
        name: str,
        cells: Any,
        origin: CellOrigin = IN_MEMORY,
        *,
        by_type: bool = False,
        whole: bool = False,
        in_parts: bool = False,
        storage: Storage | None = None,
    ) -> None:
        self.name, self.cells, self.origin = name, cells, origin
        self.by_type = by_type
        """Whether texts that are no numbers or dates are categories; else they are refused."""
        self.whole = whole
        """Whether one column is to be made of this one: then dates in text are categories."""
        self.in_parts = in_parts
        """Whether the input has a column for each part that would be made of dates."""
        self.storage = storage_of(cells) if storage is None else storage

    @property
    def spelling(self) -> Spelling:
        return self.origin.spelling

    @cached_property
    def coded(self) -> Coded:
        return Coded(self.cells, repr(self.name))

    @cached_property
    def texts(self) -> list[str]:
        """The distinct texts in order, without those that stand for missing values."""
        return self.coded.levels(self.spelling)

    def numbers(self) -> Values:
        """Return cells that are stored as numbers; words for missing values become NaN."""
        values, absent = numbers_of(self.cells), self.spelling.missing_numbers
        return np.where(np.isin(values, absent), np.nan, values) if absent else values

    def spread(
        self, number: Callable[[str, Spelling], float], held: str, advice: str
    ) -> NDArray[np.float64]:
        """Return the number of each text; if ``number`` refuses one, name its row."""
        try:
            return self.coded.spread(lambda text: number(text, self.spelling))
        except ValueError:
            raise self._unreadable(number, held, advice) from None

    def refuse_unsupported(self) -> None:
        """Raise if the cells have a type that no kind reads."""
        if self.storage is Storage.UNSUPPORTED:
            type_shown = getattr(self.cells.to_native(), "dtype", self.cells.dtype)
            raise DataError(
                f"column {self.name!r} holds {type_shown}, not numbers, text, categories or "
                "dates. Convert it (periods by .dt.to_timestamp()), or drop the column"
            )

    def refused(self, held: str) -> PacboostError:
        """Return the error for cells of another kind than in fit."""
        holds = {Storage.NUMBERS: "numbers", Storage.CATEGORIES: "categories"}.get(
            self.storage, "dates"
        )
        return self.origin.error(
            f"{self.origin.prefix}{self.name!r} held {held} in fit, but holds {holds} now; pass "
            "the column as in fit"
        )

    def _unreadable(
        self, number: Callable[[str, Spelling], float], held: str, advice: str
    ) -> PacboostError:
        """Return the error that names the first text that ``number`` refuses."""
        texts = self.coded.texts
        for row, place in enumerate(self.coded.places.tolist()):
            if place < len(texts):
                try:
                    number(texts[place], self.spelling)
                except ValueError:
                    return self.origin.error(
                        f"{self.origin.prefix}{self.name!r} held {held} in fit; "
                        f"{self.origin.row(row)} holds {texts[place]!r:.60}. {advice}"
                    )
        raise AssertionError("every cell can be read")


def as_text_cells(cells: Any) -> Any:
    """Convert a column that mixes text and numbers to text."""
    if (
        not isinstance(cells, nw.Series)
        or cells.dtype != nw.Object
        or storage_of(cells) is not Storage.CATEGORIES
    ):
        return cells
    values = [cell for part in pieces(cells) for cell in part]
    if not all(is_missing(cell) or isinstance(cell, str | int | float) for cell in values):
        return cells
    return np.array([None if is_missing(cell) else str(cell) for cell in values], dtype=object)


def numbers_of_arrow(
    cells: nw.Series[Any] | NDArray[Any], spelling: Spelling
) -> NDArray[np.float64] | None:
    """Convert an Arrow column of text to numbers; None if it is not Arrow's or not all numbers."""
    native: Any = cells.to_native() if isinstance(cells, nw.Series) else None
    if spelling.missing_numbers or not hasattr(native, "num_chunks"):
        return None
    with suppress(ValueError):
        return doubles(native)
    return None
