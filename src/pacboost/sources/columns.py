"""Named columns as they came: of a data frame, of a file, or of rows that name their cells."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, ParameterError
from pacboost.sources.dataframe import MOMENTS, NUMBERS, columns_of, is_frame, kind_of, moment_parts
from pacboost.sources.frame_table import IN_MEMORY, CellOrigin, FrameTable
from pacboost.sources.levels import Levels, is_missing, pieces
from pacboost.sources.written import are_sentences, part_name

# What may be given as texts and as options of reading them, and what is said of anything else.

LONGEST = 100
MOST_CUTS = 10


def read_texts(texts: Any, where: str = "") -> list[str]:
    """Check that there are texts, and that each is one; ``where`` goes before the row's number."""
    table = hasattr(texts, "columns") or getattr(texts, "ndim", 1) != 1
    if table or isinstance(texts, str | bytes | Mapping) or not isinstance(texts, Iterable):
        raise DataError(
            f"a list of texts is needed, and {type(texts).__name__} came; of a table give the "
            "column that holds the texts, or a data frame to TextBoostClassifier, and give [text] "
            "for a single text"
        )
    rows = list(texts)
    if not rows:
        raise DataError("there are no texts (0 samples); at least one is needed")
    for number, text in enumerate(rows):
        if not isinstance(text, str):
            raise DataError(
                f"{where}row {number} holds {text!r:.60} ({type(text).__name__}), which is no "
                "text; give strings, and '' where there is nothing to read"
            )
    return rows


def span_of(name: str, given: Any) -> tuple[int, int] | None:
    """Check a pair of the least and the most; None stands for none."""
    if given is None:
        return None
    ends = tuple(given) if isinstance(given, tuple | list) else ()
    whole = len(ends) == 2 and all(type(end) is int for end in ends)
    if not whole or not 1 <= ends[0] <= ends[1] <= LONGEST:
        raise ParameterError(
            f"{name} is {given!r}; it may be a pair such as (1, 2), the least and the most, at "
            f"most {LONGEST}, or None"
        )
    return ends


