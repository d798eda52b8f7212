"""Rows of an oracle as codes and signs, and their scores under the vote so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.errors import DataError
from pacboost.hypotheses.ballot import Ballot
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.vote import Vote
from pacboost.numerics.exact import wrong_classes, wrong_margins
from pacboost.numerics.same_bits import exp, log_sum_exp, softplus, total
from pacboost.samples.bins import Bins
from pacboost.samples.coded_table import CodedTable
from pacboost.samples.sample import Sample, Signs, signs_of
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.given import GivenTable, joined
from pacboost.sources.oracles.oracle import Batch
from pacboost.sources.oracles.row_block import BadCell
from pacboost.sources.table import Table

Floats = NDArray[np.float64]
Arrays = Mapping[str, NDArray[Any]]
"""The arrays of a checkpoint.

Their types and shapes are checked, because kernels do not check indices, and because the rows that
certify must be those that the seed chose."""


def of_kind(state: Arrays, name: str, dtype: DTypeLike, *shape: int) -> NDArray[Any]:
    """Return an array after checking its type and shape; -1 stands for any length."""
    if name not in state:
        raise ValueError(f"it has no array {name!r}")
    array = state[name]
    same = len(shape) == array.ndim and all(
        expected in (-1, size) for expected, size in zip(shape, array.shape, strict=True)
    )
    if not same or array.dtype != np.dtype(dtype):
        raise ValueError(
            f"the array {name!r} is {array.dtype} of shape {array.shape}, and the run has "
            f"{np.dtype(dtype)} of shape {shape}"
        )
    return array


@dataclass(frozen=True, eq=False)
class CodedBatch:
    """Rows as codes (or raw, for black boxes), with their signs and identities."""

    table: Table
    signs: Signs
    labels: NDArray[np.int64] | None
    rows: NDArray[np.uint64]

    @property
    def n_rows(self) -> int:
        return self.rows.size

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Self:
        columns = (getattr(self, column.name) for column in fields(self))
        return type(self)(*(_take(column, chosen) for column in columns))

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        if len(parts) == 1:
            return parts[0]
        names = [column.name for column in fields(cls)]
        return cls(*(_stack([getattr(part, name) for part in parts]) for name in names))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        if not isinstance(self.table, CodedTable):
            raise TypeError("checkpoints hold no raw rows")
        arrays: dict[str, NDArray[Any]] = {
            "apart_codes": self.table.codes,
            "apart_signs": self.signs,
            "apart_rows": self.rows,
        }
        return arrays if self.labels is None else {**arrays, "apart_labels": self.labels}

    @classmethod
    def from_arrays(cls, arrays: Arrays, bins: Bins, classes: int) -> CodedBatch:
        """Read the result of ``to_arrays``, and refuse arrays that no run could have written."""
        outputs = classes if classes > 2 else 1
        rows = of_kind(arrays, "apart_rows", np.uint64, -1)
        codes = of_kind(arrays, "apart_codes", bins.dtype, len(bins.thresholds), rows.size)
        signs, labels = of_kind(arrays, "apart_signs", np.int8, rows.size, outputs), None
        if codes.size and int(codes.max()) > bins.missing:
            raise ValueError("rows set apart have a code outside the bins")
        if not (np.abs(signs) == 1).all():
            raise ValueError("rows set apart have signs other than -1 and +1")
        if (outputs > 1) != ("apart_labels" in arrays):
            raise ValueError("rows set apart have labels only if there are more than two classes")
        if outputs > 1:
            labels = of_kind(arrays, "apart_labels", np.int64, rows.size)
            if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < outputs:
                raise ValueError("rows set apart have a label that is not a class")
        return CodedBatch(CodedTable(codes, bins), signs, labels, rows)


def _take(column: Table | NDArray[Any] | None, chosen: NDArray[Any]) -> Any:
    if isinstance(column, GivenTable) and chosen.dtype == np.bool_:
        return column.take(np.flatnonzero(chosen))
    if isinstance(column, CodedTable | GivenTable):
        return column.take(chosen)
    if isinstance(column, Table):
        return ArrayTable(column.rows()[chosen], column.names)
    return None if column is None else column[chosen]


def _stack(columns: list[Any]) -> Any:
    if isinstance(columns[0], CodedTable):
        return CodedTable.join(columns)
    if isinstance(columns[0], Table):
        return joined(columns)
    return None if columns[0] is None else np.concatenate(columns)


@dataclass(frozen=True, eq=False)
class ScoredBatch(CodedBatch):
    """Rows with their margins and weights under the vote."""

    margins: Floats
    """y·F(x), (rows, outputs)."""
    chances: Floats
    """The weight of each row, in [0, 1]."""
    odds: Floats
    """The probability with which each row was accepted: weights are divided by it."""
    path: Floats | None
    """Log weights, for boosters that depend on the path."""

    @property
    def mass(self) -> float:
        """An estimate of the total weight of all candidates."""
        return total(self.chances / self.odds)

    @property
    def wrong(self) -> NDArray[np.bool_]:
        if self.margins.shape[1] == 1:
            return wrong_margins(self.margins[:, 0])
        return wrong_classes(self.margins * self.signs, self.signs.argmax(axis=1))

    @property
    def outcomes(self) -> tuple[Floats, Floats, Floats]:
        return self.chances, self.wrong.astype(np.float64), self.losses

    @property
    def losses(self) -> Floats:
        if self.margins.shape[1] == 1:
            return np.asarray(softplus(-2 * self.margins[:, 0]))
        scores = self.margins * self.signs
        return np.asarray((log_sum_exp(scores)[:, None] - scores)[self.signs > 0])


@dataclass(frozen=True, eq=False)
class RowEncoder:
    """Encodes rows: labels as numbers of classes, values as codes of bins."""

    classes: NDArray[Any]
    bins: Bins | None

    def _numbers(self, labels: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the class number of each label, and a mask of the unknown labels."""
        if _is_text(labels) != _is_text(self.classes):  # NumPy would compare 1 with "1"
            return np.zeros(labels.size, dtype=np.intp), np.ones(labels.size, dtype=np.bool_)
        numbers = np.searchsorted(self.classes, labels)
        numbers = np.minimum(numbers, self.classes.size - 1)
        return numbers, np.asarray(self.classes[numbers] != labels)

    def check(self, labels: NDArray[Any], place: str = "y") -> None:
        unknown = self._numbers(labels)[1]
        if unknown.any():
            raise self._unknown(place, labels[int(unknown.argmax())])

    def _unknown(self, place: str, label: object) -> DataError:
        value = label.item() if isinstance(label, np.generic) else label
        return DataError(
            f"{place}: has the label {value!r}, which is not among the classes "
            f"{self.classes.tolist()}. Name all of them (classes=...)."
        )

    def read(self, batch: Batch) -> CodedBatch:
        batch = batch.read()
        return self._with_signs(self.values(batch), batch.labels, batch)

    def values(self, batch: Batch) -> Table:
        """Return the values of rows that were read, without their labels."""
        table = batch.table
        if isinstance(table, GivenTable):
            return table
        if self.bins is None:
            return ArrayTable(np.ascontiguousarray(table.rows()), table.names)
        return CodedTable(self.bins.encode(table), self.bins, table.names, table.levels)

    def codes_in_place(self, batch: Batch) -> bool:
        """Check whether rows can be encoded without copying their values."""
        return (
            self.bins is not None and batch.block is not None and batch.block.in_place is not None
        )

    def read_in_place(self, batch: Batch) -> CodedBatch:
        """Encode rows without copying their values; ``read`` raises for unusable cells."""
        bins, block, picked = self.bins, batch.block, batch.picked
        assert bins is not None
        assert block is not None
        assert picked is not None
        values = block.in_place
        codes = None if values is None else bins.encode_rows(values, picked)
        if codes is None:
            return self.read(batch)
        try:
            labels = block.labels(picked)
        except BadCell:
            return self.read(batch)
        return self._with_signs(CodedTable(codes, bins, block.names), labels, batch)

    def _with_signs(self, table: Table, labels: NDArray[Any], batch: Batch) -> CodedBatch:
        numbers, unknown = self._numbers(labels)
        if unknown.any():
            at = int(unknown.argmax())
            raise self._unknown(batch.place(int(batch.rows[at])), labels[at])
        return CodedBatch(table, *signs_of(numbers, self.classes.size), batch.rows)


