"""Turn rows of an oracle into codes and signs, and set those apart that the certificate needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.samples.bins import Bins
from pacboost.samples.blocks import CodedTable
from pacboost.samples.sample import Signs, signs_of
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.held import BadCell
from pacboost.sources.oracles.oracle import Drawn, Places, Unread
from pacboost.sources.table import Table


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Rows as codes (or raw, for black boxes), their signs, and which rows they are."""

    table: Table
    signs: Signs
    labels: NDArray[np.int64] | None
    rows: NDArray[np.uint64]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.rows.size

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> EncodedRows:
        """Copy some of them."""
        table = self.table
        if isinstance(table, CodedTable):
            part: Table = table.take(chosen)
        else:
            part = ArrayTable(table.rows()[chosen], table.names)
        labels = None if self.labels is None else self.labels[chosen]
        return EncodedRows(part, self.signs[chosen], labels, self.rows[chosen])

    @classmethod
    def join(cls, parts: Sequence[EncodedRows]) -> EncodedRows:
        """Put them one below the other."""
        tables = [part.table for part in parts]
        coded = [table for table in tables if isinstance(table, CodedTable)]
        if coded:
            table: Table = CodedTable.join(coded)
        else:
            table = ArrayTable(np.concatenate([t.rows() for t in tables]), tables[0].names)
        labels = [part.labels for part in parts if part.labels is not None]
        return cls(
            table,
            np.concatenate([part.signs for part in parts]),
            np.concatenate(labels) if labels else None,
            np.concatenate([part.rows for part in parts]),
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays, for a checkpoint; rows that are codes only."""
        if not isinstance(self.table, CodedTable):
            raise TypeError("raw rows are not kept in checkpoints")
        arrays: dict[str, NDArray[Any]] = {
            "apart_codes": self.table.codes,
            "apart_signs": self.signs,
            "apart_rows": self.rows,
        }
        return arrays if self.labels is None else {**arrays, "apart_labels": self.labels}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], bins: Bins | None) -> EncodedRows:
        """Read what ``to_arrays`` gave."""
        if bins is None:
            raise TypeError("codes mean nothing without bins")
        table = CodedTable(arrays["apart_codes"], bins)
        return cls(table, arrays["apart_signs"], arrays.get("apart_labels"), arrays["apart_rows"])


@dataclass(frozen=True, eq=False)
class RowEncoder:
    """How rows are read: by which classes, and into which bins."""

    oracle: Places
    classes: NDArray[Any]
    bins: Bins | None

    def _numbers(self, labels: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the number of each label's class, and which labels are of none."""
        if _is_text(labels) != _is_text(self.classes):  # NumPy would compare 1 with "1"
            return np.zeros(labels.size, dtype=np.intp), np.ones(labels.size, dtype=np.bool_)
        numbers = np.searchsorted(self.classes, labels)
        numbers = np.minimum(numbers, self.classes.size - 1)
        return numbers, np.asarray(self.classes[numbers] != labels)

    def check(self, labels: NDArray[Any], place: str = "y") -> None:
        """Raise if a label is of no class."""
        unknown = self._numbers(labels)[1]
        if unknown.any():
            raise self._stranger(place, labels[int(unknown.argmax())])

    def _stranger(self, place: str, label: Any) -> DataError:
        plain = label.item() if isinstance(label, np.generic) else label
        return DataError(
            f"{place}: has the label {plain!r}, which is not among the classes "
            f"{self.classes.tolist()}. Name all of them (classes=...)."
        )

    def read(self, drawn: Drawn) -> EncodedRows:
        """Code rows, and number their classes."""
        batch = drawn.read()
        if self.bins is None:
            table: Table = ArrayTable(np.ascontiguousarray(batch.table.rows()), batch.table.names)
        else:
            codes = self.bins.encode(batch.table)
            table = CodedTable(codes, self.bins, batch.table.names, batch.table.levels)
        return self._with_signs(table, batch.labels, batch.rows)

    def codes_in_place(self, drawn: Drawn) -> TypeGuard[Unread]:
        """Check whether rows can be coded where they lie."""
        if self.bins is None or not isinstance(drawn, Unread):
            return False
        return drawn.held.in_place is not None

    def read_in_place(self, drawn: Unread) -> EncodedRows:
        """Code rows without a copy of their values, where ``codes_in_place`` says so.

        Rows that cannot be used are read, which names the cell.
        """
        values, bins = drawn.held.in_place, self.bins
        codes = None if values is None or bins is None else bins.encode_rows(values, drawn.picked)
        if codes is None or bins is None:
            return self.read(drawn)
        try:
            labels = drawn.held.labels(drawn.picked)
        except BadCell:
            return self.read(drawn)
        return self._with_signs(CodedTable(codes, bins, drawn.held.names), labels, drawn.rows)

    def _with_signs(
        self, table: Table, labels: NDArray[Any], rows: NDArray[np.uint64]
    ) -> EncodedRows:
        """Number the classes of rows; raise if one is of none."""
        numbers, unknown = self._numbers(labels)
        if unknown.any():
            at = int(unknown.argmax())
            raise self._stranger(self.oracle.place(int(rows[at])), labels[at])
        return EncodedRows(table, *signs_of(numbers, self.classes.size), rows)


def _is_text(labels: NDArray[Any]) -> bool:
    kind = labels.dtype.kind
    return kind in "UTS" or (kind == "O" and labels.size > 0 and isinstance(labels[0], str))