def cuts_of(name: str, given: Any, least: int, most: int) -> tuple[int, ...]:
    """Check numbers that go up; None stands for none."""
    cuts = () if given is None else given
    whole = isinstance(cuts, tuple | list) and all(type(cut) is int for cut in cuts)
    ordered = whole and all(one < other for one, other in pairwise(cuts))
    if ordered and len(cuts) <= MOST_CUTS and all(least <= cut <= most for cut in cuts):
        return tuple(cuts)
    raise ParameterError(
        f"{name} is {given!r}; it may be up to {MOST_CUTS} whole numbers from {least} to {most:,}, "
        "the least first, or None"
    )


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Check a whole number."""
    if type(value) is not int or value < least or (most is not None and value > most):
        allowed = f"{least} or more" if most is None else f"{least} to {most}"
        raise ParameterError(f"{name} is {value!r}; it must be a whole number, {allowed}")


@dataclass(frozen=True, eq=False)
class Columns:
    """The cells of each column, a NumPy array or a narwhals series, all of the same length.

    >>> rows = Columns.of([{"age": 30, "city": "Rome"}, {"age": None, "city": "Bern"}])
    >>> rows.table(()).rows().tolist()
    [[30.0, 1.0], [nan, 0.0]]
    """

    cells: Mapping[str, Any]
    origin: CellOrigin = IN_MEMORY

    @classmethod
    def of(cls, data: Any) -> Columns:
        """Take a data frame, or a list of mappings from column names to values."""
        if isinstance(data, Columns):
            return data
        cells = columns_of(data) if is_frame(data) else _of_mappings(data)
        if not cells or not len(next(iter(cells.values()))):
            raise DataError("the table is empty (0 samples); at least one row is needed")
        return cls(cells)

    def table(self, text: Collection[str]) -> FrameTable:
        """Find out what the columns but those of texts hold."""
        others = {name: cells for name, cells in self.cells.items() if name not in text}
        return FrameTable.learn(others, origin=self.origin)

    def like(self, names: Sequence[str], levels: Levels) -> FrameTable:
        """Read the columns of these names as they were read in a fit."""
        return FrameTable.like(self.cells, names, levels, self.origin)

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.cells.values())))

    def take(self, rows: NDArray[np.intp]) -> Columns:
        some = {name: cells[rows] for name, cells in self.cells.items()}
        return Columns(some, self.origin)

    def dates_read(self) -> Columns:
        """Replace columns of dates and times by columns of numbers."""
        read: dict[str, Any] = {}
        for name, cells in self.cells.items():
            if kind_of(cells) == MOMENTS:
                parts = moment_parts(cells).items()
                read |= {part_name(name, part) if part else name: own for part, own in parts}
            else:
                read[name] = cells
        return Columns(read)

    def texts(self, name: str) -> list[str]:
        """Read a column of texts; a missing one is an empty one."""
        absent = self.origin.spelling.missing
        held = ["" if is_missing(c) else c for part in pieces(self.cells[name]) for c in part]
        held = ["" if isinstance(c, str) and c.strip().lower() in absent else c for c in held]
        return read_texts(held, f"column {name!r}, ")

    def sentences(self) -> list[str]:
        """Find the columns that read like sentences.

        >>> said = [f"please block card number {i}" for i in range(60)]
        >>> Columns({"said": np.array(said), "plan": np.array(["basic", "gold"] * 30)}).sentences()
        ['said']
        """
        columns = ((name, cells) for name, cells in self.cells.items() if kind_of(cells) != NUMBERS)
        kinds = ((name, {c for part in pieces(own) for c in part}) for name, own in columns)
        return [name for name, cells in kinds if are_sentences(cells)]

    def levels(self, name: str, known: Sequence[Any]) -> NDArray[Any]:
        """Return the cells of a column of categories; None where one is missing.

        A word for missing values that is one of the known levels is that level.
        """
        absent, words = self.origin.spelling.missing, not known or isinstance(known[0], str)
        by_text = {} if words else {str(level).lower(): level for level in known}

        def level(cell: Any) -> Any:
            if is_missing(cell) or not isinstance(cell, str):
                return None if is_missing(cell) else cell
            cell = cell.strip()
            if by_text:
                return by_text.get(cell.lower())
            return None if cell.lower() in absent and cell not in known else cell

        cells = [level(cell) for part in pieces(self.cells[name]) for cell in part]
        return np.array(cells, dtype=object)

    def lines(self, names: Iterable[str]) -> list[str]:
        """Write the cells of these columns out, each row as one text."""
        columns = [[_plain(cell) for part in pieces(self.cells[n]) for cell in part] for n in names]
        return ["\x1f".join(row) for row in zip(*columns, strict=True)]


def _of_mappings(data: Any) -> dict[str, NDArray[Any]]:
    rows = list(data) if isinstance(data, Sequence) and not isinstance(data, str | bytes) else []
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise DataError(
            f"a data frame is needed, or a list of mappings from column names to values, and "
            f"{type(data).__name__} came"
        )
    held = {str(name): np.empty(len(rows), dtype=object) for name in rows[0]}
    for number, row in enumerate(rows):
        if {str(name) for name in row} != held.keys():
            raise DataError(
                f"row {number} names {', '.join(map(repr, row)) or 'nothing'}, and row 0 names "
                f"{', '.join(map(repr, held))}; they must be the same, with None for what is "
                "missing"
            )
        for name, cell in row.items():
            held[str(name)][number] = cell
    return held


def _plain(cell: Any) -> str:
    """Write a cell so that equal ones read alike, whatever kind of frame they came in."""
    if is_missing(cell):
        return ""
    return repr(float(cell)) if isinstance(cell, int | float | np.number) else str(cell)