def _is_text(labels: NDArray[Any]) -> bool:
    kind = labels.dtype.kind
    return kind in "UTS" or (kind == "O" and labels.size > 0 and isinstance(labels[0], str))


@dataclass(eq=False)
class VoteSoFar:
    """The rules so far with their votes, which score every example that is drawn."""

    booster: FilteringBooster[Any]
    bins: Bins | None
    outputs: int
    cells: bool
    """Whether rules have values, so that all votes are 1."""
    rules: list[Hypothesis] = field(default_factory=list)
    votes: list[float] = field(default_factory=list)
    memories: list[list[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ballot = None if self.bins is None else Ballot(self.bins, self.outputs)
        past = list(zip(self.rules, self.votes, self.memories, strict=True))
        self.rules, self.votes, self.memories = [], [], []
        for rule, vote, memory in past:
            self.add(rule, vote, memory)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle rules and votes only: the scoring tables are larger, and quickly made again."""
        parts = (self.rules, self.votes, self.memories)
        return VoteSoFar, (self.booster, self.bins, self.outputs, self.cells, *parts)

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def by_codes(self) -> bool:
        """Whether all rules depend on the codes of a row alone."""
        return self._ballot is not None

    def add(self, rule: Hypothesis, vote: float, memory: Sequence[float]) -> None:
        if self._ballot is not None and not self._ballot.add(rule, vote):
            self._ballot = None
        self.rules.append(rule)
        self.votes.append(vote)
        self.memories.append(list(memory))

    def vote(self) -> Vote:
        return Vote(list(self.rules), np.array(self.votes), self.outputs)

    def score(self, rows: CodedBatch) -> ScoredBatch:
        table, signs, path = rows.table, rows.signs, None
        if self._ballot is not None and isinstance(table, CodedTable):
            scores = self._ballot.scores(table.codes)
        else:
            scores = self.vote().scores(table).reshape(table.n_rows, self.outputs)
        margins = scores * signs
        if self.booster.by_path:
            sample = Sample(table, signs, bins=self.bins)
            path = self.booster.path(sample, self.rules, self.memories, cells=self.cells)
            chances = exp(path).max(axis=1)
        else:
            chances = self.booster.chances(margins, len(self), signs).reshape(-1)
        return ScoredBatch(table, signs, rows.labels, rows.rows, margins, chances, chances, path)
