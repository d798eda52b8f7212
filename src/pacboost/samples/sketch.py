"""A small salted sketch of the rows a model was trained on, to notice when they come back.

A certificate on rows that the model has seen is void. The sketch keeps hashes of about four
thousand rows, chosen by content, so that the same rows are chosen whenever they come. The hashes
tell nothing readable; whoever holds the sketch and a row can test whether the row was learned from.

New rows may repeat training rows honestly, when the domain is discrete. How often chance explains
that is computed exactly (samples/shared_rows.py). Codes of some rows that hardly change when rows
are rounded are kept as well (samples/coarse_codes.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.coarse_codes import CoarseCodes, look_at, looks_fine
from pacboost.samples.overlap import HashCounts, Overlap
from pacboost.samples.row_hashes import Hashes, RowHasher, Rows
from pacboost.sources.table import Table

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
        """Make a sketch of a table."""
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
        hashes = hasher.exact(table, chosen), hasher.near(table, chosen)
        exact, near, alike = map(HashCounts.of, (*hashes, coarse.hashes(table, rest, hasher.salt)))
        return cls(hasher, share, columns, exact, near, coarse, alike, fine)

    @property
    def salt(self) -> int:
        """The salt of all hashes."""
        return self.hasher.salt

    def overlap(self, table: Table) -> Overlap:
        """Compare other rows with the training rows in three ways; give one that is suspicious.

        Equal rows are looked for, nearly equal ones, and, by codes, those that were rounded.
        """
        chosen = selected(self.hasher, table, self.share, self.columns)
        every = np.arange(table.n_rows if self.codes.columns.size else 0)
        found = [
            replace(kept.overlap(HashCounts.of(hashes)), weighted=self.weighted)
            for kept, hashes in (
                (self.exact, self.hasher.exact(table, chosen)),
                (self.near, self.hasher.near(table, chosen)),
                (self.coarse, self.codes.hashes(table, every, self.salt)),
            )
        ]
        # Copies among other rows are no draws; codes that they share by chance look too even.
        found[2] = replace(found[2], chances=replace(found[2].chances, even=0.0))
        return next((own for own in found if own.suspicious), found[0])

    def known(self, table: Table) -> tuple[Rows, NDArray[np.bool_]]:
        """Give the rows of a table that are selected, and which of them equal training rows."""
        chosen = selected(self.hasher, table, self.share, self.columns)
        hashes = (self.hasher.exact(table, chosen) >> np.uint64(32)).astype(np.uint32)
        return chosen, np.isin(hashes, self.exact.hashes)

    def to_dict(self) -> dict[str, Any]:
        """Give plain values and arrays, as files hold them."""
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

    The fourth has no part in comparisons, so that codes are fixed before other rows are drawn.
    """
    looked_at = look_at(table, rows)
    fine = looks_fine(looked_at, hasher.exact(table, rows))
    if table.alike:
        return CoarseCodes.by(table.alike), rows, fine
    rest = np.delete(rows, np.s_[::4])
    quarter = {j: values[::4] for j, values in looked_at.items()}
    return CoarseCodes.of(table, quarter, hasher, rest), rest, fine


def row_hashes(table: Table, rows: Rows | None = None) -> Hashes:
    """Hash every row, or some; equal rows have equal hashes in any table."""
    return RowHasher(0, np.ones(table.n_columns)).exact(table, rows)


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
    """Give how many rows have each hash; nothing where all have one."""
    counts = np.minimum(kept.counts, 2**32 - 1).astype(np.uint32)
    return counts if (counts > 1).any() else counts[:0]


def _array(content: Mapping[str, Any], name: str, kind: type[np.number[Any]]) -> NDArray[Any]:
    found = content[name]
    if not isinstance(found, np.ndarray) or found.dtype != kind or found.ndim != 1:
        raise ValueError(f"{name} is not a list of {kind.__name__}")
    return found
