"""A small salted sketch of the rows a model was trained on, to notice when they come back.

A certificate on rows that the model has seen is void. The sketch keeps hashes of about four
thousand rows, chosen by content, so that the same rows are chosen whenever they come. The hashes
tell nothing readable; whoever holds the sketch and a row can test whether the row was learned from.

New rows may repeat training rows honestly, when the domain is discrete. How often chance explains
that is computed exactly (samples/overlap.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.copies import count_distinct
from pacboost.samples.equal_rows import is_fine
from pacboost.samples.overlap import HashCounts, Overlap
from pacboost.samples.row_hashes import Hashes, RowHasher, Rows, row_hashes
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.table import Table, Values

# Codes of rows that stay the same if numbers are rounded, or a word is added to a text.
#
# A row that was written with two digits is another row, yet it lies in the same part of most
# columns. The code of a row says in which part of each of some columns it lies: of those with most
# values, and parts as wide as still tell rows apart. Columns that are codes themselves, such as
# those of texts, are taken as they are. The test of samples/overlap.py holds for any function of a
# row, so rows that are not compared say where parts end.

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
        cls, looked_at: Mapping[int, Values], exact: Hashes, enough: float, salt: int
    ) -> CoarseCodes:
        """Take parts of columns by every fourth row, so that the codes of the others differ.

        ``looked_at`` holds values, ``exact`` identifies their rows; such a share has to differ.
        """
        columns = np.array(sorted(looked_at), dtype=np.int64)
        rest = {j: np.delete(values, np.s_[::4]) for j, values in looked_at.items()}
        distinct = count_distinct(np.delete(exact, np.s_[::4]))
        found = cls.by(())
        for parts in PARTS if columns.size else ():
            cuts = [_cuts(looked_at[j][::4], parts) for j in columns.tolist()]
            found = cls(columns, np.array(cuts, dtype=np.float32))
            differ = count_distinct(found.hash(rest, exact.size - len(exact[::4]), salt))
            if differ >= enough * distinct:
                break
        return found

    def hashes(self, table: Table, rows: Rows, salt: int) -> Hashes:
        chosen = table.take(rows)
        return self.hash({j: chosen.column(j) for j in self.columns.tolist()}, rows.size, salt)

    def hash(self, columns: Mapping[int, NDArray[Any]], rows: int, salt: int) -> Hashes:
        """Hash the codes of so many rows, given the values of columns."""
        codes = np.zeros((rows, self.columns.size))
        for place, j in enumerate(self.columns.tolist()):
            values = columns[j]
            part = np.searchsorted(self.cuts[place], values) if self.cuts.size else values
            codes[:, place] = np.where(np.isnan(values), -1.0, part)
        return row_hashes(ArrayTable(codes), salt=salt)


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


MOST_KEPT, MOST_CODES = 4096, 2048
COLUMNS_TO_CHOOSE_BY = 8
WHOLE = 2.0**64 - 2.0**12


@dataclass(frozen=True, eq=False)
class Sketch:
    """Hashes of the training rows that the salt selects."""

    hasher: RowHasher
    share: float
    """The share of hashes that is kept."""
    columns: NDArray[np.int64]
    """The columns by which rows are selected before whole rows are hashed; none: all are kept."""
    exact: HashCounts
    near: HashCounts
    codes: CoarseCodes
    coarse: HashCounts
    """Codes of some of the rows, whatever their hashes."""
    fine: bool
    """Whether equal rows are copies, by what columns hold (samples/equal_rows.py)."""
    complete: bool = True
    """Whether all rows that were learned from had the chance to be kept."""
    weighted: bool = False
    """Whether rows were learned from by their weights, as boosting by filtering does."""

    @classmethod
    def of(cls, table: Table) -> Sketch:
        hasher = RowHasher.of(table)
        share = min(1.0, MOST_KEPT / max(1, table.n_rows))
        every = np.arange(table.n_columns)
        some = np.linspace(0, table.n_columns - 1, COLUMNS_TO_CHOOSE_BY).astype(np.int64)
        columns = every[:0] if share == 1 else np.unique(some)
        chosen = selected(hasher, table, share, columns)
        if not MOST_KEPT // 16 <= chosen.size <= 2 * MOST_KEPT and share < 1:
            columns = every  # the few columns hardly distinguish rows
            chosen = selected(hasher, table, share, columns)
        looked_at = np.linspace(0, table.n_rows - 1, min(table.n_rows, MOST_CODES * 4 // 3))
        coarse, rest, fine = coarse_codes(table, hasher, looked_at.astype(np.intp))
        hashes = hasher.hashes(table, chosen), hasher.hashes(table, chosen, near=True)
        exact, near, alike = map(HashCounts.of, (*hashes, coarse.hashes(table, rest, hasher.salt)))
        return cls(hasher, share, columns, exact, near, coarse, alike, fine)

    @property
    def salt(self) -> int:
        return self.hasher.salt

    def overlap(self, table: Table) -> Overlap:
        """Compare rows with training rows in three ways; return one that is suspicious."""
        chosen = selected(self.hasher, table, self.share, self.columns)
        every = np.arange(table.n_rows if self.codes.columns.size else 0)
        found = [
            replace(kept.overlap(HashCounts.of(hashes)), weighted=self.weighted)
            for kept, hashes in (
                (self.exact, self.hasher.hashes(table, chosen)),
                (self.near, self.hasher.hashes(table, chosen, near=True)),
                (self.coarse, self.codes.hashes(table, every, self.salt)),
            )
        ]
        # Copies among other rows are no draws; codes that they share by chance look too even.
        found[2] = replace(found[2], chances=replace(found[2].chances, even=0.0))
        return next((own for own in found if own.suspicious), found[0])

    def known(self, table: Table) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the rows of a table that are selected, and which of them equal training rows."""
        chosen = selected(self.hasher, table, self.share, self.columns)
        hashes = (self.hasher.hashes(table, chosen) >> np.uint64(32)).astype(np.uint32)
        return chosen, np.isin(hashes, self.exact.hashes)

    def to_dict(self) -> dict[str, Any]:
        return {
            "salt": f"{self.salt:016x}",
            "share": self.share,
            "complete": self.complete,
            "weighted": self.weighted,
            "fine": self.fine,
            "columns": self.columns.astype(np.int64),
            "steps": (np.frexp(self.hasher.steps)[1] - 1).astype(np.int16),
            "exact": self.exact.hashes,
            "exact_counts": _counts_written(self.exact),
            "near": self.near.hashes,
            "near_counts": _counts_written(self.near),
            "code_columns": self.codes.columns,
            "cuts": self.codes.cuts.reshape(-1),
            "coarse": self.coarse.hashes,
            "coarse_counts": _counts_written(self.coarse),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Sketch:
        """Read what ``to_dict`` gave, and refuse what no fit could have written."""
        steps, columns = _array(content, "steps", np.int16), _array(content, "columns", np.int64)
        share = content["share"]
        fine, *flags = (content[name] for name in ("fine", "complete", "weighted"))
        if not isinstance(share, float) or not 0 < share <= 1:
            raise ValueError(f"share is {share!r:.40}; it must lie in (0, 1]")
        if not all(isinstance(flag, bool) for flag in (fine, *flags)):
            raise ValueError("fine, complete and weighted have to be true or false")
        coded, cuts = _array(content, "code_columns", np.int64), _array(content, "cuts", np.float32)
        for own in (columns, coded):
            if own.size and not 0 <= own.min() <= own.max() < steps.size:
                raise ValueError("columns lie beyond the columns there are")
        if cuts.size % max(1, coded.size) or not np.isfinite(cuts).all():
            raise ValueError("cuts are not as many finite numbers for each column")
        if steps.size and not -1000 <= steps.min() <= steps.max() <= 1000:
            raise ValueError("steps are out of range")
        hasher = RowHasher(int(content["salt"], 16) & (2**64 - 1), 2.0 ** steps.astype(np.float64))
        exact, near, coarse = (_kept(content, name) for name in ("exact", "near", "coarse"))
        codes = CoarseCodes(coded, cuts.reshape(coded.size, -1) if coded.size else cuts)
        return cls(hasher, share, columns, exact, near, codes, coarse, fine, *flags)


def coarse_codes(table: Table, hasher: RowHasher, rows: Rows) -> tuple[CoarseCodes, Rows, bool]:
    """Make codes by every fourth of some rows, and give the others; also whether rows are fine.

    The fourth has no part in comparisons, so that codes are fixed before other rows are drawn. Of a
    sparse table, the columns that store most are looked at.
    """
    if table.entries is not None:
        places = np.argsort(-np.diff(table.entries.starts), kind="stable")[:MOST_LOOKED_AT]
    else:
        count = min(MOST_LOOKED_AT, table.n_columns)
        places = np.linspace(0, table.n_columns - 1, count).astype(np.int64)
    chosen = table.take(rows)
    looked_at = {j: chosen.column(j) for j in np.unique(places).tolist()}
    most = sorted(looked_at, key=lambda j: -_values_of(looked_at[j]))
    exact = hasher.hashes(chosen)
    place = np.unique(exact, return_inverse=True)[1].astype(np.intp)
    fine = bool(most) and is_fine([looked_at[j] for j in most[:MOST_PAIRED]], place)
    if table.alike:
        return CoarseCodes.by(table.alike), rows, fine
    rest = np.delete(rows, np.s_[::4])
    plain = [j for j in most if j not in table.levels]
    coded = sorted(sorted(plain), key=lambda j: -_values_of(looked_at[j][::4]))[:MOST_CODED]
    values = {j: looked_at[j] for j in coded}
    enough = 1 - NOT_APART * rest.size / table.n_rows
    return CoarseCodes.of(values, exact, enough, hasher.salt), rest, fine


def _values_of(column: Values) -> int:
    """Count the distinct values of a column; missing ones are one."""
    known = column[~np.isnan(column)]
    return count_distinct(known) + (known.size < column.size)


def selected(
    hasher: RowHasher, table: Table, share: float, columns: NDArray[np.int64]
) -> NDArray[np.intp]:
    """Select a share of the rows by their content; without columns, all of them."""
    if columns.size == 0:
        return np.arange(table.n_rows)
    return hasher.near_below(table, columns, int(share * WHOLE))


def _kept(content: Mapping[str, Any], name: str) -> HashCounts:
    hashes = _array(content, name, np.uint32)
    counts = _array(content, f"{name}_counts", np.uint32).astype(np.int64)
    counts = counts if counts.size else np.ones(hashes.size, dtype=np.int64)
    ascending = bool((hashes[1:] > hashes[:-1]).all())
    if hashes.size != counts.size or not ascending or (counts < 1).any():
        raise ValueError(f"{name} does not hold distinct hashes with their counts")
    return HashCounts(hashes, counts)


def _counts_written(kept: HashCounts) -> NDArray[np.uint32]:
    """Return how many rows have each hash; nothing where all have one."""
    counts = np.minimum(kept.counts, 2**32 - 1).astype(np.uint32)
    return counts if (counts > 1).any() else counts[:0]


def _array(content: Mapping[str, Any], name: str, kind: type[np.number[Any]]) -> NDArray[Any]:
    found = content[name]
    if not isinstance(found, np.ndarray) or found.dtype != kind or found.ndim != 1:
        raise ValueError(f"{name} is not a list of {kind.__name__}")
    return found


# A sketch of rows that come in batches, as boosting by filtering learns from them.

MOST_COLUMNS = 64
"""Rows of wider tables are selected by so many of their columns."""


class Gathering:
    """Hashes of rows that were learned from; the share that is kept is halved as they get many."""

    def __init__(self) -> None:
        self._hasher: RowHasher | None = None
        self._codes, self._fine = CoarseCodes.by(()), False
        self._columns: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._share = 1.0
        self._parts: list[NDArray[np.uint64]] = []
        self._size = 0
        self.complete = True
        """Whether all rows that were learned from have been added."""

    def add(self, table: Table, rows: NDArray[np.uint64]) -> None:
        """Take note of rows; ``rows`` identifies each, so that none is counted twice."""
        if table.n_rows == 0:
            return
        if self._hasher is None:
            self._hasher = RowHasher.of(table)
            count = min(table.n_columns, MOST_COLUMNS)
            self._columns = np.unique(np.linspace(0, table.n_columns - 1, count).astype(np.int64))
            some = np.linspace(0, table.n_rows - 1, min(table.n_rows, MOST_KEPT)).astype(np.intp)
            self._codes, _, self._fine = coarse_codes(table, self._hasher, some)
        self.note([self.read(table, rows)])

    @property
    def started(self) -> bool:
        """Whether rows can be read: the first ones that are added say how all are hashed."""
        return self._hasher is not None

    def read(self, table: Table, rows: NDArray[np.uint64], *, compiled: bool = False) -> Hashes:
        """Hash rows that may be kept, for ``note``; this changes nothing."""
        hasher = self._hasher
        if hasher is None:
            raise ValueError("rows are hashed by what the first ones that are added look like")
        every = self._columns.size == table.n_columns
        columns = None if every else self._columns.tolist()
        first = hasher.hashes(table, None, columns, near=True, compiled=compiled)
        chosen = np.flatnonzero(first < self._limit)
        exact = hasher.hashes(table, chosen, compiled=compiled)
        near = (
            first[chosen] if every else hasher.hashes(table, chosen, near=True, compiled=compiled)
        )
        coarse = self._codes.hashes(table, chosen, hasher.salt)
        return np.stack([first[chosen], exact, near, rows[chosen], coarse])

    def empty(self) -> Gathering:
        """Return one that reads rows as this one does, and has taken note of none."""
        other = copy(self)
        other._parts, other._size = [], 0
        return other

    def note(self, read: Sequence[Hashes]) -> None:
        """Take note of rows that were read, perhaps when a larger share of them was kept."""
        for own in read:
            kept = own[:, own[0] < self._limit]
            self._parts.append(kept)
            self._size += kept.shape[1]
        while self._size > 2 * MOST_KEPT and self._distinct() > MOST_KEPT:
            self._share /= 2
            joined = self._joined()
            self._parts = [joined[:, joined[0] < self._limit]]
            self._size = int(self._parts[0].shape[1])

    def sketch(self) -> Sketch | None:
        """Return the sketch of all rows so far; None if there were none."""
        if self._hasher is None:
            return None
        self._distinct()
        _, exact, near, _, coarse = self._joined()
        exact, near, coarse = map(
            HashCounts.of, (exact, near, coarse[:: max(1, -(-coarse.size // MOST_CODES))])
        )
        return Sketch(
            self._hasher, self._share, self._columns, exact, near, self._codes, coarse, self._fine,
            self.complete, weighted=True,
        )  # fmt: skip

    @property
    def _limit(self) -> np.uint64:
        return np.uint64(self._share * WHOLE)

    def _joined(self) -> Hashes:
        return np.concatenate(self._parts, axis=1)

    def _distinct(self) -> int:
        """Drop rows that were learned from before, and count what is left."""
        joined = self._joined()
        _, first = np.unique(joined[3], return_index=True)
        self._parts, self._size = [joined[:, first]], int(first.size)
        return self._size
