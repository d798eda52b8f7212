"""Codes of rows that stay the same if numbers are rounded, or a word is added to a text.

A row that was written with two digits is another row, yet it lies in the same part of most columns.
The code of a row says in which part of each of some columns it lies: of those with most values, and
parts as wide as still tell rows apart. Columns that are codes themselves, such as those of texts,
are taken as they are. The test of samples/sketch.py holds for any function of a row, so rows
that are not compared say where parts end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.equal_rows import is_fine
from pacboost.samples.row_hashes import Hashes, RowHasher, Rows
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.table import Table, Values

MOST_LOOKED_AT, MOST_CODED, MOST_PAIRED = 64, 8, 16
"""So many columns are looked at, of so many the codes are made, and so many may be a fine pair."""
PARTS = (4, 8, 16, 32, 64, 128, 256)
LARGEST = float(np.finfo(np.float32).max)
NOT_APART = 0.05
"""If as few codes of distinct rows are equal, columns have enough parts. If some rows of many are
compared, it has to be fewer, for fewer will be found again."""


@dataclass(frozen=True, eq=False)
class CoarseCodes:
    """Where the parts of some columns end."""

    columns: NDArray[np.int64]
    cuts: NDArray[np.float32]
    """The ends of all parts but the last, a line for each column; none: values are codes."""

    @classmethod
    def by(cls, columns: Sequence[int]) -> CoarseCodes:
        """Take columns that are codes themselves."""
        return cls(np.array(columns, dtype=np.int64), np.zeros((len(columns), 0), np.float32))

    @classmethod
    def of(
        cls, table: Table, looked_at: Mapping[int, Values], hasher: RowHasher, rows: Rows
    ) -> CoarseCodes:
        """Take parts of the columns that were looked at, so that the codes of rows differ."""
        plain = [j for j in looked_at if j not in table.levels]
        columns = np.sort(np.array(_most_values(looked_at, plain)[:MOST_CODED], dtype=np.int64))
        distinct = np.unique(hasher.exact(table, rows)).size
        found = cls.by(())
        for parts in PARTS if columns.size else ():
            cuts = [_cuts(looked_at[j], parts) for j in columns.tolist()]
            found = cls(columns, np.array(cuts, dtype=np.float32))
            differ = np.unique(found.hashes(table, rows, hasher.salt)).size
            if differ >= (1 - NOT_APART * rows.size / table.n_rows) * distinct:
                break
        return found

    def hashes(self, table: Table, rows: Rows, salt: int) -> Hashes:
        """Hash the codes of some rows."""
        codes = np.zeros((rows.size, self.columns.size))
        chosen = table.take(rows)
        for place, j in enumerate(self.columns.tolist()):
            values = chosen.column(j)
            part = np.searchsorted(self.cuts[place], values) if self.cuts.size else values
            codes[:, place] = np.where(np.isnan(values), -1.0, part)
        return RowHasher(salt, np.ones(self.columns.size)).exact(ArrayTable(codes))


def look_at(table: Table, rows: Rows) -> dict[int, Values]:
    """Read some rows of some columns: of a sparse table, of those that store most."""
    if table.entries is not None:
        often = np.argsort(-np.diff(table.entries.starts), kind="stable")
        places = often[:MOST_LOOKED_AT]
    else:
        count = min(MOST_LOOKED_AT, table.n_columns)
        places = np.linspace(0, table.n_columns - 1, count).astype(np.int64)
    chosen = table.take(rows)
    return {j: chosen.column(j) for j in np.unique(places).tolist()}


def looks_fine(looked_at: Mapping[int, Values], hashes: Hashes) -> bool:
    """Tell by some rows whether equal rows of a table are copies (samples/equal_rows.py)."""
    most = _most_values(looked_at, list(looked_at))[:MOST_PAIRED]
    place = np.unique(hashes, return_inverse=True)[1].astype(np.intp)
    return bool(most) and is_fine([looked_at[j] for j in most], place)


def _most_values(looked_at: Mapping[int, Values], columns: list[int]) -> list[int]:
    """Sort columns by their numbers of values, the largest first."""
    return sorted(columns, key=lambda j: -np.unique(looked_at[j]).size)


def _cuts(values: Values, parts: int) -> NDArray[np.float64]:
    """Divide values into parts of about as many; ends lie between two values.

    >>> _cuts(np.array([1.0, 2.0, 2.0, 2.0, 3.0, 4.0, np.nan]), 4).tolist()
    [2.5, 2.5, 3.5]
    """
    known = np.sort(values[np.isfinite(values)].astype(np.float64))
    if not known.size:
        return np.zeros(parts - 1)
    distinct = np.unique(known)
    ends = known[np.arange(1, parts) * known.size // parts]
    below = np.searchsorted(distinct, ends)
    above = np.minimum(below + 1, distinct.size - 1)
    return np.clip(distinct[below] / 2 + distinct[above] / 2, -LARGEST, LARGEST)
